#include "git/undo.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <optional>

#include "git/closing.h"
#include "git/pull_requests.h"
#include "git/push.h"
#include "git/revert.h"
#include "git/revert_request.h"
#include "git/traces.h"
#include "git/undo_checks.h"
#include "git/unpushed.h"

namespace unwrite::git {

namespace {

// Commits whose changes turn out to be gone already do not count; these stand in for them.
constexpr std::size_t kSpare = 8;

class Undo {
 public:
    Undo(const Repository& repository, const AttendedPrograms& programs, const UndoOptions& options)
        : repository_(repository), programs_(programs), options_(options) {
        report_.issue = options.issue;
        left_ = options.count;
        branch_ = options.branch.empty() ? with_issue(options.conventions.branch, options.issue)
                                         : options.branch;
    }

    Result<UndoReport> act() {
        TRY_ASSIGN(standing_, repository_.standing());
        TRY(check_underway(standing_));
        TRY(check_traces(options_));
        TRY(look_at_pull_requests());
        if (!open_.empty()) {
            TRY(close());
        } else {
            TRY(find());
            TRY(undo_found());
        }
        return std::move(report_);
    }

 private:
    bool something_done() const {
        return !report_.reverted.empty() || !report_.earlier.empty() || !report_.closed.empty() ||
               !report_.revert_pull_request.empty();
    }

    Result<> undo_found() {
        const bool waits_for_push = options_.push && unpushed_.any();
        if (waits_for_push && (left_ == 0 || found_.code.empty())) return push_earlier();
        TRY_ASSIGN(const std::optional<PullRequest> merged, merged_request());
        if (merged) return undo_merged(*merged);
        if (!found_.code.empty()) return revert();
        say_nothing();
        return found_.any() ? Result<>() : say_closed();
    }

    Result<> begin() { return options_.before_change ? options_.before_change() : Result<>(); }

    // ---- pull requests

    Result<> look_at_pull_requests() {
        TRY_ASSIGN(const std::string remotes, repository_.ask({"remote"}));
        if (!options_.pull_requests || remotes.empty()) return {};
        const Result<PushTarget> target =
            push_target(repository_, standing_.branch, options_.remote);
        if (!target && (target.error().kind() != ErrorKind::kNotFound || options_.push ||
                        !options_.remote.empty())) {
            return target.error();
        }
        if (!target) {
            without_requests_ = "Pull requests were not checked: the branch has no remote.";
            return {};
        }
        remote_ = target->remote;
        const PullRequests requests(repository_);
        Result<std::vector<PullRequest>> open = requests.open(branch_);
        if (!open && open.error().kind() == ErrorKind::kNotFound) {
            without_requests_ = "Pull requests were not checked: " + open.error().message() + ".";
            return {};
        }
        if (!open) return open.error();
        open_ = *std::move(open);
        if (open_.empty()) {
            TRY_ASSIGN(merged_, requests.merged(branch_));
        }
        return {};
    }

    Result<> close() {
        TRY_ASSIGN(const ClosingPlan plan,
                   plan_closing(repository_, standing_, std::move(open_), branch_, remote_));
        if (options_.dry_run) {
            for (const PullRequest& request : plan.requests)
                report_.closed.push_back(request.url);
            report_.end = UndoEnd::kPlanned;
            return {};
        }
        TRY(begin());
        TRY(close_requests(repository_, plan, report_));
        if (programs_.interrupted()) report_.end = UndoEnd::kFailed;
        TRY(say_where_one_is());
        return finish();
    }

    /// The branch that is gone may have been the current one.
    Result<> say_where_one_is() {
        const Cleanup cleanup(repository_.programs());
        TRY_ASSIGN(const Standing now, repository_.standing());
        if (now.branch != standing_.branch)
            report_.notes.push_back("You are on the branch " + now.branch + " now.");
        return {};
    }

    /// The merged pull request that the newest commits came with, unless it was reverted since.
    Result<std::optional<PullRequest>> merged_request() {
        for (const PullRequest& request : merged_) {
            if (request.merge_commit.empty()) continue;
            TRY_ASSIGN(const std::optional<std::string> here,
                       repository_.commit_of(request.merge_commit));
            if (here && !standing_.head.empty()) {
                TRY_ASSIGN(const bool reverted,
                           is_reverted(repository_, standing_.head, request.merge_commit));
                if (reverted) continue;
            }
            TRY_ASSIGN(const bool brought, brought_by(request, here.has_value()));
            if (brought) return std::optional(request);
        }
        return std::optional<PullRequest>();
    }

