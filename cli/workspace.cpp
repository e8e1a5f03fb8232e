#include "cli/workspace.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>

#include "base/syscalls.h"
#include "cli/annex.h"
#include "cli/text.h"
#include "cli/waiting_line.h"

namespace unwrite::cli {

namespace {

std::string parent_of(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    return slash == 0 || slash == std::string::npos ? "/" : path.substr(0, slash);
}

Error none(const std::string& directory) {
    return Error(ErrorKind::kNoWorkspace, ENOENT,
                 "there is no workspace at or above " + quote_name(directory),
                 "`unwrite mount DIR` makes DIR a workspace");
}

/// An empty directory of this name, or one with a configuration that came with a clone, is none.
bool is_state(const std::string& path) {
    const Result<struct stat> st = sys::stat_at(AT_FDCWD, path);
    return st && S_ISDIR(st->st_mode) &&
           (sys::stat_at(AT_FDCWD, path + "/VERSION").ok() ||
            sys::stat_at(AT_FDCWD, path + "/journal.db").ok());
}

/// A workspace that is mounted somewhere else is held by a daemon: which one?
std::optional<control::MountPoint> mount_of_raw(const std::string& root) {
    const Result<struct stat> st = sys::stat_at(AT_FDCWD, root);
    const Result<std::vector<control::MountPoint>> mounts = control::unwrite_mounts();
    if (!st || !mounts) return std::nullopt;
    for (const control::MountPoint& mount : *mounts) {
        const Result<std::unique_ptr<control::Remote>> remote = control::Remote::connect(mount);
        if (remote && (*remote)->info().device == st->st_dev &&
            (*remote)->info().inode == st->st_ino)
            return mount;
    }
    return std::nullopt;
}

}  // namespace

std::string state_above(const std::string& directory) {
    for (std::string at = directory;; at = parent_of(at)) {
        if (is_state((at == "/" ? "" : at) + "/.unwrite")) return at;
        if (at == "/") return {};
    }
}

overlay::Operations& Workspace::operations() {
    if (remote_) return *remote_;
    return session_->operations();
}

overlay::Oversight& Workspace::oversight() {
    if (remote_) return *remote_;
    return session_->oversight();
}

namespace {

Error unreachable(const control::MountPoint& mount) {
    const std::string path = quote_name(mount.path);
    const Result<UniqueFd> fd = sys::open_at(AT_FDCWD, mount.path, O_PATH);
    if (fd && sys::statvfs_fd(fd->get())) {
        return {ErrorKind::kNoWorkspace, ENOTCONN,
                "cannot reach the mount " + path +
                    ": its daemon is running, but its socket is not found",
                "set XDG_RUNTIME_DIR to what it was when " + path +
                    " was mounted; for `unwrite mcp` in the configuration of the agent's client"};
    }
    return {ErrorKind::kNoWorkspace, ENOTCONN, "the mount " + path + " is dead: its daemon is gone",
            "`unwrite mount " + path +
                "` removes the dead mount and mounts again, `unwrite recover` "
                "works without a mount"};
}

/// Where the workspace of a directory is: at a mount, or beside its state directory.
struct Place {
    std::optional<control::MountPoint> mount{};
    std::string state{};
};

Result<Place> find_place(const std::string& directory) {
    TRY_ASSIGN(const std::vector<control::MountPoint> mounts, control::unwrite_mounts());
    Place place{control::mount_above(mounts, directory), state_above(directory)};
    // What lies below a mount is recorded there; a state directory in it may be an agent's.
    if (place.mount && place.state == place.mount->path) place.mount.reset();
    if (!place.mount && place.state.empty()) return none(directory);
    return place;
}

}  // namespace

Result<Workspace> Workspace::of_mount(const control::MountPoint& mount) {
    Result<std::unique_ptr<control::Remote>> remote =
        control::Remote::connect(mount, waiting_line(mount));
    if (!remote && remote.error().kind() == ErrorKind::kNoWorkspace) return unreachable(mount);
    if (!remote) return remote.error();
    Workspace workspace;
    workspace.root_ = mount.path;
    workspace.mount_ = mount;
    workspace.remote_ = *std::move(remote);
    workspace.raw_ = workspace.remote_->info().workspace;
    workspace.retention_ = workspace.remote_->info().retention;
    return workspace;
}

Result<Workspace> Workspace::open_unmounted(const std::string& root) {
    TRY_ASSIGN(UniqueFd fd, sys::open_at(AT_FDCWD, root, O_RDONLY | O_DIRECTORY));
    TRY_ASSIGN(const Config config, load_config(fd.get()));
    // Opening may finish what was interrupted.
    auto working = std::make_unique<WorkingLine>();
    overlay::SessionOptions options = config.session_options(false);
    add_annex(options, root);
    Result<std::unique_ptr<overlay::Session>> session =
        overlay::Session::open(std::move(fd), options);
    if (!session) {
        const std::optional<control::MountPoint> mount = mount_of_raw(root);
        if (mount) return of_mount(*mount);
        return session.error();
    }
    Workspace workspace;
    workspace.root_ = workspace.raw_ = root;
    workspace.working_ = std::move(working);
    workspace.session_ = *std::move(session);
    workspace.retention_ = config.retention;
    return workspace;
}

Result<Workspace> Workspace::open(const std::string& directory) {
    TRY_ASSIGN(const Place place, find_place(directory));
    return place.mount ? of_mount(*place.mount) : open_unmounted(place.state);
}

Result<overlay::Counted> Workspace::count(const std::string& directory) {
    TRY_ASSIGN(const Place place, find_place(directory));
    if (!place.mount) {
        TRY_ASSIGN(Workspace workspace, open_unmounted(place.state));
        return workspace.operations().count();
    }
    auto counted = control::Remote::count(*place.mount, waiting_line(*place.mount));
    if (!counted && counted.error().kind() == ErrorKind::kNoWorkspace)
        return unreachable(*place.mount);
    return counted;
}

Result<Workspace> Workspace::open_mounted(const std::string& directory) {
    TRY_ASSIGN(const std::vector<control::MountPoint> mounts, control::unwrite_mounts());
    if (const std::optional<control::MountPoint> mount = control::mount_above(mounts, directory)) {
        return of_mount(*mount);
    }
    const std::string state = state_above(directory);
    if (state.empty()) return none(directory);
    if (const std::optional<control::MountPoint> mount = mount_of_raw(state))
        return of_mount(*mount);
    return Error(ErrorKind::kNoWorkspace, ENOTCONN,
                 "the workspace " + quote_name(state) + " is not mounted",
                 "`unwrite mount " + quote_name(state) + "` mounts it");
}

Result<> Workspace::note_answered() {
    return remote_ ? remote_->note_answered() : session_->answered();
}

void Workspace::show_waiting(bool shown) {
    if (remote_) remote_->be_patient(shown ? waiting_line(*mount_) : control::Patience());
    if (working_) working_->show(shown);
}

Result<std::string> Workspace::inside(const std::string& base, const std::string& path) const {
    const std::string plain = absolute_path(base, path);
    // The directories on the way may be symlinks; what the path names may be one itself, or be
    // gone.
    const std::string real = real_path("/", parent_of(plain)).value_or(parent_of(plain));
    const std::string resolved = (real == "/" ? "" : real) + plain.substr(plain.rfind('/'));
    for (const std::string& candidate : {resolved, plain}) {
        for (const std::string& root : {root_, raw_}) {
            if (candidate == root) return std::string();
            if (control::is_within(candidate, root)) {
                return candidate.substr(root == "/" ? 1 : root.size() + 1);
            }
        }
    }
    return Error(ErrorKind::kUsage, EINVAL,
                 quote_name(path) + " is not in the workspace " + quote_name(root_));
}

}  // namespace unwrite::cli
