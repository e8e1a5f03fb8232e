#include "base/open_beneath.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace unwrite::sys {

namespace {

Result<UniqueFd> open_how_said(int root, const std::string& place, int flags,
                               std::uint64_t resolve) {
    open_how how{};
    how.flags = static_cast<__u64>(flags | O_CLOEXEC);
    how.resolve = resolve;
    for (;;) {
        const auto fd = ::syscall(SYS_openat2, root, place.c_str(), &how, sizeof how);
        if (fd >= 0) return UniqueFd(static_cast<int>(fd));
        // EAGAIN: something was renamed while ".." of a link was followed.
        if (errno != EINTR && errno != EAGAIN) return Error(errno);
    }
}

}  // namespace

Result<UniqueFd> open_beneath(int root, const std::string& path, int flags, std::uint64_t resolve) {
    return open_how_said(root, path.empty() ? "." : path, flags,
                         RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | resolve);
}

Result<UniqueFd> open_without_links(const std::string& path, int flags) {
    return open_how_said(AT_FDCWD, path, flags, RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);
}

Result<UniqueFd> open_following(const std::string& path, int flags) {
    return open_how_said(AT_FDCWD, path, flags, 0);
}

}  // namespace unwrite::sys
