#include "git/traces.h"

#include <algorithm>

#include "base/clock.h"
#include "git/accept.h"
#include "git/notes.h"
#include "git/undo_checks.h"

namespace unwrite::git {

namespace {

/// What this run reverted; what an earlier one did was noted then.
std::vector<std::string> files_reverted(const UndoOptions& options, const UndoReport& report) {
    std::vector<std::string> files;
    for (const AgentCommit& commit : report.reverted) {
        for (const std::string& file : code_files(commit, options.conventions)) {
            if (std::find(files.begin(), files.end(), file) == files.end()) files.push_back(file);
        }
    }
    return files;
}

Result<> write_traces(const UndoOptions& options, UndoReport& report) {
    const UndoneWork work{options.issue, files_reverted(options, report), report.closed};
    const std::int64_t now = wall_clock_ns();
    if (!options.session.empty()) {
        TRY_ASSIGN(const bool there, is_there(options.session));
        if (there) TRY(append_to(options.session, session_lines(work, now), false));
        report.session_noted = there;
    }
    if (!options.memory.empty()) {
        TRY(append_to(options.memory, memory_line(work, now), true));
        report.memory_noted = true;
    }
    return {};
}

Result<> commit_traces(const Repository& repository, const UndoOptions& options,
                       UndoReport& report) {
    Scope scope;
    for (const std::string& file : trace_files(repository, options)) {
        TRY_ASSIGN(const bool there, is_there(repository.root() + "/" + file));
        if (there) scope.paths.insert(file);
    }
    if (scope.paths.empty()) return {};
    TRY_ASSIGN(const Standing standing, repository.standing());
    if (standing.branch.empty() || !standing.underway.empty()) return {};
    const std::string message = with_issue(options.conventions.state_commit, options.issue);
    Result<Accepted> commit = commit_scope(repository, scope, message, {"--no-verify"});
    if (!commit && commit.error().kind() == ErrorKind::kNothing) return {};  // ignored, or the same
    if (!commit) return commit.error();
    report.state_commit = commit->commit;
    return {};
}

}  // namespace

std::set<std::string> trace_files(const Repository& repository, const UndoOptions& options) {
    std::set<std::string> files;
    for (const std::string& path : {options.session, options.memory}) {
        const std::string below = below_root(repository, path);
        if (!below.empty()) files.insert(below);
    }
    return files;
}

Result<> check_traces(const UndoOptions& options) {
    for (const std::string& path : {options.session, options.memory}) {
        if (!path.empty()) TRY(is_there(path));
    }
    return {};
}

void leave_traces(const Repository& repository, const UndoOptions& options, UndoReport& report) {
    Result<> done = write_traces(options, report);
    if (done) done = commit_traces(repository, options, report);
    if (!done) report.errors.push_back(done.error().message());
}

}  // namespace unwrite::git
