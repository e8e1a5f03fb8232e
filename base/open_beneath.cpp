#include "base/open_beneath.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace unwrite::sys {

Result<UniqueFd> open_beneath(int root, const std::string& path, int flags, std::uint64_t resolve) {
    open_how how{};
    how.flags = static_cast<__u64>(flags | O_CLOEXEC);
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | resolve;
    const std::string place = path.empty() ? "." : path;
    for (;;) {
        const auto fd = ::syscall(SYS_openat2, root, place.c_str(), &how, sizeof how);
        if (fd >= 0) return UniqueFd(static_cast<int>(fd));
        // EAGAIN: something was renamed while ".." of a link was followed.
        if (errno != EINTR && errno != EAGAIN) return Error(errno);
    }
}

}  // namespace unwrite::sys
