// What git calls things: where a repository stands, as a checkpoint keeps it and as a person reads
// it (D17 of the behaviour: nothing is restored by it, the journal does that).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "git/state.h"
#include "overlay/operations.h"

namespace unwrite::cli {

using Tags = std::map<std::string, std::string>;

/// The tag of a node with the state of the repository as it was then.
inline constexpr const char* kGitTag = "git";

/// What to keep of the repository in this open directory; none without git, or when it cannot be
/// read (a checkpoint does not fail for that).
Tags git_tags(int root);
Tags tags_of(const Result<git::GitState>& state);
git::GitState git_state_of(const Tags& tags);
/// Of the directory as it is now; without git when it cannot be read.
git::GitState git_state_of(const std::string& directory);

/// "git: on main", "git: detached at 0123456", "no git".
std::string git_state_words(const git::GitState& state);
/// "branch main -> side, HEAD 0123456 -> 89abcde, index changed, 1 more in the stash"; "" when
/// nothing differs.
std::string git_change_words(const git::GitState& before, const git::GitState& after);

/// `now`, but with what a person accepted already (what is no change of the task any more) as it
/// was `before`; of a repository outside, also with what is not recorded.
git::GitState without_accepted(const git::GitState& before, git::GitState now,
                               const std::vector<overlay::Change>& changes);

}  // namespace unwrite::cli
