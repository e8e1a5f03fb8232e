#include "git/push.h"

#include <cerrno>

namespace unwrite::git {

namespace {

constexpr int kTries = 3;
constexpr std::chrono::seconds kLong(600);

bool is_protected(const ProcessOutcome& outcome) {
    for (const char* words : {"protected branch", "GH006", "GH013"}) {
        if (outcome.err.find(words) != std::string::npos ||
            outcome.out.find(words) != std::string::npos) {
            return true;
        }
    }
    return false;
}

std::string protected_words(const PushTarget& target) {
    return "The branch " + target.branch +
           " is protected, so the reverts are in the local branch only. Push them to another "
           "branch (`git push " +
           target.remote + " HEAD:refs/heads/undo`) and open a pull request.";
}

/// False: what others pushed conflicts with the new commits; nothing was changed then.
Result<bool> rebase(const Repository& repository, const PushTarget& target) {
    TRY_ASSIGN(const ProcessOutcome outcome,
               repository.run({"-c", "rebase.autoStash=true", "pull", "--quiet", "--rebase=merges",
                               "--no-tags", target.remote, "refs/heads/" + target.branch},
                              Extra{.timeout = kLong}));
    if (outcome.exit_code == 0) return true;
    TRY_ASSIGN(const Standing standing, repository.standing());
    if (standing.underway != "rebase") return true;  // the next push says what is wrong
    const Result<std::string> aborted =
        repository.ask({"rebase", "--abort"}, Extra{.timeout = kLong});
    if (aborted) return false;
    return Error(ErrorKind::kSystem, EIO,
                 "abort the rebase: " + aborted.error().message() + "; it is still underway",
                 "`git rebase --abort` ends it");
}

}  // namespace

Result<PushTarget> push_target(const Repository& repository, const std::string& branch,
                               const std::string& remote) {
    TRY_ASSIGN(const std::string followed, repository.configured("branch." + branch + ".remote"));
    TRY_ASSIGN(const std::string merged, repository.configured("branch." + branch + ".merge"));
    PushTarget target{remote, branch};
    if (target.remote.empty()) target.remote = followed;
    if (target.remote.empty() || target.remote == ".") {
        TRY_ASSIGN(const std::string only, repository.line({"remote"}));
        const bool one = !only.empty() && only.find('\n') == std::string::npos;
        target.remote = one ? only : "origin";
    }
    const std::string heads = "refs/heads/";
    if (target.remote == followed && merged.starts_with(heads)) {
        target.branch = merged.substr(heads.size());
    }
    TRY_ASSIGN(const ProcessOutcome known,
               repository.run({"remote", "get-url", "--", target.remote}));
    if (known.exit_code == 0) return target;
    return Error(ErrorKind::kNotFound, ENOENT,
                 "push " + branch + ": there is no remote " + target.remote,
                 "leave --push out, or add one with `git remote add`");
}

Result<Pushed> push(const Repository& repository, const PushTarget& target) {
    Pushed pushed;
    TRY_ASSIGN(const std::string before, repository.line({"rev-parse", "HEAD"}));
    const Arguments arguments = {"push", "--porcelain", target.remote,
                                 "HEAD:refs/heads/" + target.branch};
    for (int tries = 1;; ++tries) {
        TRY_ASSIGN(const ProcessOutcome outcome,
                   repository.run(arguments, Extra{.timeout = kLong}));
        if (outcome.exit_code == 0) {
            pushed.done = true;
            break;
        }
        if (is_protected(outcome)) {
            pushed.error = protected_words(target);
            break;
        }
        if (tries == kTries) {
            pushed.error = "Could not push to " + target.remote + " after " +
                           std::to_string(kTries) + " tries: " + words_of(outcome);
            break;
        }
        TRY_ASSIGN(const bool rebased, rebase(repository, target));
        if (!rebased) {
            pushed.error = "Could not push: what was pushed to " + target.branch +
                           " meanwhile conflicts with the reverts, which are in the local branch "
                           "only.";
            break;
        }
    }
    TRY_ASSIGN(const std::string after, repository.line({"rev-parse", "HEAD"}));
    pushed.rebased = before != after;
    return pushed;
}

}  // namespace unwrite::git
