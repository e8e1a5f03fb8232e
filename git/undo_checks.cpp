#include "git/undo_checks.h"

#include <fmt/format.h>

#include <cerrno>

#include "git/in_the_way.h"

namespace unwrite::git {

namespace {

Error usage(const std::string& why) {
    return Error(ErrorKind::kUsage, EINVAL, "git undo: " + why);
}

Result<> check_clean(const Repository& repository, const Conventions& conventions,
                     const std::set<std::string>& spared) {
    TRY_ASSIGN(const std::vector<std::string> staged, repository.staged_files());
    if (!staged.empty()) {
        return Error(ErrorKind::kConflict, EBUSY,
                     "git undo: there are staged changes: " + some_of(staged),
                     "`git commit` or `git stash` them first");
    }
    TRY_ASSIGN(std::vector<std::string> changed, repository.changed_files());
    std::erase_if(changed, [&](const std::string& name) {
        return conventions.is_state(name) || spared.contains(name);
    });
    if (changed.empty()) return {};
    return Error(ErrorKind::kConflict, EBUSY,
                 "git undo: there are uncommitted changes: " + some_of(changed),
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

Result<> check_work_tree(const Repository& repository, const Standing& standing,
                         const Conventions& conventions, const std::set<std::string>& spared) {
    if (!standing.underway.empty()) {
        return Error(ErrorKind::kConflict, EBUSY,
                     "git undo: a " + standing.underway + " is underway",
                     "finish or abort it first");
    }
    if (standing.branch.empty()) {
        return Error(ErrorKind::kSystem, EINVAL,
                     "git undo: HEAD is detached, so the reverts would be on no branch",
                     "`git switch BRANCH` first");
    }
    TRY(check_clean(repository, conventions, spared));
    TRY_ASSIGN(const ProcessOutcome identity, repository.run({"var", "GIT_COMMITTER_IDENT"}));
    if (identity.exit_code == 0) return {};
    return Error(ErrorKind::kSystem, EINVAL, "git undo: git does not know who commits",
                 "`git config user.name NAME` and `git config user.email ADDRESS`");
}

Result<> check_commits(const std::vector<AgentCommit>& commits, const Standing& standing,
                       std::size_t wanted) {
    for (const AgentCommit& commit : commits) {
        if (commit.is_merge()) {
            const std::string id = short_id(commit.id);
            return Error(ErrorKind::kSystem, EINVAL,
                         "git undo: commit " + id +
                             " is a merge; undoing it would undo the work of others as well",
                         "`git show " + id + "` shows it, `git revert -m 1 " + id + "` reverts it");
        }
        if (standing.shallow && commit.parents.empty()) {
            return Error(ErrorKind::kSystem, EINVAL,
                         "git undo: this clone is shallow and lacks what was before commit " +
                             short_id(commit.id),
                         "`git fetch --unshallow` first");
        }
    }
    if (standing.shallow && commits.size() < wanted) {
        return Error(ErrorKind::kSystem, EINVAL,
                     fmt::format("git undo: this clone is shallow and shows {} of {} commits",
                                 commits.size(), wanted),
                     "`git fetch --unshallow` first");
    }
    return {};
}

std::string below_root(const Repository& repository, const std::string& path) {
    const std::string top = repository.root() == "/" ? "/" : repository.root() + "/";
    return path.starts_with(top) ? path.substr(top.size()) : "";
}

}  // namespace unwrite::git
