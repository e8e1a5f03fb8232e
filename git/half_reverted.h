// A revert that was ended in the middle: bringing index and files back to what they were.
#pragma once

#include <set>
#include <string>

#include "git/commits.h"

namespace unwrite::git {

/// Takes back what a `git revert` of `commit` did that was ended before it noted that it is under
/// way (abort_revert does the rest). `changed_before` names the files that had
/// uncommitted changes before it began; neither they nor state paths are touched. An error names
/// what could not be put back, and how to do it by hand.
Result<> put_back(const Repository& repository, const AgentCommit& commit,
                  const Conventions& conventions, const std::set<std::string>& changed_before);

/// `git revert --abort`, if a revert is under way.
Result<> abort_revert(const Repository& repository);

}  // namespace unwrite::git
