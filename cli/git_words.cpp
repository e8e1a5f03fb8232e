#include "cli/git_words.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/syscalls.h"
#include "cli/text.h"
#include "git/elsewhere.h"
#include "overlay/changes.h"

namespace unwrite::cli {

namespace {

constexpr std::size_t kShortId = 7;
constexpr std::string_view kBranches = "refs/heads/";

std::string branch_words(std::string_view branch) {
    if (branch.empty()) return "detached";
    if (branch.starts_with(kBranches)) branch.remove_prefix(kBranches.size());
    return quote_name(branch);
}

std::string id_words(const std::string& id) {
    return id.empty() ? "nothing" : id.substr(0, kShortId);
}

std::string stash_words(std::size_t before, std::size_t after) {
    if (after > before) return fmt::format("{} more in the stash", after - before);
    if (after < before) return fmt::format("{} fewer in the stash", before - after);
    return "stash changed";
}

/// The file of a linked work tree's own, in the repository that it shares.
bool is_own_file(const std::string& path, const std::string& file) {
    return path.starts_with(".git/worktrees/") && path.ends_with("/" + file);
}

/// Whether one of these files of the repository is changed by the task. What was accepted with an
/// earlier part is not.
bool is_open(const std::vector<overlay::Change>& changes, const std::set<std::string>& files) {
    return std::any_of(changes.begin(), changes.end(), [&](const overlay::Change& change) {
        return std::any_of(files.begin(), files.end(), [&](const std::string& file) {
            return overlay::concerns(change, ".git/" + file) || is_own_file(change.path, file);
        });
    });
}

}  // namespace

Tags git_tags(int root) {
    return tags_of(git::read_git_state(root));
}

Tags tags_of(const Result<git::GitState>& state) {
    if (!state || state->layout == git::Layout::kNone) return {};
    return {{kGitTag, git::to_text(*state)}};
}

git::GitState git_state_of(const Tags& tags) {
    const auto tag = tags.find(kGitTag);
    return tag == tags.end() ? git::GitState() : git::from_text(tag->second);
}

git::GitState git_state_of(const std::string& directory) {
    if (const auto elsewhere = git::find_elsewhere(directory))
        return git::read_git_state(*elsewhere).value_or(git::GitState());
    const Result<UniqueFd> opened = sys::open_at(AT_FDCWD, directory, O_RDONLY | O_DIRECTORY);
    if (!opened) return {};
    return git::read_git_state(opened->get()).value_or(git::GitState());
}

std::string git_state_words(const git::GitState& state) {
    switch (state.layout) {
        case git::Layout::kNone:
            return "no git";
        case git::Layout::kOther:
            return "git: not looked into";
        case git::Layout::kFile:
            if (state.outside && state.head.empty() && state.branch.empty())
                return "git: a linked worktree or submodule";
            break;
        case git::Layout::kDirectory:
            break;
    }
    if (!state.refs_known) return "git: refs in a format that is not read";
    std::string words = state.branch.empty() ? "git: detached at " + id_words(state.head)
                                             : "git: on " + branch_words(state.branch);
    if (!state.underway.empty()) words += ", " + state.underway + " under way";
    return words;
}

git::GitState without_accepted(const git::GitState& before, git::GitState now,
                               const std::vector<overlay::Change>& changes) {
    if (now.layout != git::Layout::kDirectory && !now.outside) return now;
    if (!is_open(changes, {"HEAD", "packed-refs", before.branch, now.branch})) {
        now.head = before.head;
        now.branch = before.branch;
    }
    if (!is_open(changes, {"index"})) now.index = before.index;
    if (!is_open(changes, {"refs/stash", "logs/refs/stash"})) now.stash = before.stash;
    return now;
}

std::string git_change_words(const git::GitState& before, const git::GitState& after) {
    std::string words;
    for (const git::GitDifference& difference : git::compare(before, after)) {
        std::string one;
        if (difference.what == "branch") {
            one = fmt::format("branch {} -> {}", branch_words(difference.before),
                              branch_words(difference.after));
        } else if (difference.what == "head") {
            one = fmt::format("HEAD {} -> {}", id_words(difference.before),
                              id_words(difference.after));
        } else if (difference.what == "index") {
            one = "index changed";
        } else if (difference.what == "stash") {
            one = stash_words(before.stash.size(), after.stash.size());
        } else {
            continue;  // the state's own words say it, or it says nothing to a person
        }
        words += (words.empty() ? "" : ", ") + one;
    }
    return words;
}

}  // namespace unwrite::cli
