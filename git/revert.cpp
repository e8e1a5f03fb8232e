#include "git/revert.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <set>

#include "base/syscalls.h"
#include "git/half_reverted.h"
#include "git/in_the_way.h"

namespace unwrite::git {

namespace {

constexpr std::chrono::seconds kLong(600);

/// An index file of our own in the repository's directory, removed afterwards.
class OwnIndex {
 public:
    static Result<OwnIndex> make(const Repository& repository) {
        OwnIndex index;
        TRY_ASSIGN(index.path_, repository.own_path("unwrite-index-" + std::to_string(::getpid())));
        return index;
    }
    OwnIndex(OwnIndex&& other) noexcept : path_(std::exchange(other.path_, "")) {}
    OwnIndex& operator=(OwnIndex&&) = delete;
    ~OwnIndex() {
        if (path_.empty()) return;
        ignore(sys::unlink(AT_FDCWD, path_), "it may never have been written");
        ignore(sys::unlink(AT_FDCWD, path_ + ".lock"), "left only when git was killed");
    }
    Extra extra(std::string input = {}) const {
        return Extra{.input = std::move(input), .index = path_, .timeout = kLong};
    }

 private:
    OwnIndex() = default;
    std::string path_;
};

/// What `update-index --index-info` reads to put the state paths back to what the parent had.
std::string state_as_before(const AgentCommit& commit, const Conventions& conventions) {
    std::string lines;
    for (const PathChange& change : commit.changes) {
        if (!conventions.is_state(change.path)) continue;
        lines += change.old_mode == "000000" ? "0 " + change.old_id
                                             : change.old_mode + " " + change.old_id;
        lines += "\t" + change.path;
        lines += '\0';
    }
    return lines;
}

/// A commit that changes what `commit` does to everything but state, against the first parent. Its
/// opposite cannot touch a state path, whatever happened there since.
Result<std::string> without_state(const Repository& repository, const AgentCommit& commit,
                                  const Conventions& conventions) {
    TRY_ASSIGN(const OwnIndex index, OwnIndex::make(repository));
    TRY(repository.ask({"read-tree", commit.id}, index.extra()));
    TRY(repository.ask({"update-index", "-z", "--index-info"},
                       index.extra(state_as_before(commit, conventions))));
    TRY_ASSIGN(const std::string tree, repository.line({"write-tree"}, index.extra()));
    Arguments arguments = {"commit-tree", tree};
    if (!commit.parents.empty()) arguments.insert(arguments.end(), {"-p", commit.parents[0]});
    return repository.line(arguments, Extra{.input = commit.subject + "\n"});
}

std::string message_for(const AgentCommit& commit) {
    std::string text = "Revert \"" + commit.subject + "\"\n\nThis reverts commit " + commit.id;
    if (commit.is_merge()) text += ", reversing\nchanges made to " + commit.parents[0];
    return text + ".\n";
}

Result<std::vector<std::string>> unmerged_paths(const Repository& repository) {
    TRY_ASSIGN(const std::string entries, repository.ask({"ls-files", "-u", "-z"}));
    std::vector<std::string> paths;
    for (const std::string& entry : split_nul(entries)) {
        const std::size_t tab = entry.find('\t');
        if (tab != std::string::npos) paths.push_back(entry.substr(tab + 1));
    }
    paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
    return paths;
}

/// git may fail, or be ended, after it made the commit: while a hook runs that is told of it.
Result<std::optional<std::string>> made(const Repository& repository, const std::string& before) {
    const Cleanup cleanup(repository.programs());
    TRY_ASSIGN(std::optional<std::string> parent, repository.commit_of("HEAD^"));
    if (parent != before) return std::optional<std::string>();
    return repository.commit_of("HEAD");
}

Result<Reverted> commit_revert(const Repository& repository, const AgentCommit& commit) {
    Reverted reverted;
    TRY_ASSIGN(const std::vector<std::string> staged, repository.staged_files());
    if (staged.empty()) {
        TRY(abort_revert(repository));
        reverted.how = Reverted::How::kEmpty;
        return reverted;
    }
    TRY_ASSIGN(const std::string before, repository.line({"rev-parse", "HEAD"}));
    const Result<std::string> done = repository.ask(
        {"commit", "--quiet", "--no-verify", "--cleanup=verbatim", "--file=-"},
        Extra{.input = message_for(commit), .timeout = kLong, .grace = kGraceForChanges});
    TRY_ASSIGN(const std::optional<std::string> id, made(repository, before));
    if (!id && !done) return done.error();
    reverted.commit = id.value_or("");
    return reverted;
}

bool touches_state(const AgentCommit& commit, const Conventions& conventions) {
    return std::any_of(commit.changes.begin(), commit.changes.end(),
                       [&](const PathChange& change) { return conventions.is_state(change.path); });
}

/// What is staged would be in the commit: a hook of the revert before it may have done that.
Result<> expect_nothing_staged(const Repository& repository, const AgentCommit& commit) {
    TRY_ASSIGN(const std::vector<std::string> staged, repository.staged_files());
    if (staged.empty()) return {};
    return Error(
        ErrorKind::kConflict, EBUSY,
        "cannot revert " + short_id(commit.id) + ": there are staged changes: " + some_of(staged),
        "`git commit` or `git stash` them first");
}

/// Files that the revert would bring back where there is something that git does not know. (A
/// submodule comes back as a directory that may be there already.)
Result<> expect_free_way(const Repository& repository, const AgentCommit& commit,
                         const Conventions& conventions) {
    if (commit.parents.empty()) return {};
    TRY_ASSIGN(const std::vector<std::string> added,
               paths_added(repository, "HEAD", commit.parents[0]));
    const std::set<std::string> missing(added.begin(), added.end());
    std::vector<std::string> coming;
    for (const PathChange& change : commit.changes) {
        const bool file = change.old_mode != "000000" && change.old_mode != "160000";
        if (file && missing.contains(change.path) && !conventions.is_state(change.path))
            coming.push_back(change.path);
    }
    return expect_no_unknown_files(repository, "cannot revert " + short_id(commit.id), coming);
}

/// git did not end by itself: it may have stopped anywhere.
bool was_ended(const Error& error) {
    return error.number() == ECANCELED || error.number() == ETIMEDOUT || error.number() == EFBIG;
}

/// The revert itself. On an error it may be half-done.
Result<Reverted> revert_files(const Repository& repository, const AgentCommit& commit,
                              const std::string& what) {
    TRY_ASSIGN(const ProcessOutcome outcome,
               repository.run({"revert", "--no-commit", "--no-edit", what},
                              Extra{.timeout = kLong, .grace = kGraceForChanges}));
    if (outcome.exit_code == 0) return commit_revert(repository, commit);
    Reverted reverted;
    reverted.how = Reverted::How::kConflict;
    TRY_ASSIGN(reverted.conflicts, unmerged_paths(repository));
    if (!reverted.conflicts.empty()) {
        TRY(abort_revert(repository));
        return reverted;
    }
    return Error(ErrorKind::kConflict, EBUSY,
                 "cannot revert " + short_id(commit.id) + ": " + words_of(outcome));
}

}  // namespace

Result<Reverted> revert_commit(const Repository& repository, const AgentCommit& commit,
                               const Conventions& conventions) {
    TRY(expect_nothing_staged(repository, commit));
    TRY(expect_free_way(repository, commit, conventions));
    std::string what = commit.id;
    if (commit.is_merge() || touches_state(commit, conventions)) {
        TRY_ASSIGN(what, without_state(repository, commit, conventions));
    }
    TRY_ASSIGN(const std::vector<std::string> changed, repository.changed_files());
    const std::set<std::string> changed_before(changed.begin(), changed.end());
    Result<Reverted> reverted = revert_files(repository, commit, what);
    if (reverted) return reverted;
    const Cleanup cleanup(repository.programs());
    TRY(abort_revert(repository));  // where that fails, it is what has to be told
    if (was_ended(reverted.error())) {
        TRY(put_back(repository, commit, conventions, changed_before));
    }
    return reverted;
}

}  // namespace unwrite::git
