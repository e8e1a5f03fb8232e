// What of git goes when the workspace goes back to an earlier state: commits, branches, tags and
// stash entries that were made since. Said before it is done.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cli/workspace.h"
#include "git/state.h"

namespace unwrite::cli {

/// Where a branch or tag pointed then and points now; "" where there was or is none.
struct RefChange {
    std::string before{};
    std::string after{};
};

/// By full name ("refs/heads/main"), out of the differences of the files in `.git` that hold
/// branches and tags. `packed`: the file packed-refs as it is now. What only moved from one file to
/// another is left out.
std::map<std::string, RefChange> ref_changes(const std::vector<overlay::FileDiff>& diffs,
                                             std::string_view packed);

/// What goes, as lines for a person; "" where nothing of git does. `since`: the node, "" for the
/// root; `then`: how the repository stood at that node. git itself is asked for the commits, and
/// told to run nothing else and to fetch nothing.
Result<std::string> git_losses(Workspace& workspace, const std::string& since,
                               const git::GitState& then);

}  // namespace unwrite::cli
