#include "git/closing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>

#include "git/in_the_way.h"

namespace unwrite::git {

namespace {

const std::string kHeads = "refs/heads/";
constexpr std::chrono::seconds kLong(600);

/// "<id>\trefs/heads/x" and "ref: refs/heads/main\tHEAD", as ls-remote --symref prints them.
void read_remote(const std::string& text, ClosingPlan& plan) {
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        const std::string line = text.substr(at, end - at);
        at = end + 1;
        const std::size_t tab = line.find('\t');
        if (tab == std::string::npos) continue;
        const std::string name = line.substr(tab + 1);
        const std::string symbolic = "ref: " + kHeads;
        if (name == "HEAD" && line.starts_with(symbolic)) {
            plan.fallback = line.substr(symbolic.size(), tab - symbolic.size());
            if (plan.fallback.starts_with('-')) plan.fallback.clear();  // no branch git would make
        }
        if (name == kHeads + plan.branch) plan.tip = line.substr(0, tab);
    }
}

Result<std::string> look_at_remote(const Repository& repository, const ClosingPlan& plan) {
    return repository.ask({"ls-remote", "--symref", plan.remote, "HEAD", kHeads + plan.branch});
}

/// `what` happened to the branch, and how to have it back.
std::string bring_back(const ClosingPlan& plan, const std::string& what) {
    return fmt::format(
        "{} the branch {} at {}; it was at {}.\nhint: `git push {} {}:{}{}` brings it back", what,
        plan.branch, plan.remote, plan.tip, plan.remote, plan.tip, kHeads, plan.branch);
}

Result<> delete_remote_branch(const Repository& repository, const ClosingPlan& plan,
                              UndoReport& report) {
    if (plan.tip.empty()) return {};
    ClosingPlan now = plan;
    now.tip.clear();
    TRY_ASSIGN(const std::string text, look_at_remote(repository, plan));
    read_remote(text, now);
    if (!now.tip.empty()) {
        // The lease keeps what somebody pushed there since.
        TRY_ASSIGN(const ProcessOutcome outcome,
                   repository.run({"push", "--porcelain",
                                   "--force-with-lease=" + kHeads + plan.branch + ":" + plan.tip,
                                   plan.remote, ":" + kHeads + plan.branch}));
        if (outcome.exit_code != 0) {
            report.errors.push_back("The branch " + plan.branch + " could not be deleted at " +
                                    plan.remote + ": " + words_of(outcome));
            return {};
        }
    }
    report.notes.push_back(bring_back(plan, "Deleted"));
    return {};
}

/// The branch as it is here, before gh has touched it.
struct LocalBranch {
    std::string tip;          ///< "" when there is none
    std::string unpublished;  ///< how many of its commits are nowhere else; "0" for none
};

Result<LocalBranch> look_at_local(const Repository& repository, const ClosingPlan& plan) {
    TRY_ASSIGN(const std::optional<std::string> tip, repository.commit_of(kHeads + plan.branch));
    if (!tip) return LocalBranch{};
    // What the remote says of the branch now counts, not what was known of it here.
    Arguments count = {"rev-list", "--count", *tip, "--not"};
    if (!plan.tip.empty()) count.push_back(plan.tip);
    count.insert(count.end(), {"--exclude=" + plan.remote + "/" + plan.branch, "--remotes",
                               "--exclude=" + plan.branch, "--branches", "--tags", "--"});
    TRY_ASSIGN(std::string unpublished, repository.line(count));
    return LocalBranch{*tip, std::move(unpublished)};
}

/// Without its commits a branch that is deleted at the remote could not be brought back from here.
Result<> fetch_tip(const Repository& repository, const ClosingPlan& plan) {
    if (plan.tip.empty()) return {};
    TRY_ASSIGN(const std::optional<std::string> known, repository.commit_of(plan.tip));
    if (known) return {};
    TRY(repository.ask({"fetch", "--quiet", "--no-tags", plan.remote, kHeads + plan.branch},
                       Extra{.timeout = kLong}));
    return {};
}

Result<> keep_local_branch(const Repository& repository, const ClosingPlan& plan,
                           const LocalBranch& local, bool closed, UndoReport& report) {
    const Cleanup cleanup(repository.programs());
    TRY_ASSIGN(const std::optional<std::string> now, repository.commit_of(kHeads + plan.branch));
    if (now && !closed) return {};  // nobody wanted to delete it
    if (!now) TRY(repository.ask({"branch", "--no-track", "--", plan.branch, local.tip}));
    report.errors.push_back(fmt::format(
        "The local branch {} stays: {} of its commits are in no other branch and at no remote; "
        "`git branch -D {}` deletes it.",
        plan.branch, local.unpublished, plan.branch));
    return {};
}

Result<> delete_local_branch(const Repository& repository, const ClosingPlan& plan,
                             UndoReport& report) {
    TRY_ASSIGN(const std::optional<std::string> tip, repository.commit_of(kHeads + plan.branch));
    if (!tip) return {};
    TRY_ASSIGN(const Standing standing, repository.standing());
    std::string failure;
    if (standing.branch == plan.branch) {
        TRY_ASSIGN(const ProcessOutcome outcome,
                   repository.run({"switch", "--quiet", "--no-guess", "--no-overwrite-ignore",
                                   plan.fallback}));
        if (outcome.exit_code != 0) failure = words_of(outcome);
    }
    if (failure.empty()) {
        TRY_ASSIGN(const ProcessOutcome outcome,
                   repository.run({"branch", "--quiet", "-D", "--", plan.branch}));
        if (outcome.exit_code != 0) failure = words_of(outcome);
    }
    if (!failure.empty())
        report.errors.push_back("The local branch " + plan.branch + " stays: " + failure);
    return {};
}

/// gh goes to the default branch, and would not ask either.
Result<> expect_free_way(const Repository& repository, const ClosingPlan& plan) {
    for (const std::string& name :
         {kHeads + plan.fallback, "refs/remotes/" + plan.remote + "/" + plan.fallback}) {
        TRY_ASSIGN(const std::optional<std::string> there, repository.commit_of(name));
        if (!there) continue;
        TRY_ASSIGN(const std::vector<std::string> added, paths_added(repository, "HEAD", *there));
        return expect_no_unknown_files(repository, "cannot switch to " + plan.fallback, added);
    }
    return {};
}

enum class Closing { kDone, kFailed, kInterrupted };

void say_interrupted(const ClosingPlan& plan, const PullRequest& request, UndoReport& report) {
    report.errors.push_back(
        fmt::format("Interrupted while closing PR #{}; `gh pr view {}` shows whether it is closed. "
                    "Nothing else was closed after it.",
                    request.number, request.number));
    if (plan.tip.empty()) return;
    report.notes.push_back(bring_back(plan, "Perhaps deleted"));
}

Closing close_one(const Repository& repository, const PullRequest& request, UndoReport& report) {
    const std::string comment = fmt::format("🔙 Closed by `/undo` on issue #{}.", report.issue);
    std::string complaint;
    const Result<bool> closed = PullRequests(repository).close(request, comment, complaint);
    if (!closed && closed.error().number() == ECANCELED) return Closing::kInterrupted;
    if (!closed) {
        report.errors.push_back(
            fmt::format("Failed to close PR #{}: {}", request.number, closed.error().message()));
        return Closing::kFailed;
    }
    if (!*closed) {
        report.errors.push_back(
            fmt::format("PR #{} is closed, but gh said: {}", request.number, complaint));
    }
    report.closed.push_back(request.url);
    return Closing::kDone;
}

/// True when all are closed.
bool close_all(const Repository& repository, const ClosingPlan& plan, UndoReport& report) {
    bool all = true;
    for (const PullRequest& request : plan.requests) {
        const Closing ended = close_one(repository, request, report);
        if (ended == Closing::kInterrupted) {
            say_interrupted(plan, request, report);
            return false;
        }
        all = all && ended == Closing::kDone;
    }
    return all;
}

}  // namespace

