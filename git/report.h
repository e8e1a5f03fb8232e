// What an undo did, and how it is told: the structured result and the reply in markdown.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "git/commits.h"

namespace unwrite::git {

enum class UndoEnd {
    kDone,      ///< everything that was asked for
    kPartly,    ///< some of it; `errors` has the rest
    kPlanned,   ///< a dry run
    kNothing,   ///< there was nothing to undo
    kConflict,  ///< later changes are in the way; nothing was undone
    kMerged,    ///< the pull request is merged; a revert pull request is offered, or open already
    kFailed,    ///< nothing was undone; `errors` says why
};

struct UndoReport {
    UndoEnd end = UndoEnd::kDone;
    std::uint64_t issue = 0;
    bool undone_before = false;         ///< kNothing, because it was undone already
    std::vector<AgentCommit> reverted;  ///< newest first; in a dry run, those that would be
    std::vector<AgentCommit> earlier;   ///< reverted by an earlier undo, brought to the remote now
    std::vector<std::string> files;     ///< of both, without state, each once
    std::vector<std::string> closed;    ///< addresses of pull requests
    std::string revert_commit;          ///< the newest one; "" when there is none
    std::string revert_pull_request;    ///< address; with kMerged, of one that is open already
    std::string conflicting;            ///< the commit that could not be reverted
    std::vector<std::string> in_the_way;  ///< paths that conflict
    std::uint64_t merged_number = 0;      ///< the merged pull request
    std::string merged_commit;            ///< its commit
    bool merged_is_merge = false;         ///< a commit with two parents
    bool session_noted = false;
    bool memory_noted = false;
    std::string state_commit;
    bool pushed = false;
    std::vector<std::string> errors;  ///< sentences for the user; warnings where something was done
    std::vector<std::string> notes;   ///< for a person at a terminal; not part of the reply
};

/// The reply, in markdown, with a newline at its end. File names are shown so that they can neither
/// end their code span nor act upon a terminal.
std::string markdown(const UndoReport& report);

/// `text` in backticks, as many as it needs, with control characters quoted as git does.
std::string code_span(const std::string& text);

}  // namespace unwrite::git
