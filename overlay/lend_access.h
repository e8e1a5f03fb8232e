// For a daemon that is not root: what the mode of an own object forbids even its owner, such as
// changing names in a directory or reading user xattrs. The owner may always change the mode, so
// it is lent for the moment and given back. (Source: what rm and rsync ask their users to do by
// hand.)
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/syscalls.h"

namespace unwrite::overlay {

/// Runs `action`, which gives a Result; when it fails with EACCES and the object is an own file or
/// directory, once more with all the owner needs lent to its mode. `fd` may be of O_PATH.
template <class Action>
auto lend_access(int fd, const Action& action) -> decltype(action()) {
    auto done = action();
    if (done || done.error().number() != EACCES) return done;
    const auto st = sys::stat_fd(fd);
    if (!st || st->st_uid != ::geteuid() || (!S_ISREG(st->st_mode) && !S_ISDIR(st->st_mode)))
        return done;
    const mode_t mode = st->st_mode & 07777U;
    const mode_t lent = mode | (S_ISDIR(st->st_mode) ? 0700U : 0600U);
    if (lent == mode) return done;
    TRY(sys::change_mode(fd, lent));
    done = action();
    TRY(sys::change_mode(fd, mode));
    return done;
}

}  // namespace unwrite::overlay
