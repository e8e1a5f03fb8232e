// What an earlier undo did here that the remote has not got yet.
#pragma once

#include <string>
#include <vector>

#include "git/commits.h"
#include "git/push.h"

namespace unwrite::git {

struct Unpushed {
    std::vector<UndoneCommit> undone;  ///< the agent's commits, newest first, with their changes
    std::string newest;                ///< the newest of the commits that revert them; or ""
    bool state = false;                ///< a commit with the session and the log
    bool any() const { return !undone.empty() || state; }
};

/// Of what was undone for this issue, what only the local branch has. The remote is asked only
/// where git keeps no copy of its branch here, and only with `ask_remote`; a remote that cannot be
/// reached is taken to have nothing.
Result<Unpushed> find_unpushed(const Repository& repository, const PushTarget& target,
                               std::uint64_t issue, const Conventions& conventions,
                               const std::vector<UndoneCommit>& undone, bool ask_remote);

}  // namespace unwrite::git
