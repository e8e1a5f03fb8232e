// What must hold before an undo changes anything. Each failure is an Error that says what is wrong
// and what to do; nothing here changes anything.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "git/undo.h"

namespace unwrite::git {

/// The numbers and texts that the caller gave. kUsage.
Result<> check_options(const UndoOptions& options);

/// No merge, rebase or the like is under way: the branch would be another one than it seems.
Result<> check_underway(const Standing& standing);

Result<> expect_branch(const Standing& standing);

/// The work tree can take commits: no uncommitted changes but in `spared` and the
/// state paths, somebody to be the author.
Result<> check_work_tree(const Repository& repository, const Conventions& conventions,
                         const std::set<std::string>& spared);

/// These commits can be reverted: no merge among them, none whose parent a shallow clone lacks, and
/// no older ones that it may hide when there are fewer than `wanted`.
Result<> check_commits(const std::vector<AgentCommit>& commits, const Standing& standing,
                       std::size_t wanted);

/// `path` from the top of the work tree; "" when it lies outside.
std::string below_root(const Repository& repository, const std::string& path);

}  // namespace unwrite::git
