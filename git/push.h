// Bringing the current branch to its remote.
#pragma once

#include <string>

#include "git/renamed.h"
#include "git/repository.h"

namespace unwrite::git {

struct PushTarget {
    std::string remote;
    std::string branch;  ///< short name at the remote
};

/// Where `branch` is pushed to: `remote` when it is given, else the one that the branch follows,
/// else the only one there is, else "origin". kNotFound when there is no such remote.
Result<PushTarget> push_target(const Repository& repository, const std::string& branch,
                               const std::string& remote);

struct Pushed {
    bool done = false;
    std::string error;  ///< a sentence; "" when done
};

/// Pushes HEAD there, three times at most. After each try but the last, the new commits are put on
/// top of what others pushed meanwhile. At a protected branch it ends at once, and where that
/// conflicts or would touch staged changes, uncommitted changes of the same files, or files that
/// git does not know: the local branch, the index and the files are then as they were. Never
/// forces. `renamed` has what rebased commits are called now, also on an error.
Result<Pushed> push(const Repository& repository, const PushTarget& target, Renamed& renamed);

}  // namespace unwrite::git