    Result<bool> brought_by(const PullRequest& request, bool here) {
        // A task that has commits of its own elsewhere may have been undone there already.
        if (found_.code.empty()) return found_.undone.empty();
        const std::string& newest = found_.code[0].id;
        if (newest == request.merge_commit) return true;
        if (here) {
            TRY_ASSIGN(const ProcessOutcome range,
                       repository_.run({"rev-list", request.merge_commit, "--not",
                                        request.merge_commit + "^1", "--"}));
            if (range.exit_code == 0 && range.out.find(newest) != std::string::npos) return true;
        }
        TRY_ASSIGN(const std::vector<RequestedCommit> commits,
                   PullRequests(repository_).commits(request));
        return std::any_of(commits.begin(), commits.end(),
                           [&](const RequestedCommit& commit) { return commit.id == newest; });
    }

    Result<> undo_merged(const PullRequest& merged) {
        report_.merged_number = merged.number;
        report_.merged_commit = merged.merge_commit;
        TRY_ASSIGN(const std::optional<std::string> second,
                   repository_.commit_of(merged.merge_commit + "^2"));
        report_.merged_is_merge = second.has_value();
        report_.end = UndoEnd::kMerged;
        TRY_ASSIGN(const std::vector<PullRequest> there,
                   PullRequests(repository_).open(revert_branch(merged, options_.issue)));
        if (!there.empty()) {
            report_.revert_pull_request = there[0].url;
            return {};
        }
        if (options_.revert_merged && options_.dry_run) report_.end = UndoEnd::kPlanned;
        if (!options_.revert_merged || options_.dry_run) return {};
        TRY(begin());
        TRY(open_revert_request(repository_, merged, remote_, options_.conventions, report_));
        if (report_.conflicting.empty()) return finish();
        note_conflict();
        report_.end = UndoEnd::kConflict;
        return {};
    }

    // ---- commits

    Result<> find() {
        if (standing_.head.empty()) return {};
        TRY_ASSIGN(found_, find_agent_commits(repository_, standing_.head, options_.issue,
                                              options_.conventions, options_.count + kSpare));
        return find_earlier();
    }

    /// What an earlier run undid, but could not push or was not asked to.
    Result<> find_earlier() {
        if (found_.undone.empty() && !options_.push) return {};
        const Result<PushTarget> target =
            push_target(repository_, standing_.branch, options_.remote);
        if (!target) return {};  // told where it matters
        TRY_ASSIGN(unpushed_, find_unpushed(repository_, *target, options_.issue,
                                            options_.conventions, found_.undone, options_.push));
        if (!options_.push) return {};
        // That commit is made last: there is no need to know what it was made for.
        const std::size_t done = std::max<std::size_t>(unpushed_.undone.size(), unpushed_.state);
        left_ -= std::min(left_, done);
        return {};
    }

    Result<> push_earlier() {
        TRY(expect_branch(standing_));
        note_earlier();
        if (options_.dry_run) {
            report_.end = UndoEnd::kPlanned;
            return {};
        }
        TRY(begin());
        bring_to_remote();
        if (report_.pushed) return {};
        // What was undone before is not undone now.
        report_.end = UndoEnd::kFailed;
        report_.earlier.clear();
        return {};
    }

    void note_earlier() {
        if (!options_.push) return;
        for (const UndoneCommit& undone : unpushed_.undone) {
            report_.earlier.push_back(undone.commit);
            note_files(undone.commit);
        }
        if (!options_.dry_run) report_.revert_commit = unpushed_.newest;
    }

    void say_nothing() {
        report_.end = UndoEnd::kNothing;
        if (!found_.any()) {
            report_.errors.emplace_back("No agent commits found for this issue to undo.");
        } else if (!found_.undone.empty()) {
            report_.undone_before = true;
            report_.errors.emplace_back("The agent's commits for this issue were undone already.");
        } else if (found_.state_only > 0) {
            report_.errors.emplace_back(
                "The agent's recent commits for this issue only updated session state (no file "
                "changes to undo).");
        } else {
            report_.errors.emplace_back(
                "The agent's commits for this issue are empty (no file changes to undo).");
        }
        if (!without_requests_.empty()) report_.errors.push_back(without_requests_);
        if (standing_.shallow)
            report_.errors.emplace_back(
                "This clone is shallow; `git fetch --unshallow` gets older commits.");
        if (unpushed_.any())
            report_.notes.emplace_back(
                "What was undone is not pushed yet.\nhint: run the same "
                "command with --push to push it");
    }

