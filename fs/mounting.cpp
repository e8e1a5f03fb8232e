#include "fs/mounting.h"

#include <sys/mount.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <mutex>

#include "base/log.h"
#include "base/syscalls.h"
#include "base/write_hold.h"
#include "fs/fusermount.h"
#include "fs/tuning.h"

namespace unwrite::fs {

namespace {

constexpr const char* kDevice = "/dev/fuse";

std::string& last_message() {
    thread_local std::string message;
    return message;
}

__attribute__((format(printf, 2, 0))) void take_message(fuse_log_level level, const char* format,
                                                        std::va_list arguments) {
    char line[512];
    std::vsnprintf(line, sizeof line, format, arguments);
    std::string message = line;
    while (!message.empty() && message.back() == '\n')
        message.pop_back();
    log::write(level <= FUSE_LOG_ERR ? log::Level::kWarning : log::Level::kDebug, message);
    last_message() = std::move(message);
}

Error refused(int number, const std::string& mountpoint, const std::string& why,
              std::string advice) {
    return Error(ErrorKind::kSystem, number, "mount " + mountpoint + ": " + why, std::move(advice));
}

/// What can be known before trying, so that the message says what to do.
Result<> check_device(const std::string& mountpoint) {
    const auto device = sys::open_at(AT_FDCWD, kDevice, O_RDWR | O_CLOEXEC);
    if (device) return {};
    const int number = device.error().number();
    if (number == ENOENT || number == ENODEV || number == ENXIO) {
        return refused(number, mountpoint, "there is no /dev/fuse",
                       "load the kernel module (modprobe fuse), or start the container with "
                       "--device /dev/fuse --cap-add SYS_ADMIN");
    }
    return refused(number, mountpoint, "may not open /dev/fuse: " + device.error().message(),
                   "run as root, or let users open it: chmod 666 /dev/fuse");
}

Result<> check_helper(const std::string& mountpoint) {
    if (::geteuid() == 0 || !find_fusermount().empty()) return {};
    return refused(ENOENT, mountpoint, "fusermount3 is not installed, and only root needs none",
                   "install the package fuse3");
}

/// The options as libfuse parses them; a comma in a value is escaped.
std::string mount_options(const MountOptions& options) {
    std::string list = "subtype=unwrite,nosuid,nodev,default_permissions";
    if (options.allow_other) list += ",allow_other";
    list += ",fsname=";
    for (const char c : options.source_name) {
        if (c == ',' || c == '\\') list += '\\';
        list += c;
    }
    return list;
}

Result<SessionPointer> new_session(Server& server, const MountOptions& options) {
    fuse_args arguments = FUSE_ARGS_INIT(0, nullptr);
    const std::string list = mount_options(options);
    SessionPointer session;
    if (fuse_opt_add_arg(&arguments, "unwrite") == 0 && fuse_opt_add_arg(&arguments, "-o") == 0 &&
        fuse_opt_add_arg(&arguments, list.c_str()) == 0) {
        session.reset(fuse_session_new(&arguments, &operations(), sizeof operations(), &server));
    }
    fuse_opt_free_args(&arguments);
    if (!session) {
        return Error(ErrorKind::kSystem, ENOMEM, "start a FUSE session: " + last_message());
    }
    return session;
}

Error mount_failure(const std::string& mountpoint) {
    const std::string why = last_message().empty() ? "the kernel refused it" : last_message();
    return refused(
        EPERM, mountpoint, why,
        ::geteuid() == 0
            ? "in a container, start it with --device /dev/fuse --cap-add SYS_ADMIN; root of "
              "a user namespace needs a mount namespace of its own (unshare --mount)"
            : "see what fusermount3 said above; allow_other needs user_allow_other in "
              "/etc/fuse.conf");
}

Result<struct statx> cached_status(int dir, const char* path) {
    struct statx status = {};
    constexpr int kFlags = AT_EMPTY_PATH | AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC;
    if (::statx(dir, path, kFlags, STATX_INO, &status) != 0) return sys::last_error();
    return status;
}

}  // namespace

Result<std::string> resolve_mountpoint(const std::string& path) {
    char* resolved = ::realpath(path.c_str(), nullptr);
    if (resolved == nullptr) {
        const Error why = sys::last_error();
        std::string advice;
        if (why.number() == ENOTCONN)
            advice = "the daemon that served it is gone; unmount it first";
        return refused(why.number(), path, why.message(), advice);
    }
    std::string result = resolved;
    std::free(resolved);
    return result;
}

Result<SessionPointer> open_session(Server& server, const MountOptions& options,
                                    const std::string& mountpoint) {
    static std::once_flag once;
    std::call_once(once, [] { fuse_set_log_func(take_message); });
    TRY(check_device(mountpoint));
    TRY(check_helper(mountpoint));
    TRY_ASSIGN(SessionPointer session, new_session(server, options));
    last_message().clear();
    if (fuse_session_mount(session.get(), mountpoint.c_str()) != 0) {
        return mount_failure(mountpoint);
    }
    server.session = session.get();
    return session;
}

Result<MountPlace> MountPlace::at(std::string path) {
    TRY_ASSIGN(const struct statx status, cached_status(AT_FDCWD, path.c_str()));
    MountPlace place;
    place.path_ = std::move(path);
    place.device_ = makedev(status.stx_dev_major, status.stx_dev_minor);
    return place;
}

bool MountPlace::is_there() const {
    const auto status = cached_status(AT_FDCWD, path_.c_str());
    return status && makedev(status->stx_dev_major, status->stx_dev_minor) == device_;
}

Result<UniqueFd> MountPlace::open() const {
    constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    TRY_ASSIGN(UniqueFd root, sys::open_at(AT_FDCWD, path_, kFlags));
    TRY_ASSIGN(const struct statx status, cached_status(root.get(), ""));
    if (makedev(status.stx_dev_major, status.stx_dev_minor) != device_) return Error(ESTALE);
    return root;
}

Result<> MountPlace::unmount(bool lazily) const {
    if (!is_there()) return Error(ErrorKind::kNothing, ESTALE, "it is not at its place any more");
    return unmount_path(path_, lazily, false);
}

Result<> unmount_path(const std::string& path, bool lazily, bool force) {
    const int flags = UMOUNT_NOFOLLOW | (lazily ? MNT_DETACH : 0);
    // Force gives up the connection first, so that nothing that waits for a dead daemon goes on
    // waiting.
    if (force && ::umount2(path.c_str(), flags | MNT_FORCE) == 0) return {};
    if (::umount2(path.c_str(), flags) == 0) return {};
    const Error why = sys::last_error();
    if (why.number() != EPERM) return why;
    return fusermount_unmount(path, lazily);
}

Result<> can_pass_through(int directory) {
    if (::geteuid() != 0) {
        return Error(ErrorKind::kSystem, EPERM, "it is for root only",
                     "mount as root, or without --data-path");
    }
    struct utsname name = {};
    ::uname(&name);
    unsigned major = 0;
    unsigned minor = 0;
    const bool parsed = std::sscanf(name.release, "%u.%u", &major, &minor) == 2;
    if (!has_passthrough() || !parsed || std::pair(major, minor) < std::pair(6U, 14U)) {
        return Error(ErrorKind::kSystem, ENOTSUP, "it needs Linux 6.14 and libfuse 3.17",
                     "mount without --data-path");
    }
    const auto held = sys::WriteHold::start(directory);
    if (!held) {
        return Error(ErrorKind::kSystem, held.error().number(),
                     "this filesystem cannot pause writers (fanotify pre-content events): " +
                         held.error().message(),
                     "mount without --data-path, or a directory on a disk");
    }
    return {};
}

bool is_fuse_available() {
    return check_device("").ok();
}

}  // namespace unwrite::fs
