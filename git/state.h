// GitState: where a repository stands, read from its files. Nothing is run, locked or written, so
// it may be asked for by whoever serves the very directory, and costs a few small files: the
// entries of the stash, HEAD, one ref. Thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace unwrite::git {

/// What `.git` at the top of a work tree is.
enum class Layout {
    kNone,       ///< there is none: no git here
    kDirectory,  ///< the repository itself
    kFile,       ///< a file that names the repository: a linked work tree, or a submodule
    kOther,      ///< something else, such as a symbolic link; not looked into
};

struct StashEntry {
    std::string commit;
    std::string message;
    bool operator==(const StashEntry&) const = default;
};

struct GitState {
    Layout layout = Layout::kNone;
    std::string head;      ///< the commit; "" before the first one, or when `refs_known` is false
    std::string branch;    ///< "refs/heads/main"; "" when HEAD is detached
    std::string index;     ///< names the index file's content; "" when there is no index
    std::string underway;  ///< "merge", "rebase", "cherry-pick", "revert", "bisect", "am"; or ""
    std::vector<StashEntry> stash;  ///< newest first, as `git stash list`
    bool refs_known = true;         ///< false: the refs are in a format that is not read here
    bool submodules = false;        ///< there are some, each with a state of its own
    bool worktrees = false;         ///< other work trees share this repository
    bool outside = false;           ///< kFile: the repository lies outside of the work tree

    bool operator==(const GitState&) const = default;
};

/// One thing that differs, in words: "branch", "refs/heads/main", "refs/heads/side".
struct GitDifference {
    std::string what;
    std::string before;
    std::string after;
};

enum class Reach {
    kInside,    ///< nothing is opened but what is below the directory; links are not followed
    kAnywhere,  ///< a repository elsewhere that a `.git` file names is read, too
};

/// The state of the work tree whose top is the directory behind `directory` (a descriptor, not
/// O_PATH). With kInside it may be asked for by the daemon that serves this directory: no path
/// leads back through the mount; a repository outside is then told by `layout` and `outside` alone.
/// A repository that changes meanwhile gives a state that never was. Errors: a file that cannot be
/// read, is no regular file, or is longer than anything git writes.
Result<GitState> read_git_state(int directory, Reach reach = Reach::kInside);

/// What differs, in the order of the members; empty when nothing does.
std::vector<GitDifference> compare(const GitState& before, const GitState& after);

/// As lines "word value", to be kept beside a checkpoint; "" for a work tree without git.
std::string to_text(const GitState& state);
/// The inverse. Lines that say nothing known are passed over, so any text gives some state.
GitState from_text(std::string_view text);

}  // namespace unwrite::git