    /// Where no commit was found, it may be because the pull request with them was closed.
    Result<> say_closed() {
        std::vector<PullRequest> closed;
        if (!remote_.empty() && without_requests_.empty()) {
            TRY_ASSIGN(closed, PullRequests(repository_).closed(branch_));
        }
        if (!closed.empty()) {
            report_.undone_before = true;
            report_.errors[0] =
                "The pull request for this issue was closed already: " + closed[0].url;
            return {};
        }
        report_.notes.push_back(fmt::format(
            "The history of this branch has no commit with the subject \"{}\"{}.\nhint: "
            "`unwrite git undo --issue {} --subject 'TEXT {{issue}}'` looks for another "
            "subject",
            with_issue(options_.conventions.subjects[0], options_.issue),
            options_.conventions.subjects.size() > 1 ? " or one of the other forms" : "",
            options_.issue));
        return {};
    }

    Result<> revert() {
        const std::size_t count = std::min(left_, found_.code.size());
        const std::vector<AgentCommit> asked(
            found_.code.begin(), found_.code.begin() + static_cast<std::ptrdiff_t>(count));
        TRY(check_commits(asked, standing_, left_));
        TRY(expect_branch(standing_));
        TRY(check_work_tree(repository_, options_.conventions, trace_files(repository_, options_)));
        PushTarget target;
        if (options_.push) {
            TRY_ASSIGN(target, push_target(repository_, standing_.branch, options_.remote));
        }
        if (!without_requests_.empty()) report_.errors.push_back(without_requests_);
        note_earlier();
        if (options_.dry_run) {
            for (const AgentCommit& commit : asked)
                note_reverted(commit);
            report_.notes.emplace_back("A dry run does not check whether later changes conflict.");
            report_.end = UndoEnd::kPlanned;
            return {};
        }
        TRY(begin());
        TRY(revert_each());
        return finish();
    }

    Result<> revert_each() {
        for (const AgentCommit& commit : found_.code) {
            if (report_.reverted.size() == left_) return {};
            const Result<> checked = check_commits({commit}, standing_, 1);
            if (!checked) return stop(checked.error());
            const Result<Reverted> reverted =
                revert_commit(repository_, commit, options_.conventions);
            if (!reverted) return stop(reverted.error());
            if (reverted->how == Reverted::How::kConflict) {
                report_.conflicting = commit.id;
                report_.in_the_way = reverted->conflicts;
                note_conflict();
                report_.end = UndoEnd::kConflict;
                return {};
            }
            if (reverted->how == Reverted::How::kEmpty) {
                report_.errors.push_back("Commit " + short_id(commit.id) +
                                         " was passed over: its changes are gone already.");
                continue;
            }
            report_.revert_commit = reverted->commit;
            note_reverted(commit);
        }
        say_fewer();
        return {};
    }

    /// Earlier reverts stand; without any, the failure is all there is to say.
    Result<> stop(const Error& error) {
        if (report_.reverted.empty() && report_.earlier.empty()) return error;
        report_.errors.push_back(error.number() == ECANCELED
                                     ? "Interrupted: the rest was not undone."
                                     : error.message());
        report_.end = UndoEnd::kFailed;
        return {};
    }

    void say_fewer() {
        const std::size_t done = report_.earlier.size() + report_.reverted.size();
        if (done == 0) {
            report_.end = UndoEnd::kNothing;
            report_.undone_before = true;
            report_.errors.emplace(report_.errors.begin(),
                                   "The agent's changes for this issue are gone already.");
        } else if (done < options_.count) {
            report_.errors.push_back(fmt::format(
                "Only {} of the {} commits asked for were there to undo.", done, options_.count));
        }
    }

    void note_reverted(const AgentCommit& commit) {
        report_.reverted.push_back(commit);
        note_files(commit);
    }

    void note_files(const AgentCommit& commit) {
        for (const std::string& file : code_files(commit, options_.conventions)) {
            if (std::find(report_.files.begin(), report_.files.end(), file) == report_.files.end())
                report_.files.push_back(file);
        }
    }

    void note_conflict() {
        report_.errors.push_back(
            "Could not cleanly revert commit " + short_id(report_.conflicting) +
            ". The changes may have been modified by subsequent commits. Manual intervention may "
            "be needed.");
    }

    // ---- afterwards

