#include "git/half_reverted.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <map>

#include "base/syscalls.h"
#include "git/in_the_way.h"

namespace unwrite::git {

namespace {

constexpr std::chrono::seconds kLong(600);

Error half_done(const std::vector<std::string>& names) {
    return Error(
        ErrorKind::kSystem, EIO,
        "git revert was ended half-way; these files may hold a part of its work: " + some_of(names),
        "`git diff` shows what differs, `git checkout HEAD -- FILE` puts a file back");
}

/// git killed between its new index and its note that a revert is under way.
Result<> reset_index(const Repository& repository) {
    TRY_ASSIGN(const std::vector<std::string> staged, repository.staged_files());
    if (staged.empty()) return {};
    TRY(repository.ask({"reset", "--quiet", "--merge"}, Extra{.timeout = kLong}));
    return {};
}

bool is_file(const Repository& repository, const std::string& path) {
    const Result<struct stat> st = sys::stat_at(AT_FDCWD, repository.root() + "/" + path);
    return st && S_ISREG(st->st_mode);
}

bool is_absent(const Repository& repository, const std::string& path) {
    return !sys::stat_at(AT_FDCWD, repository.root() + "/" + path);
}

/// The names that git would give to the contents of these files, if it has them: path to name.
Result<std::map<std::string, std::string>> contents_known(const Repository& repository,
                                                          const std::vector<std::string>& paths) {
    std::map<std::string, std::string> known;
    for (const std::string& path : paths) {
        if (!is_file(repository, path)) continue;
        TRY_ASSIGN(const std::string id, repository.line({"hash-object", "--", path}));
        TRY_ASSIGN(const ProcessOutcome there, repository.run({"cat-file", "-e", id}));
        if (there.exit_code == 0) known[path] = id;
    }
    return known;
}

/// The paths of the commit that the ended git may have written or removed.
struct Touched {
    std::vector<std::string> differing;       ///< tracked, and not as in HEAD
    std::map<std::string, std::string> made;  ///< not tracked, and there: path to old id
};

Result<Touched> touched(const Repository& repository, const AgentCommit& commit,
                        const Conventions& conventions, const std::set<std::string>& differs) {
    TRY_ASSIGN(const std::vector<std::string> names,
               repository.list({"ls-files", "-z"}, code_files(commit, conventions)));
    const std::set<std::string> tracked(names.begin(), names.end());
    Touched touched;
    for (const PathChange& change : commit.changes) {
        if (conventions.is_state(change.path)) continue;
        if (differs.contains(change.path)) touched.differing.push_back(change.path);
        if (!tracked.contains(change.path) && !is_absent(repository, change.path))
            touched.made[change.path] = change.old_id;
    }
    return touched;
}

/// Only bytes that git has are overwritten or removed: what somebody wrote meanwhile stays.
Result<> put_files_back(const Repository& repository, const AgentCommit& commit,
                        const Conventions& conventions,
                        const std::set<std::string>& changed_before) {
    TRY_ASSIGN(const std::vector<std::string> changed, repository.changed_files());
    std::set<std::string> left;
    for (const std::string& path : changed) {
        if (!conventions.is_state(path) && !changed_before.contains(path)) left.insert(path);
    }
    TRY_ASSIGN(const Touched files, touched(repository, commit, conventions, left));
    std::vector<std::string> all = files.differing;
    for (const auto& [path, id] : files.made)
        all.push_back(path);
    TRY_ASSIGN(const auto known, contents_known(repository, all));
    std::vector<std::string> ours;
    for (const std::string& path : files.differing) {
        if (!known.contains(path) && !is_absent(repository, path)) continue;
        ours.push_back(path);
        left.erase(path);
    }
    TRY(repository.list({"checkout", "--quiet", "HEAD"}, ours));
    for (const auto& [path, id] : files.made) {
        const auto found = known.find(path);
        const bool ours_too = found != known.end() && found->second == id;
        if (!ours_too || !sys::unlink(AT_FDCWD, repository.root() + "/" + path)) left.insert(path);
    }
    return left.empty() ? Result<>() : half_done({left.begin(), left.end()});
}

}  // namespace

Result<> abort_revert(const Repository& repository) {
    TRY_ASSIGN(const std::optional<std::string> begun, repository.commit_of("REVERT_HEAD"));
    if (!begun) return {};
    const Result<std::string> done = repository.ask({"revert", "--abort"}, Extra{.timeout = kLong});
    if (done) return {};
    return Error(ErrorKind::kSystem, EIO,
                 "could not take back a half-done revert: " + done.error().message(),
                 "`git revert --abort` does it");
}

Result<> put_back(const Repository& repository, const AgentCommit& commit,
                  const Conventions& conventions, const std::set<std::string>& changed_before) {
    Result<> done = reset_index(repository);
    if (done) done = put_files_back(repository, commit, conventions, changed_before);
    if (done || !done.error().advice().empty()) return done;
    return Error(ErrorKind::kSystem, EIO,
                 "git revert was ended half-way, and its work could not be taken back: " +
                     done.error().message(),
                 "`git status` shows what differs, `git checkout HEAD -- FILE` puts a file back");
}

}  // namespace unwrite::git
