#include "git/revert_request.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <cerrno>
#include <filesystem>

#include "base/syscalls.h"
#include "git/revert.h"

namespace unwrite::git {

namespace {

constexpr std::chrono::seconds kLong(600);

/// A second work tree in a temporary directory, at a commit, on no branch.
class SideTree {
 public:
    static Result<SideTree> make(const Repository& repository, const std::string& commit) {
        std::error_code failure;
        const std::filesystem::path temporary = std::filesystem::temp_directory_path(failure);
        std::string path = (temporary / "unwrite-revert-XXXXXX").string();
        if (failure || ::mkdtemp(path.data()) == nullptr) {
            return sys::last_error().with_context("could not make a temporary directory");
        }
        SideTree tree(repository, path);
        TRY(repository.ask({"worktree", "add", "--quiet", "--detach", tree.path(), commit},
                           Extra{.timeout = kLong}));
        return tree;
    }
    SideTree(SideTree&& other) noexcept
        : repository_(other.repository_), path_(std::exchange(other.path_, "")) {}
    SideTree& operator=(SideTree&&) = delete;
    ~SideTree() {
        if (path_.empty()) return;
        const Cleanup cleanup(repository_.programs());
        ignore(repository_.run({"worktree", "remove", "--force", path()}),
               "what is left of it is removed next");
        std::error_code failure;
        std::filesystem::remove_all(path_, failure);
        ignore(repository_.run({"worktree", "prune"}), "git does it itself, later");
    }
    std::string path() const { return path_ + "/tree"; }

