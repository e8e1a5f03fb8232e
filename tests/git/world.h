// World: a repository, its bare remote, a gh that takes notes, and nothing of the machine's own
// configuration.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "git/undo.h"
#include "tests/base/scratch.h"

namespace unwrite::git::tests {

using unwrite::tests::bytes_of;
using unwrite::tests::failure_of;
using unwrite::tests::Scratch;

using Files = std::map<std::string, std::string>;

class World {
 public:
    World();

    /// git in the work tree; must succeed. Its output without the last newline.
    std::string git(const Arguments& arguments, const std::string& input = {}) const;
    std::string git_in(const std::string& directory, const Arguments& arguments,
                       const std::string& input = {}) const;
    /// Writes the files ("" removes one) and commits them; the id.
    std::string commit(const std::string& subject, const Files& files) const;
    std::string agent_commit(std::uint64_t issue, const Files& files) const {
        return commit("gitclaw: work on issue #" + std::to_string(issue), files);
    }
    /// Adds the bare remote as origin and pushes main there.
    void add_remote() const;
    /// Another clone commits this file and pushes it to main.
    void push_from_elsewhere(const std::string& file, const std::string& text) const;

    void write(const std::string& name, const std::string& text) const;
    std::string read(const std::string& name) const;
    bool exists(const std::string& name) const;
    std::string head() const { return git({"rev-parse", "HEAD"}); }
    std::string short_head(const std::string& revision) const {
        return git({"rev-parse", "--short=7", revision});
    }
    std::vector<std::string> subjects() const;  ///< newest first
    /// No change, nothing staged, nothing underway. Untracked files count.
    bool is_clean() const;

    /// What gh answers; `name` as in stub/gh.
    void gh_says(const std::string& name, const std::string& out, int exit = 0,
                 const std::string& err = {}) const;
    void gh_does(const std::string& name, const std::string& script) const;
    /// The calls of gh so far, one a line.
    std::string gh_calls() const;
    void without_gh() const;  ///< PATH holds git and nothing else

    std::string path(const std::string& name) const { return (scratch_.path() / name).string(); }
    std::string work() const { return path("work"); }
    std::string origin() const { return path("origin.git"); }

    UndoOptions options(std::uint64_t issue, std::size_t count = 1) const;
    Result<UndoReport> undo(const UndoOptions& options) const;
    Result<UndoReport> undo(std::uint64_t issue, std::size_t count = 1) const {
        return undo(options(issue, count));
    }

 private:
    Scratch scratch_;
};

/// Runs the real programs, after `before` has seen what is asked for.
class WatchedPrograms : public InstalledPrograms {
 public:
    using Before = std::function<std::optional<Result<ProcessOutcome>>(const ProcessRequest&)>;
    explicit WatchedPrograms(Before before) : before_(std::move(before)) {}
    Result<ProcessOutcome> run(const ProcessRequest& request) override {
        if (auto instead = before_(request)) return *std::move(instead);
        return InstalledPrograms::run(request);
    }

 private:
    Before before_;
};

bool has_word(const ProcessRequest& request, const std::string& word);

}  // namespace unwrite::git::tests
