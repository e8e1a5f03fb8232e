#include "git/undo_checks.h"

#include <fmt/format.h>

#include <cerrno>

#include "git/in_the_way.h"

namespace unwrite::git {

namespace {

Error usage(const std::string& why) {
    return Error(ErrorKind::kUsage, EINVAL, why);
}

Result<> check_clean(const Repository& repository, const Conventions& conventions,
                     const std::set<std::string>& spared) {
    TRY_ASSIGN(const std::vector<std::string> staged, repository.staged_files());
    if (!staged.empty()) {
        return Error(ErrorKind::kConflict, EBUSY, "there are staged changes: " + some_of(staged),
                     "`git commit` or `git stash` them first");
    }
    TRY_ASSIGN(std::vector<std::string> changed, repository.changed_files());
    std::erase_if(changed, [&](const std::string& name) {
        return conventions.is_state(name) || spared.contains(name);
    });
    if (changed.empty()) return {};
    return Error(ErrorKind::kConflict, EBUSY, "there are uncommitted changes: " + some_of(changed),
                 "`git commit` or `git stash` them first");
}

}  // namespace

Result<> check_options(const UndoOptions& options) {
    if (options.issue == 0) return usage("the number of the issue is 1 or more");
    if (options.count == 0) return usage("the number of commits is 1 or more");
    if (options.conventions.subjects.empty()) return usage("no subject to find commits by");
    for (const std::string& subject : options.conventions.subjects) {
        if (subject.find("{issue}") == std::string::npos) {
            return usage("the subject \"" + subject +
                         "\" has no {issue}: it would match the commits of every issue");
        }
        if (subject.find_first_of(std::string("\n\0", 2)) != std::string::npos) {
            return usage("a subject is one line");
        }
    }
    for (const std::string& path : options.conventions.state_paths) {
        if (path.empty() || path.starts_with('/')) {
            return usage("a state path is relative to the top of the repository");
        }
    }
    return {};
}

Result<> check_underway(const Standing& standing) {
    if (standing.underway.empty()) return {};
    const std::string article = standing.underway == "am" ? "an " : "a ";
    return Error(ErrorKind::kConflict, EBUSY,
                 article + standing.underway + " is under way in this repository",
                 how_to_end(standing.underway));
}

Result<> expect_branch(const Standing& standing) {
    if (!standing.branch.empty()) return {};
    return Error(ErrorKind::kSystem, EINVAL,
                 "HEAD is detached, so the reverts would be on no branch",
                 "`git switch BRANCH` goes to a branch");
}

Result<> check_work_tree(const Repository& repository, const Conventions& conventions,
                         const std::set<std::string>& spared) {
    TRY(check_clean(repository, conventions, spared));
    TRY_ASSIGN(const ProcessOutcome identity, repository.run({"var", "GIT_COMMITTER_IDENT"}));
    if (identity.exit_code == 0) return {};
    return Error(ErrorKind::kSystem, EINVAL,
                 "git has no name and address for the author of the reverts",
                 "`git config user.name NAME` and `git config user.email ADDRESS` set them");
}

Result<> check_commits(const std::vector<AgentCommit>& commits, const Standing& standing,
                       std::size_t wanted) {
    for (const AgentCommit& commit : commits) {
        if (commit.is_merge()) {
            const std::string id = short_id(commit.id);
            return Error(
                ErrorKind::kSystem, EINVAL,
                "commit " + id + " is a merge; undoing it would also undo the work of others",
                "`git show " + id + "` shows it, `git revert -m 1 " + id + "` reverts it");
        }
        if (standing.shallow && commit.parents.empty()) {
            return Error(
                ErrorKind::kSystem, EINVAL,
                "this clone is shallow and lacks what came before commit " + short_id(commit.id),
                "`git fetch --unshallow` gets the whole history");
        }
    }
    if (standing.shallow && commits.size() < wanted) {
        return Error(ErrorKind::kSystem, EINVAL,
                     fmt::format("this clone is shallow and has only {} of the {} commits",
                                 commits.size(), wanted),
                     "`git fetch --unshallow` gets the whole history");
    }
    return {};
}

std::string below_root(const Repository& repository, const std::string& path) {
    const std::string top = repository.root() == "/" ? "/" : repository.root() + "/";
    return path.starts_with(top) ? path.substr(top.size()) : "";
}

}  // namespace unwrite::git
