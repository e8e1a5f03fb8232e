// Closing the pull requests of a task's branch, and the branch with them.
#pragma once

#include <string>
#include <vector>

#include "git/pull_requests.h"
#include "git/undo.h"

namespace unwrite::git {

struct ClosingPlan {
    std::vector<PullRequest> requests;
    std::string branch;
    std::string remote;
    std::string fallback;  ///< the remote's default branch; "" when it does not say
    std::string tip;       ///< of the branch at the remote; "" when it is not there
};

/// Looks at what closing would meet. kUsage when the branch is the remote's default branch;
/// kConflict when the branch is checked out here with uncommitted changes, or files that git does
/// not know are where the default branch has some. Changes nothing.
Result<ClosingPlan> plan_closing(const Repository& repository, const Standing& standing,
                                 std::vector<PullRequest> requests, const std::string& branch,
                                 const std::string& remote);

/// Closes them all, then deletes the branch there and here, if gh has not. A branch here with
/// commits that are nowhere else stays, or is made again where gh deleted it. What could not be
/// done is in report.errors, what a person may want back in report.notes. On an error nothing was
/// done.
Result<> close_requests(const Repository& repository, const ClosingPlan& plan, UndoReport& report);

}  // namespace unwrite::git
