// For a daemon that is not root: changing names in an own directory whose mode forbids it, as a
// restore must. The owner may always change the mode, so it is lent for the moment and given back.
// (Source: what rm and rsync ask their users to do by hand.)
#pragma once

#include <unistd.h>

#include <cerrno>

#include "base/syscalls.h"

namespace unwrite::overlay {

/// Runs `action`; when it fails with EACCES and the directory is ours, once more with u+wx lent to
/// it.
template <class Action>
Result<> lend_directory(int directory, const Action& action) {
    Result<> done = action();
    if (done || done.error().number() != EACCES) return done;
    const auto st = sys::stat_fd(directory);
    if (!st || st->st_uid != ::geteuid() || (st->st_mode & 0700U) == 0700U) return done;
    TRY(sys::change_mode(directory, (st->st_mode & 07777U) | 0700U));
    done = action();
    TRY(sys::change_mode(directory, st->st_mode & 07777U));
    return done;
}

}  // namespace unwrite::overlay
