#include "base/writers.h"

#include <fcntl.h>

#include <cerrno>
#include <csignal>

#include "base/syscalls.h"

namespace unwrite::sys {

Result<bool> is_open_for_writing(int fd) {
#ifdef F_SETLEASE
    TRY_ASSIGN(const UniqueFd file, reopen(fd, O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    // Who opens it for writing now makes the kernel send a signal. Of the default one this process
    // would die; this one is ignored by default.
    if (::fcntl(file.get(), F_SETSIG, SIGURG) != 0) return last_error();
    if (::fcntl(file.get(), F_SETLEASE, F_RDLCK) == 0) {
        if (::fcntl(file.get(), F_SETLEASE, F_UNLCK) != 0) return last_error();
        return false;
    }
    if (errno == EAGAIN) return true;
    return last_error();
#else
    (void)fd;
    return Error(ENOTSUP);
#endif
}

}  // namespace unwrite::sys
