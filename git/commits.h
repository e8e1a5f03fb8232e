// An agent's commits for one issue, found by what they say.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "git/repository.h"

namespace unwrite::git {

/// How an agent's traces look. "{issue}" stands for the number of the issue.
struct Conventions {
    /// Subjects; a commit is the agent's when its subject equals one of them, byte by byte.
    std::vector<std::string> subjects = {
        "gitclaw: work on issue #{issue}",
        "gitclaw: changes for issue #{issue}",
        "gitclaw: state update for issue #{issue}",
        "gitclaw: review PR #{issue}",
    };
    /// What the agent keeps for itself, from the top of the repository: a file, or with a slash at
    /// the end everything below a directory. Undo leaves it alone.
    std::vector<std::string> state_paths = {".GITCLAW/"};
    std::string branch = "gitclaw/issue-{issue}";
    std::string state_commit = "gitclaw: undo changes for issue #{issue}";

    bool is_state(std::string_view path) const;
};

std::string with_issue(std::string text, std::uint64_t issue);

/// One path that a commit changed, against its first parent.
struct PathChange {
    std::string path;      ///< bytes, from the top of the repository
    std::string old_mode;  ///< "000000": it was not there
    std::string old_id;
};

struct AgentCommit {
    std::string id;
    std::string subject;
    std::string time;  ///< the author's, ISO 8601
    std::vector<std::string> parents;
    std::vector<PathChange> changes;  ///< empty for a merge commit

    bool is_merge() const { return parents.size() > 1; }
};

/// The paths of a commit that are no state.
std::vector<std::string> code_files(const AgentCommit& commit, const Conventions& conventions);

/// A commit of the agent that was reverted already, and the commit that did it.
struct UndoneCommit {
    AgentCommit commit;
    std::string by;
};

struct Found {
    std::vector<AgentCommit> code;  ///< newest first; those that can be undone
    std::size_t state_only = 0;     ///< newer than the last of `code`, or all
    std::size_t empty = 0;
    std::vector<UndoneCommit> undone;  ///< newest first, without their changes
    bool any() const { return !code.empty() || state_only + empty + undone.size() > 0; }
};

/// The newest `wanted` commits for `issue` in the history of `from` that changed anything but
/// state. What a later commit has reverted is left out, unless that one was reverted in turn. A
/// merge commit that the agent made counts as code.
Result<Found> find_agent_commits(const Repository& repository, const std::string& from,
                                 std::uint64_t issue, const Conventions& conventions,
                                 std::size_t wanted);

/// The paths that differ between a commit and its first parent (everything for a root commit).
Result<std::vector<PathChange>> changes_of(const Repository& repository, const std::string& id,
                                           const std::string& parent);

/// The commit in the history of `from` that reverts `id` and was not reverted itself; "" when there
/// is none.
Result<std::string> revert_of(const Repository& repository, const std::string& from,
                              const std::string& id);
Result<bool> is_reverted(const Repository& repository, const std::string& from,
                         const std::string& id);

}  // namespace unwrite::git