 private:
    SideTree(const Repository& repository, std::string path)
        : repository_(repository), path_(std::move(path)) {}
    const Repository& repository_;
    std::string path_;
};

Result<AgentCommit> read_commit(const Repository& repository, const std::string& id) {
    TRY_ASSIGN(const std::string text,
               repository.line({"log", "-z", "--no-patch", "--no-show-signature", "--max-count=1",
                                "--encoding=UTF-8", "--format=tformat:%H%x00%P%x00%aI%x00%s",
                                "--end-of-options", id, "--"}));
    const std::vector<std::string> fields = split_nul(text);
    if (fields.size() < 3) {
        return Error(ErrorKind::kSystem, EPROTO, "git log gave an answer that unwrite cannot read");
    }
    AgentCommit commit;
    commit.id = fields[0];
    commit.time = fields[2];
    commit.subject = fields.size() > 3 ? fields[3] : "";
    for (std::size_t at = 0; at < fields[1].size(); at += commit.id.size() + 1)
        commit.parents.push_back(fields[1].substr(at, commit.id.size()));
    TRY_ASSIGN(commit.changes,
               changes_of(repository, commit.id, commit.parents.empty() ? "" : commit.parents[0]));
    return commit;
}

/// What the merge brought, newest first: one commit for a merge and for a squash; for a rebase as
/// many as the pull request had, recognised by their subjects.
Result<std::vector<AgentCommit>> merged_commits(const Repository& repository,
                                                const PullRequest& merged) {
    TRY_ASSIGN(AgentCommit last, read_commit(repository, merged.merge_commit));
    std::vector<AgentCommit> commits{std::move(last)};
    if (commits[0].is_merge()) return commits;
    TRY_ASSIGN(const std::vector<RequestedCommit> asked, PullRequests(repository).commits(merged));
    std::vector<AgentCommit> chain = commits;
    for (std::size_t back = 0; back < asked.size(); ++back) {
        if (chain[back].subject != asked[asked.size() - 1 - back].headline) return commits;
        if (back + 1 == asked.size()) return chain;
        if (chain[back].parents.size() != 1) return commits;
        TRY_ASSIGN(AgentCommit older, read_commit(repository, chain[back].parents[0]));
        chain.push_back(std::move(older));
    }
    return commits;
}

Result<std::string> fetch_branch(const Repository& repository, const std::string& remote,
                                 const std::string& branch) {
    TRY(repository.ask({"fetch", "--quiet", "--no-tags", remote, "refs/heads/" + branch},
                       Extra{.timeout = kLong}));
    return repository.line({"rev-parse", "FETCH_HEAD"});
}

Result<std::string> fetch_base(const Repository& repository, const PullRequest& merged,
                               const std::string& remote) {
    TRY_ASSIGN(const std::string base, fetch_branch(repository, remote, merged.base));
    TRY_ASSIGN(const std::optional<std::string> known, repository.commit_of(merged.merge_commit));
    if (!known) {
        return Error(ErrorKind::kSystem, ENOENT,
                     "the merged commit " + short_id(merged.merge_commit) +
                         " is not in the history of " + merged.base,
                     "`git fetch --unshallow` gets the whole history of a shallow clone");
    }
    TRY_ASSIGN(const bool reverted, is_reverted(repository, base, merged.merge_commit));
    if (!reverted) return base;
    return Error(ErrorKind::kNothing, ENOENT,
                 fmt::format("PR #{} was reverted already", merged.number));
}

/// The tip of the branch of an earlier run that made no pull request of it; "" when there is none.
Result<std::string> earlier_branch(const Repository& repository, const PullRequest& merged,
                                   const std::string& remote, const std::string& branch) {
    TRY_ASSIGN(const std::string there,
               repository.ask({"ls-remote", remote, "refs/heads/" + branch}));
    if (there.empty()) return std::string();
    TRY_ASSIGN(const std::string tip, fetch_branch(repository, remote, branch));
    TRY_ASSIGN(const bool ours, is_reverted(repository, tip, merged.merge_commit));
    if (ours) return tip;
    return Error(ErrorKind::kConflict, EEXIST,
                 "the branch " + branch + " is at " + remote + " already, and does not revert " +
                     short_id(merged.merge_commit),
                 "`git push " + remote + " --delete " + branch + "` deletes it");
}

/// False on a conflict, which is in the report.
Result<bool> revert_all(const Repository& tree, const std::vector<AgentCommit>& commits,
                        const Conventions& conventions, UndoReport& report) {
    for (const AgentCommit& commit : commits) {
        TRY_ASSIGN(const Reverted reverted, revert_commit(tree, commit, conventions));
        if (reverted.how == Reverted::How::kConflict) {
            report.conflicting = commit.id;
            report.in_the_way = reverted.conflicts;
            return false;
        }
        if (reverted.how == Reverted::How::kDone) report.revert_commit = reverted.commit;
    }
    if (!report.revert_commit.empty()) return true;
    return Error(ErrorKind::kNothing, ENOENT, "what was merged is gone already");
}

/// A pushed branch without its pull request would be half of what was asked for.
Result<> take_branch_back(const Repository& repository, const std::string& remote,
                          const std::string& branch, const std::string& tip) {
    const std::string name = "refs/heads/" + branch;
    const Result<std::string> done = repository.ask(
        {"push", "--porcelain", "--force-with-lease=" + name + ":" + tip, remote, ":" + name});
    if (done) return {};
    return done.error().with_context("no pull request was opened, and the branch " + branch +
                                     " stays at " + remote);
}

/// Reverts on top of the base, in a work tree of its own; false on a conflict.
Result<bool> revert_aside(const Repository& repository, const PullRequest& merged,
                          const std::string& base, const Conventions& conventions,
                          UndoReport& report) {
    TRY_ASSIGN(const std::vector<AgentCommit> commits, merged_commits(repository, merged));
    TRY_ASSIGN(const Standing standing, repository.standing());
    if (standing.shallow && commits.back().parents.empty()) {
        return Error(ErrorKind::kSystem, EINVAL,
                     "this clone is shallow and lacks what came before commit " +
                         short_id(commits.back().id),
                     "`git fetch --unshallow` gets the whole history");
    }
    TRY_ASSIGN(const SideTree side, SideTree::make(repository, base));
    return revert_all(repository.at(side.path()), commits, conventions, report);
}

Error interrupted(const std::string& what, const std::string& branch, const std::string& remote) {
    return Error(
        ErrorKind::kSystem, ECANCELED,
        what + " was interrupted; the branch " + branch + " may be at " + remote + " already",
        "run the same command again; it continues with that branch");
}

}  // namespace

std::string revert_branch(const PullRequest& merged, std::uint64_t issue) {
    return fmt::format("revert-{}-issue-{}", merged.number, issue);
}

Result<> open_revert_request(const Repository& repository, const PullRequest& merged,
                             const std::string& remote, const Conventions& conventions,
                             UndoReport& report) {
    TRY_ASSIGN(const std::string base, fetch_base(repository, merged, remote));
    const std::string branch = revert_branch(merged, report.issue);
    TRY_ASSIGN(const std::string earlier, earlier_branch(repository, merged, remote, branch));
    if (earlier.empty()) {
        TRY_ASSIGN(const bool clean, revert_aside(repository, merged, base, conventions, report));
        if (!clean) return {};
        // An empty lease: the branch must be new.
        const Result<std::string> pushed =
            repository.ask({"push", "--porcelain", "--force-with-lease=refs/heads/" + branch + ":",
                            remote, report.revert_commit + ":refs/heads/" + branch},
                           Extra{.timeout = kLong});
        if (!pushed && pushed.error().number() == ECANCELED)
            return interrupted("git push", branch, remote);
        if (!pushed) return pushed.error();
    } else {
        report.revert_commit = earlier;
    }
    const std::string title = "Revert \"" + merged.title + "\"";
    const std::string body = fmt::format("Reverts #{}.\n\nAsked for by `/undo` on issue #{}.\n",
                                         merged.number, report.issue);
    Result<std::string> url = PullRequests(repository).create(branch, merged.base, title, body);
    if (!url && url.error().number() == ECANCELED)
        return interrupted("gh pr create", branch, remote);
    if (!url) {
        if (earlier.empty())
            TRY(take_branch_back(repository, remote, branch, report.revert_commit));
        return url.error().with_context("no pull request was opened");
    }
    report.revert_pull_request = *std::move(url);
    return {};
}

}  // namespace unwrite::git
