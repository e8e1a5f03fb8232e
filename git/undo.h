// Taking back what an agent committed for an issue: its open pull request is closed, or else its
// newest commits are reverted.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "git/attended_programs.h"
#include "git/report.h"

namespace unwrite::git {

struct UndoOptions {
    std::uint64_t issue = 0;     ///< 1 or more
    std::size_t count = 1;       ///< how many commits; 1 or more
    std::string branch;          ///< the task's branch; "": as the conventions say
    std::string remote;          ///< "": the one that the current branch follows
    bool push = false;           ///< bring the reverts to the remote
    bool dry_run = false;        ///< change nothing, here or elsewhere
    bool pull_requests = true;   ///< look at them (where there is a remote)
    bool revert_merged = false;  ///< the answer to UndoEnd::kMerged: open a revert pull request
    std::string session;         ///< absolute path; noted there if the file exists; "": nowhere
    std::string memory;          ///< absolute path of the log; made when absent; "": none
    Conventions conventions;
    /// Called once, before the first change to anything. An error ends the undo.
    std::function<Result<>()> before_change;
    /// An interruption ends the undo at once, with what is done so far.
    Attendant attendant;
};

/// Works on the repository around `directory`. With `push`, what an earlier undo left unpushed
/// counts towards `count` and is pushed. An error means that nothing was undone. Kinds: kUsage
/// (options), kNotFound (no repository, no remote), kConflict (uncommitted changes, a merge or
/// rebase under way, something in the way), kSystem (detached HEAD, shallow history, merge commits,
/// git or gh failed; ECANCELED: interrupted).
Result<UndoReport> undo(Programs& programs, const std::string& directory,
                        const UndoOptions& options);

}  // namespace unwrite::git
