#include "fs/announce.h"

#include "base/open_beneath.h"
#include "base/syscalls.h"
#include "fs/tuning.h"

namespace unwrite::fs {

namespace {

constexpr const char* kHarmless = "the event is lost, nothing else";

/// The workspace is full of other people's symbolic links.
Result<UniqueFd> open_here(int root, const std::string& path, int flags) {
    return sys::open_beneath(root, path, flags | O_NOFOLLOW, RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV);
}

/// The call that the kernel believes to make the object; its kind must be the object's own.
Result<> pretend_to_create(int parent, const std::string& name, mode_t type) {
    if (S_ISDIR(type)) return sys::make_directory(parent, name, S_IRWXU);
    if (S_ISLNK(type)) return sys::make_symlink(parent, name, "-");
    return sys::make_node(parent, name, (type & S_IFMT) | S_IRUSR, 0);
}

class Announcer {
 public:
    Announcer(Nudges& nudges, UniqueFd root) : nudges_(nudges), root_(std::move(root)) {}

    void name(const overlay::Restored::NameChange& change) {
        if (change.parent == 0) return;  // a directory that is watched is known to the kernel
        const auto parent = open_here(root_.get(), change.parent_path, O_PATH | O_DIRECTORY);
        if (!parent) return;
        if (change.existed) disappear(parent->get(), change);
        if (change.exists) appear(parent->get(), change);
    }

    void path(const std::string& path) {
        const auto found = open_here(root_.get(), path, O_PATH);
        if (!found) return;
        const auto status = sys::stat_fd(found->get());
        if (!status || S_ISLNK(status->st_mode)) return;
        if (S_ISREG(status->st_mode)) content(found->get(), status->st_size);
        ignore(sys::change_mode(found->get(), status->st_mode & 07777U), kHarmless);
    }

 private:
    void disappear(int parent, const overlay::Restored::NameChange& change) {
        nudges_.begin({change.parent, change.name, false, change.directory});
        ignore(change.directory ? sys::remove_directory(parent, change.name)
                                : sys::unlink(parent, change.name),
               kHarmless);
        nudges_.end();
    }

    void appear(int parent, const overlay::Restored::NameChange& change) {
        const auto found = sys::stat_at(parent, change.name);
        if (!found) return;  // gone again, and that was seen
        nudges_.begin({change.parent, change.name, true, S_ISDIR(found->st_mode)});
        ignore(pretend_to_create(parent, change.name, found->st_mode), kHarmless);
        nudges_.end();
    }

    static void content(int fd, off_t size) {
        const auto opened = sys::reopen(fd, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
        if (!opened) return;
        ignore(sys::truncate(opened->get(), static_cast<std::uint64_t>(size)), kHarmless);
    }

    Nudges& nudges_;
    UniqueFd root_;
};

}  // namespace

void announce_restored(Server& server, const MountPlace& place, const overlay::Restored& restored) {
    auto root = place.open();
    if (!root) return;
    Announcer announcer(server.nudges, std::move(*root));
    std::size_t left = tuning::kMostAnnouncements;
    for (const auto& change : restored.changed_names) {
        if (left-- == 0 || fuse_session_exited(server.session) != 0) break;
        announcer.name(change);
    }
    left = tuning::kMostAnnouncements;
    for (const std::string& path : restored.changed_paths) {
        if (left-- == 0 || fuse_session_exited(server.session) != 0) break;
        announcer.path(path);
    }
}

}  // namespace unwrite::fs
