// Mode, owner, times and extended attributes, through descriptors that may be O_PATH.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/retry.h"
#include "base/syscalls.h"

namespace unwrite::sys {

namespace {

#ifdef SYS_fchmodat2
constexpr long kFchmodat2 = SYS_fchmodat2;
#else
constexpr long kFchmodat2 = 452;  // the same on every architecture; Linux 6.6
#endif

Result<bool> is_symlink(int fd) {
    TRY_ASSIGN(const struct stat st, stat_fd(fd));
    return S_ISLNK(st.st_mode);
}

// The calls that take a descriptor refuse O_PATH with EBADF. The name in /proc is a jump to the
// object itself, which is not followed further when it is a symlink.
template <class ByFd, class ByPath>
auto by_fd_or_path(int fd, ByFd&& by_fd, ByPath&& by_path) {
    const auto value = retry(by_fd);
    if (value >= 0 || errno != EBADF) return value;
    const std::string path = fd_path(fd);
    return retry([&] { return by_path(path.c_str()); });
}

// Calls `get(buffer, size)`, which answers the size it needs, until the answer fits.
template <class Get>
Result<std::string> read_growing(Get&& get) {
    std::string value(512, '\0');
    for (;;) {
        ssize_t size = get(value.data(), value.size());
        if (size >= 0) {
            value.resize(static_cast<std::size_t>(size));
            return value;
        }
        if (errno != ERANGE) return Error(errno);
        size = get(nullptr, 0);
        if (size < 0) return Error(errno);
        value.resize(static_cast<std::size_t>(size) + 64);  // it may grow between the two calls
    }
}

}  // namespace

Result<> change_mode(int fd, mode_t mode) {
    const auto direct = retry_done(
        [&] { return ::syscall(kFchmodat2, fd, "", mode, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW); });
    // EPERM: container filters answer so for calls they do not know.
    if (direct || (direct.error().number() != ENOSYS && direct.error().number() != EPERM)) {
        return direct;
    }
    TRY_ASSIGN(const bool symlink, is_symlink(fd));
    if (symlink) return Error(EOPNOTSUPP);
    const std::string path = fd_path(fd);
    return retry_done([&] { return ::chmod(path.c_str(), mode); });
}

Result<> change_owner(int fd, uid_t uid, gid_t gid) {
    return retry_done(
        [&] { return ::fchownat(fd, "", uid, gid, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW); });
}

Result<> set_times(int fd, const struct timespec times[2]) {
    const auto direct = retry_done([&] { return ::utimensat(fd, "", times, AT_EMPTY_PATH); });
    if (direct || direct.error().number() != EINVAL) return direct;
    // Before Linux 5.8 the flag was not known.
    TRY_ASSIGN(const bool symlink, is_symlink(fd));
    if (symlink) return Error(EOPNOTSUPP);
    const std::string path = fd_path(fd);
    return retry_done([&] { return ::utimensat(AT_FDCWD, path.c_str(), times, 0); });
}

Result<std::vector<std::string>> list_xattrs(int fd) {
    const auto text = read_growing([&](char* out, std::size_t size) {
        return by_fd_or_path(
            fd, [&] { return ::flistxattr(fd, out, size); },
            [&](const char* path) { return ::listxattr(path, out, size); });
    });
    std::vector<std::string> names;
    if (!text) {
        if (text.error().number() == ENOTSUP) return names;
        return text.error();
    }
    for (std::size_t at = 0; at < text->size();) {
        const std::size_t end = std::min(text->find('\0', at), text->size());
        if (end > at) names.push_back(text->substr(at, end - at));
        at = end + 1;
    }
    return names;
}

Result<std::string> get_xattr(int fd, const std::string& name) {
    return read_growing([&](char* out, std::size_t size) {
        return by_fd_or_path(
            fd, [&] { return ::fgetxattr(fd, name.c_str(), out, size); },
            [&](const char* path) { return ::getxattr(path, name.c_str(), out, size); });
    });
}

Result<> set_xattr(int fd, const std::string& name, std::string_view value, int flags) {
    const int done = by_fd_or_path(
        fd, [&] { return ::fsetxattr(fd, name.c_str(), value.data(), value.size(), flags); },
        [&](const char* path) {
            return ::setxattr(path, name.c_str(), value.data(), value.size(), flags);
        });
    if (done != 0) return Error(errno);
    return {};
}

Result<> remove_xattr(int fd, const std::string& name) {
    const int done = by_fd_or_path(
        fd, [&] { return ::fremovexattr(fd, name.c_str()); },
        [&](const char* path) { return ::removexattr(path, name.c_str()); });
    if (done != 0) return Error(errno);
    return {};
}

Result<Xattrs> read_xattrs(int fd) {
    TRY_ASSIGN(std::vector<std::string> names, list_xattrs(fd));
    Xattrs xattrs;
    if (names.empty()) return xattrs;
    std::sort(names.begin(), names.end());
    for (std::string& name : names) {
        auto value = get_xattr(fd, name);
        if (!value) {
            if (value.error().number() == ENODATA) continue;  // removed since it was listed
            return std::move(value).error();
        }
        xattrs.emplace_back(std::move(name), *std::move(value));
    }
    return xattrs;
}

}  // namespace unwrite::sys
