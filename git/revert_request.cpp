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
            return sys::last_error().with_context("make a directory for the revert");
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
        return Error(ErrorKind::kSystem, EPROTO, "read git log: its records cannot be told apart");
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

Result<std::string> fetch_base(const Repository& repository, const PullRequest& merged,
                               const std::string& remote) {
    TRY(repository.ask({"fetch", "--quiet", "--no-tags", remote, "refs/heads/" + merged.base},
                       Extra{.timeout = kLong}));
    TRY_ASSIGN(const std::string base, repository.line({"rev-parse", "FETCH_HEAD"}));
    TRY_ASSIGN(const std::optional<std::string> known, repository.commit_of(merged.merge_commit));
    if (!known) {
        return Error(ErrorKind::kSystem, ENOENT,
                     "git undo: the merged commit " + short_id(merged.merge_commit) +
                         " is not in the history of " + merged.base,
                     "`git fetch --unshallow` may help");
    }
    TRY_ASSIGN(const bool reverted, is_reverted(repository, base, merged.merge_commit));
    if (!reverted) return base;
    return Error(ErrorKind::kNothing, ENOENT,
                 fmt::format("git undo: PR #{} was reverted already", merged.number));
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
    return Error(ErrorKind::kNothing, ENOENT, "git undo: what was merged is gone already");
}

/// A pushed branch without its pull request would be half of what was asked for.
Result<> take_branch_back(const Repository& repository, const std::string& remote,
                          const std::string& branch, const std::string& tip) {
    const std::string name = "refs/heads/" + branch;
    const Result<std::string> done = repository.ask(
        {"push", "--porcelain", "--force-with-lease=" + name + ":" + tip, remote, ":" + name});
    if (done) return {};
    return done.error().with_context("git undo: no pull request was opened, and the branch " +
                                     branch + " stays at " + remote);
}

}  // namespace

Result<> open_revert_request(const Repository& repository, const PullRequest& merged,
                             const std::string& remote, const Conventions& conventions,
                             UndoReport& report) {
    TRY_ASSIGN(const std::string base, fetch_base(repository, merged, remote));
    TRY_ASSIGN(const std::vector<AgentCommit> commits, merged_commits(repository, merged));
    TRY_ASSIGN(const Standing standing, repository.standing());
    if (standing.shallow && commits.back().parents.empty()) {
        return Error(ErrorKind::kSystem, EINVAL,
                     "git undo: this clone is shallow and lacks what was before commit " +
                         short_id(commits.back().id),
                     "`git fetch --unshallow` first");
    }
    const std::string branch = fmt::format("revert-{}-issue-{}", merged.number, report.issue);
    {
        TRY_ASSIGN(const SideTree side, SideTree::make(repository, base));
        TRY_ASSIGN(const bool clean,
                   revert_all(repository.at(side.path()), commits, conventions, report));
        if (!clean) return {};
    }
    // An empty lease: the branch must be new.
    TRY(repository.ask({"push", "--porcelain", "--force-with-lease=refs/heads/" + branch + ":",
                        remote, report.revert_commit + ":refs/heads/" + branch},
                       Extra{.timeout = kLong}));
    const std::string title = "Revert \"" + merged.title + "\"";
    const std::string body = fmt::format("Reverts #{}.\n\nAsked for by `/undo` on issue #{}.\n",
                                         merged.number, report.issue);
    Result<std::string> url = PullRequests(repository).create(branch, merged.base, title, body);
    if (!url) {
        TRY(take_branch_back(repository, remote, branch, report.revert_commit));
        return url.error().with_context("git undo: no pull request was opened");
    }
    report.revert_pull_request = *std::move(url);
    return {};
}

}  // namespace unwrite::git
