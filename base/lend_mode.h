// Lending a mode: an owner who is not root may always change the mode of what is his. Where the
// mode forbids what must be done all the same, it is lent for the moment and given back. (Source:
// what rm and rsync ask their users to do by hand.) A kill in that moment leaves the lent mode.
//
// Thread-safe: at most one thread of the process lends at a time, and whoever reads or sets modes
// meanwhile waits for it (ModesAtRest), so no lent mode is ever taken for the object's own, and
// none that was set is lost when another is given back.
#pragma once

#include <sys/types.h>

#include <cerrno>
#include <functional>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace unwrite::sys {

/// While it lives, no other thread has a mode lent. Held for single calls: lend_mode() waits for
/// all of these, and a thread that holds one must not call it.
class ModesAtRest {
 public:
    ModesAtRest();
    ModesAtRest(const ModesAtRest&) = delete;
    ModesAtRest& operator=(const ModesAtRest&) = delete;
    ~ModesAtRest();

 private:
    bool held_ = false;
};

/// Runs `action` while the owner may do all with the file or directory behind `fd` (O_PATH will
/// do), and answers as it does. EACCES, and nothing is run, when it is neither, or not ours.
/// `action` may lend again.
Result<> lend_mode(int fd, const std::function<Result<>()>& action);

/// Runs `action`, which gives a Result, and once more with the mode lent when it fails with EACCES.
template <class Action>
auto lend_access(int fd, const Action& action) -> decltype(action()) {
    auto done = action();
    if (done || done.error().number() != EACCES) return done;
    const auto lent = lend_mode(fd, [&]() -> Result<> {
        done = action();
        return {};
    });
    if (!lent && lent.error().number() != EACCES) return lent.error();
    return done;
}

/// Opens the directory behind `directory` (O_PATH will do) for listing, with its mode lent where it
/// forbids that.
Result<UniqueFd> open_listing(int directory);
/// For our own eyes: what is behind `fd` (O_PATH will do) opened anew, with its mode lent likewise.
/// To read from it moves no access time where the system allows that: it is ours, or we are root.
Result<UniqueFd> open_unseen(int fd, int flags);
/// The same of a directory at a name, for listing; a symbolic link is not followed.
Result<UniqueFd> open_listing_unseen(int directory, const std::string& name);

}  // namespace unwrite::sys
