#include "git/traces.h"

#include "base/clock.h"
#include "git/notes.h"
#include "git/undo_checks.h"

namespace unwrite::git {

namespace {

Result<> write_traces(const UndoOptions& options, UndoReport& report) {
    const UndoneWork work{options.issue, report.files, report.closed};
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
    Arguments list = {"ls-files", "-z", "--cached", "--others", "--exclude-standard", "--"};
    for (const std::string& file : trace_files(repository, options)) {
        TRY_ASSIGN(const bool there, is_there(repository.root() + "/" + file));
        if (there) list.push_back(file);
    }
    if (list.back() == "--") return {};
    TRY_ASSIGN(const std::string names, repository.ask(list));
    const Arguments paths = split_nul(names);  // those that are not ignored
    if (paths.empty()) return {};
    TRY_ASSIGN(const Standing standing, repository.standing());
    if (standing.branch.empty() || !standing.underway.empty()) return {};
    Arguments add = {"add", "--"};
    add.insert(add.end(), paths.begin(), paths.end());
    TRY(repository.ask(add));
    Arguments compare = {"diff", "--cached", "--quiet", "--"};
    compare.insert(compare.end(), paths.begin(), paths.end());
    TRY_ASSIGN(const ProcessOutcome same, repository.run(compare));
    if (same.exit_code == 0) return {};
    Arguments commit = {"commit", "--quiet", "--no-verify", "--file=-", "--only", "--"};
    commit.insert(commit.end(), paths.begin(), paths.end());
    const std::string message = with_issue(options.conventions.state_commit, options.issue);
    TRY(repository.ask(commit, Extra{.input = message + "\n"}));
    TRY_ASSIGN(report.state_commit, repository.line({"rev-parse", "HEAD"}));
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