Result<ClosingPlan> plan_closing(const Repository& repository, const Standing& standing,
                                 std::vector<PullRequest> requests, const std::string& branch,
                                 const std::string& remote) {
    ClosingPlan plan{std::move(requests), branch, remote, {}, {}};
    TRY_ASSIGN(const std::string text, look_at_remote(repository, plan));
    read_remote(text, plan);
    if (branch == plan.fallback) {
        return Error(
            ErrorKind::kUsage, EINVAL,
            branch + " is the default branch of " + remote + ", which git undo never deletes",
            "`unwrite git undo --issue K --branch B` names the task's branch");
    }
    if (standing.branch != branch) return plan;
    TRY_ASSIGN(const std::vector<std::string> changed, repository.changed_files());
    if (!changed.empty()) {
        return Error(ErrorKind::kConflict, EBUSY,
                     "the branch " + branch +
                         " cannot be deleted: it is checked out here, with uncommitted changes: " +
                         some_of(changed),
                     "`git commit` or `git stash` them first");
    }
    TRY(expect_free_way(repository, plan));
    return plan;
}

Result<> close_requests(const Repository& repository, const ClosingPlan& plan, UndoReport& report) {
    TRY(fetch_tip(repository, plan));
    TRY_ASSIGN(const LocalBranch local, look_at_local(repository, plan));
    const bool all = close_all(repository, plan, report);
    const bool keep = !local.tip.empty() && local.unpublished != "0";
    Result<> there = all ? delete_remote_branch(repository, plan, report) : Result<>();
    Result<> here = {};
    if (keep) {
        here = keep_local_branch(repository, plan, local, all, report);
    } else if (all) {
        here = delete_local_branch(repository, plan, report);
    }
    for (const Result<>& step : {there, here}) {
        if (step) continue;
        if (step.error().number() != ECANCELED) {
            report.errors.push_back(step.error().message());
            continue;
        }
        report.errors.push_back("Interrupted: the branch " + plan.branch +
                                " may still be here or at " + plan.remote + ".");
        if (!there && !plan.tip.empty())
            report.notes.push_back(bring_back(plan, "Perhaps deleted"));
        break;
    }
    return {};
}

}  // namespace unwrite::git
