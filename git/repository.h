// Repository: git, asked about one work tree. Everything that this folder wants of git goes through
// here, so that the options that keep its output machine-readable stand in one place.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "git/programs.h"

namespace unwrite::git {

using Arguments = std::vector<std::string>;

/// What a git command is given beside its arguments.
struct Extra {
    std::string input = {};
    std::string index = {};  ///< another index file than the repository's
    std::chrono::seconds timeout{600};
    std::function<bool()> cancelled = {};  ///< as of ProcessRequest
    std::chrono::milliseconds grace{0};    ///< as of ProcessRequest
};

/// A command that changes files or commits is given this long to end by itself.
constexpr std::chrono::milliseconds kGraceForChanges(1000);

/// What the work tree stands in, as far as it matters before anything is changed.
struct Standing {
    std::string head;    ///< "" before the first commit
    std::string branch;  ///< short name; "" when HEAD is detached
    /// "merge", "rebase", "cherry-pick", "revert", "am", "bisect"; "" when there is none
    std::string underway;
    bool shallow = false;
};

/// "`git rebase --continue` finishes it, `git rebase --abort` gives it up", for a Standing's
/// `underway`.
std::string how_to_end(const std::string& underway);

class Repository {
 public:
    /// The repository around `directory`. Errors: kNotFound when there is none, or it has no work
    /// tree; kSystem when git is not installed or refuses.
    static Result<Repository> open(Programs& programs, const std::string& directory);
    /// Another work tree of the same repository.
    Repository at(const std::string& root) const;

    const std::string& root() const { return root_; }  ///< absolute, the top of the work tree
    Programs& programs() const { return *programs_; }

    /// Runs git and leaves its exit code to the caller.
    Result<ProcessOutcome> run(const Arguments& arguments, const Extra& extra = {}) const;
    /// Runs git; another exit code than 0 is an error that carries git's words.
    Result<std::string> ask(const Arguments& arguments, const Extra& extra = {}) const;
    /// The same, without the newline at the end.
    Result<std::string> line(const Arguments& arguments, const Extra& extra = {}) const;
    /// The parts (split_nul) of what git lists for these paths, which it is told in portions.
    Result<std::vector<std::string>> list(const Arguments& arguments,
                                          const std::vector<std::string>& paths) const;
    /// A value of the configuration; "" when it is not set.
    Result<std::string> configured(const std::string& key) const;
    /// Whether a revision is known here, and which commit it is.
    Result<std::optional<std::string>> commit_of(const std::string& revision) const;

    Result<Standing> standing() const;
    /// Where git keeps this file of the repository (absolute).
    Result<std::string> own_path(const std::string& name) const;
    /// Tracked files that differ from the index or from HEAD, sorted.
    Result<std::vector<std::string>> changed_files() const;
    /// Files whose index entry differs from HEAD.
    Result<std::vector<std::string>> staged_files() const;

 private:
    Repository(Programs& programs, std::string root)
        : programs_(&programs), root_(std::move(root)) {}

    Programs* programs_;
    std::string root_;
};

/// The parts of `text` that end at a NUL; what follows the last one is a part as well, if it is not
/// empty.
std::vector<std::string> split_nul(std::string_view text);
/// "3f2a9c1": as short as the texts here show a commit.
std::string short_id(const std::string& id);

}  // namespace unwrite::git
