// A pull request that takes back a merged one.
#pragma once

#include <string>

#include "git/pull_requests.h"
#include "git/undo.h"

namespace unwrite::git {

/// The branch of that pull request.
std::string revert_branch(const PullRequest& merged, std::uint64_t issue);

/// Reverts `merged` on top of its base branch as the remote has it now, on a new branch, pushes
/// that and opens a pull request. The work tree, its index and the current branch are not touched:
/// the work is done in a work tree of its own, removed afterwards. A branch that an earlier call
/// pushed is used again. On success the address is in report.revert_pull_request; a conflict is in
/// report.conflicting; kNothing when it was taken back already.
Result<> open_revert_request(const Repository& repository, const PullRequest& merged,
                             const std::string& remote, const Conventions& conventions,
                             UndoReport& report);

}  // namespace unwrite::git
