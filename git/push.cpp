#include "git/push.h"

#include <algorithm>
#include <cerrno>
#include <set>

#include "git/in_the_way.h"

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
    return "Could not push: " + target.branch + " at " + target.remote +
           " is a protected branch. Push to another branch (`git push " + target.remote +
           " HEAD:refs/heads/undo`) and open a pull request.";
}

std::string stuck_words(const PushTarget& target, const std::string& why) {
    return "Could not push: " + target.branch + " at " + target.remote +
           " has new commits, and a rebase onto them " + why + ".";
}

/// The paths that the commits of HEAD that `theirs` has not touch, on their way to be made anew.
Result<std::vector<std::string>> replayed_paths(const Repository& repository,
                                                const std::string& theirs) {
    TRY_ASSIGN(const std::string commits, repository.ask({"rev-list", "HEAD", "--not", theirs}));
    TRY_ASSIGN(const std::string names,
               repository.ask({"diff-tree", "--stdin", "-r", "-m", "-z", "--root", "--name-only",
                               "--no-renames", "--no-commit-id"},
                              Extra{.input = commits}));
    return split_nul(names);
}

/// Why the reverts are better not put on top of `theirs`; "" when nothing speaks against it.
Result<std::string> obstacle(const Repository& repository, const std::string& theirs) {
    TRY_ASSIGN(const std::vector<std::string> staged, repository.staged_files());
    if (!staged.empty()) return "would unstage " + some_of(staged);
    TRY_ASSIGN(const ProcessOutcome compared,
               repository.run({"diff", "-z", "--name-only", "--no-renames", "HEAD..." + theirs}));
    const std::vector<std::string> names = split_nul(compared.out);
    const std::set<std::string> changed_there(names.begin(), names.end());
    TRY_ASSIGN(std::vector<std::string> touched, repository.changed_files());
    std::erase_if(touched, [&](const std::string& name) { return !changed_there.contains(name); });
    if (!touched.empty()) return "would meet uncommitted changes of " + some_of(touched);
    TRY_ASSIGN(std::vector<std::string> paths, paths_added(repository, "HEAD", theirs));
    TRY_ASSIGN(const std::vector<std::string> replayed, replayed_paths(repository, theirs));
    paths.insert(paths.end(), replayed.begin(), replayed.end());
    TRY_ASSIGN(const std::vector<std::string> unknown, unknown_files_at(repository, paths));
    return unknown.empty() ? ""
                           : "would overwrite files that git does not track: " + some_of(unknown);
}

Result<> abort_rebase(const Repository& repository) {
    const Result<std::string> aborted =
        repository.ask({"rebase", "--abort"}, Extra{.timeout = kLong});
    if (aborted) return {};
    return Error(ErrorKind::kSystem, EIO,
                 "a rebase is still under way and could not be ended: " + aborted.error().message(),
                 "`git rebase --abort` ends it");
}

/// As `git pull --rebase`, for a commit that was fetched. `fork`: what the branch was made on
/// before others rewrote theirs; "" if they have not.
Result<std::string> rebase(const Repository& repository, const PushTarget& target,
                           const std::string& theirs, const std::string& fork) {
    const Result<ProcessOutcome> outcome =
        repository.run({"-c", "rebase.autoStash=true", "rebase", "--quiet", "--rebase-merges",
                        "--onto", theirs, fork.empty() ? theirs : fork},
                       Extra{.timeout = kLong, .grace = kGraceForChanges});
    if (outcome && outcome->exit_code == 0) return std::string();
    const Cleanup cleanup(repository.programs());
    TRY_ASSIGN(const Standing standing, repository.standing());
    if (standing.underway == "rebase") {
        TRY(abort_rebase(repository));
        if (outcome) {
            return "Could not push: " + target.branch + " at " + target.remote +
                   " has new commits that conflict with the reverts.";
        }
    }
    if (!outcome) return outcome.error();
    return std::string();  // the next push says what is wrong
}

/// Puts the new commits on top of what others pushed meanwhile: why not, in a sentence, or "".
Result<std::string> catch_up(const Repository& repository, const PushTarget& target,
                             Renamed& renamed) {
    const std::string known = "refs/remotes/" + target.remote + "/" + target.branch;
    TRY_ASSIGN(const ProcessOutcome point,
               repository.run({"merge-base", "--fork-point", known, "HEAD"}));
    TRY_ASSIGN(const ProcessOutcome fetched,
               repository.run(
                   {"fetch", "--quiet", "--no-tags", target.remote, "refs/heads/" + target.branch},
                   Extra{.timeout = kLong}));
    if (fetched.exit_code != 0) return std::string();  // the next push says what is wrong
    TRY_ASSIGN(const std::string theirs, repository.line({"rev-parse", "FETCH_HEAD"}));
    TRY_ASSIGN(const ProcessOutcome had,
               repository.run({"merge-base", "--is-ancestor", theirs, "HEAD"}));
    if (had.exit_code == 0) return std::string();  // nothing new; it was refused for another reason
    TRY_ASSIGN(const std::string why, obstacle(repository, theirs));
    if (!why.empty()) return stuck_words(target, why);
    std::string fork = point.exit_code == 0 ? point.out.substr(0, point.out.find('\n')) : "";
    if (!fork.empty()) {
        TRY_ASSIGN(const ProcessOutcome inside,
                   repository.run({"merge-base", "--is-ancestor", fork, theirs}));
        if (inside.exit_code == 0) fork.clear();
    }
    TRY_ASSIGN(const std::string before, repository.line({"rev-parse", "HEAD"}));
    TRY_ASSIGN(const std::string stuck, rebase(repository, target, theirs, fork));
    if (!stuck.empty()) return stuck;
    const Cleanup cleanup(repository.programs());
    TRY_ASSIGN(const Renamed now, name_after_rebase(repository, before, theirs));
    for (auto& [old_id, new_id] : renamed) {
        const auto again = now.find(new_id);
        if (again != now.end()) new_id = again->second;
    }
    renamed.insert(now.begin(), now.end());
    return std::string();
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
    if (target.remote.starts_with('-')) {
        return Error(ErrorKind::kUsage, EINVAL,
                     "\"" + target.remote + "\" is not the name of a remote",
                     "`git remote` lists the remotes");
    }
    TRY_ASSIGN(const ProcessOutcome known,
               repository.run({"remote", "get-url", "--", target.remote}));
    if (known.exit_code == 0) return target;
    return Error(ErrorKind::kNotFound, ENOENT,
                 "this repository has no remote named " + target.remote,
                 "`git remote` lists the remotes, `git remote add` adds one; without --push none "
                 "is needed");
}

Result<Pushed> push(const Repository& repository, const PushTarget& target, Renamed& renamed) {
    Pushed pushed;
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
        TRY_ASSIGN(pushed.error, catch_up(repository, target, renamed));
        if (!pushed.error.empty()) break;
    }
    return pushed;
}

}  // namespace unwrite::git