    /// The traces, the push, and how it ended.
    Result<> finish() {
        if (!something_done()) {
            if (report_.end == UndoEnd::kDone) report_.end = UndoEnd::kFailed;
            return {};
        }
        if (report_.end == UndoEnd::kMerged) report_.end = UndoEnd::kDone;
        if (report_.end != UndoEnd::kDone) report_.end = UndoEnd::kPartly;
        // A revert pull request has undone nothing until somebody merges it.
        if (!report_.revert_pull_request.empty()) return {};
        if (!report_.reverted.empty() || !report_.closed.empty()) {
            // What was done is told to the agent, also where the rest was interrupted.
            const Cleanup cleanup(repository_.programs());
            leave_traces(repository_, options_, report_);
        }
        if (options_.push) {
            bring_to_remote();
        } else {
            say_not_pushed();
        }
        return {};
    }

    void say_not_pushed() {
        if (report_.revert_commit.empty() && report_.state_commit.empty()) return;
        const Cleanup cleanup(repository_.programs());
        const Result<PushTarget> target =
            push_target(repository_, standing_.branch, options_.remote);
        if (!target) return;
        report_.notes.push_back("Not pushed to " + target->remote +
                                " yet.\nhint: run the same command with --push to push it");
    }

    void bring_to_remote() {
        if (report_.revert_commit.empty() && report_.state_commit.empty() && !unpushed_.any()) {
            return;
        }
        if (programs_.interrupted()) {
            report_.errors.emplace_back("Interrupted: nothing was pushed.");
        } else {
            const Result<> done = push_commits();
            if (!done && done.error().number() == ECANCELED) {
                report_.errors.emplace_back(
                    "Interrupted while pushing; the remote may have the commits or not.");
            } else if (!done) {
                report_.errors.push_back("Could not push: " + done.error().message());
            }
        }
        if (report_.pushed) return;
        report_.end = UndoEnd::kPartly;
        std::string& last = report_.errors.back();
        if (!last.ends_with('.')) last += '.';
        last += " The commits are in the local branch.";
        report_.notes.emplace_back(
            "hint: run the same command again; it pushes and undoes nothing twice");
    }

    Result<> push_commits() {
        TRY_ASSIGN(const Standing now, repository_.standing());
        TRY_ASSIGN(const PushTarget target, push_target(repository_, now.branch, options_.remote));
        Renamed renamed;
        const Result<Pushed> pushed = push(repository_, target, renamed);
        TRY(name_again(now.head, renamed));
        if (!pushed) return pushed.error();
        report_.pushed = pushed->done;
        if (!pushed->done) report_.errors.push_back(pushed->error);
        return {};
    }

    /// A rebase gives the commits other names, or drops one where others did the same.
    Result<> name_again(const std::string& before, const Renamed& renamed) {
        const Cleanup cleanup(repository_.programs());
        TRY_ASSIGN(const std::string head, repository_.line({"rev-parse", "HEAD"}));
        if (head == before) return {};
        if (!report_.state_commit.empty()) {
            TRY_ASSIGN(const std::string subject, repository_.line({"log", "-1", "--format=%s"}));
            const std::string state = with_issue(options_.conventions.state_commit, options_.issue);
            report_.state_commit = subject == state ? head : "";
        }
        for (std::vector<AgentCommit>* list : {&report_.reverted, &report_.earlier}) {
            for (AgentCommit& commit : *list) {
                const auto found = renamed.find(commit.id);
                if (found != renamed.end()) commit.id = found->second;
            }
        }
        const std::vector<AgentCommit>& undone =
            report_.reverted.empty() ? report_.earlier : report_.reverted;
        if (undone.empty()) return {};
        TRY_ASSIGN(report_.revert_commit, revert_of(repository_, head, undone.back().id));
        return {};
    }

    const Repository& repository_;
    const AttendedPrograms& programs_;
    const UndoOptions& options_;
    std::string branch_;
    std::string remote_;
    Standing standing_;
    std::vector<PullRequest> open_;
    std::vector<PullRequest> merged_;
    std::string without_requests_;  ///< why pull requests were not looked at
    Found found_;
    Unpushed unpushed_;
    std::size_t left_ = 0;  ///< how many are still to be reverted
    UndoReport report_;
};

}  // namespace

Result<UndoReport> undo(Programs& programs, const std::string& directory,
                        const UndoOptions& options) {
    TRY(check_options(options));
    AttendedPrograms attended(programs, options.attendant);
    TRY_ASSIGN(const Repository repository, Repository::open(attended, directory));
    Result<UndoReport> report = Undo(repository, attended, options).act();
    if (report || report.error().number() != ECANCELED) return report;
    return Error(ErrorKind::kSystem, ECANCELED, report.error().message() + "; nothing was undone",
                 report.error().advice());
}

}  // namespace unwrite::git
