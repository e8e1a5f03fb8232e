// Reverting one commit without its state paths, all or nothing.
#pragma once

#include <string>
#include <vector>

#include "git/commits.h"

namespace unwrite::git {

struct Reverted {
    enum class How {
        kDone,      ///< `commit` is the new commit
        kEmpty,     ///< what it changed is gone already; nothing was committed
        kConflict,  ///< later changes are in the way; index and files are as they were
    };
    How how = How::kDone;
    std::string commit;
    std::vector<std::string> conflicts;  ///< paths
};

/// Commits the opposite of `commit` on the current branch. The index must equal HEAD. A merge
/// commit is reverted against its first parent. State paths are left alone, also where the commit
/// changed them and they have changed since, committed or not. On an error the index and the files
/// are as they were, unless its text says otherwise.
Result<Reverted> revert_commit(const Repository& repository, const AgentCommit& commit,
                               const Conventions& conventions);

}  // namespace unwrite::git
