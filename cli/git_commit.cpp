#include "cli/git_commit.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/syscalls.h"
#include "cli/git_words.h"
#include "cli/interruptions.h"
#include "cli/text.h"

namespace unwrite::cli {

namespace {

/// Where the workspace lies in the repository: "" at its top, else "a/b/".
Result<std::string> prefix_of(const std::string& workspace, const std::string& repository) {
    TRY_ASSIGN(const std::string inner, real_path("/", workspace));
    TRY_ASSIGN(const std::string outer, real_path("/", repository));
    if (inner == outer) return std::string();
    if (!inner.starts_with(outer + "/")) {
        return Error(
            ErrorKind::kNotFound, ENOENT,
            "commit to git: the work tree " + quote_name(outer) + " is not around the workspace");
    }
    return inner.substr(outer.size() + 1) + "/";
}

/// Whether the file .git names a repository in a directory of the workspace.
bool names_a_place_within(const std::string& workspace) {
    const Result<std::string> file = sys::read_file_at(AT_FDCWD, workspace + "/.git");
    constexpr std::string_view kWord = "gitdir: ";
    if (!file || !file->starts_with(kWord)) return true;
    const std::string text = file->substr(kWord.size(), file->find('\n') - kWord.size());
    const Result<std::string> inner = real_path("/", workspace);
    const Result<std::string> place =
        real_path("/", text.starts_with('/') ? text : workspace + "/" + text);
    return !inner || !place || place->starts_with(*inner + "/");
}

}  // namespace

Result<> expect_git_message(const std::string& message) {
    if (!message.empty()) return {};
    return Error(ErrorKind::kUsage, EINVAL, "commit: --git needs a message",
                 "`unwrite commit --git -m TEXT`");
}

Result<> expect_own_git_untouched(Workspace& workspace) {
    TRY_ASSIGN(const overlay::Status status, workspace.operations().status("", false));
    const git::GitState before = git_state_of(status.tags);
    git::GitState now = git_state_of(workspace.root());
    if (now.layout == git::Layout::kFile && names_a_place_within(workspace.root())) {
        return Error(ErrorKind::kConflict, EBUSY,
                     "commit: --git with paths does not work here, because the repository lies "
                     "elsewhere in the workspace",
                     "`unwrite commit --git -m TEXT` accepts everything");
    }
    now.index = before.index;
    now = without_accepted(before, std::move(now), status.changes);
    const std::string changed = git_change_words(before, now);
    if (changed.empty()) return {};
    return Error(ErrorKind::kConflict, EBUSY,
                 "commit: --git with paths cannot be used, because the task changed the repository "
                 "itself: " +
                     changed,
                 "`unwrite commit --git -m TEXT` accepts everything");
}

Result<> expect_git_of_person(Workspace& workspace, const git::Scope& settled) {
    TRY_ASSIGN(overlay::Status status, workspace.operations().status("", false));
    std::erase_if(status.changes,
                  [&](const overlay::Change& change) { return settled.covers(change.path); });
    const std::optional<std::string> path = what_git_obeys(status.changes);
    if (!path) return {};
    TRY_ASSIGN(const overlay::Log log, workspace.operations().log("", true, true));
    if (!agent_changed_what_git_obeys(log)) return {};
    const std::string name = quote_name(*path);
    return Error(
        ErrorKind::kRefused, EPERM,
        "git was not run, because an agent may have changed " + name + ", which says what git runs",
        "`unwrite diff " + name + "` shows the change, `unwrite commit " + name +
            "` accepts it, `unwrite restore " + name + "` takes it back");
}

Result<git::Accepted> commit_to_git(Workspace& workspace, const git::Scope& scope,
                                    const std::string& message) {
    TRY(expect_git_of_person(workspace));
    git::InstalledPrograms programs;
    TRY_ASSIGN(const git::Repository repository, git::Repository::open(programs, workspace.root()));
    TRY_ASSIGN(const std::string prefix, prefix_of(workspace.root(), repository.root()));
    git::Scope there;
    for (const std::string& path : scope.paths)
        there.paths.insert(prefix + path);
    for (const std::string& path : scope.except)
        there.except.insert(prefix + path);
    return git::commit_accepted(repository, there, message, Interruptions::happened);
}

std::vector<std::string> asked_for(const overlay::Decision& decision) {
    std::vector<std::string> paths = decision.keep;
    for (const overlay::Decision::Part& part : decision.parts)
        paths.push_back(part.path);
    return paths;
}

void keep_own_git(const Workspace& workspace, overlay::Decision& decision) {
    if (git_state_of(workspace.root()).layout == git::Layout::kDirectory)
        decision.keep.emplace_back(".git");
}

Result<> commit_what_was_kept(Context& context, Workspace& workspace,
                              const overlay::Decision& decision, const overlay::Decided& decided,
                              const std::string& message) {
    const Interruptions interruptions;
    TRY_ASSIGN(const overlay::Status status, workspace.operations().status("", false));
    const git::Scope scope = scope_of_part(decided, asked_for(decision), status.changes);
    TRY_ASSIGN(const git::Accepted accepted, commit_to_git(workspace, scope, message));
    print_accepted(context, accepted);
    overlay::Decision own{.text = "the git commit of it"};
    keep_own_git(workspace, own);
    if (!own.keep.empty()) TRY(workspace.operations().decide(asker(), own, false));
    return {};
}

void print_accepted(Context& context, const git::Accepted& accepted) {
    context.notes.line(
        fmt::format("git: {} on {}, {}", git::short_id(accepted.commit),
                    accepted.branch.empty() ? "no branch" : quote_name(accepted.branch),
                    counted(accepted.files.size(), "file", "files")));
    for (const std::string& path : accepted.left_out)
        context.notes.line("git: not in it: " + quote_name(path));
    for (const auto& [path, blob] : accepted.staged_otherwise) {
        context.notes.line("git: of " + quote_name(path) +
                           " something else was staged; `git cat-file -p " + git::short_id(blob) +
                           "` shows it");
    }
}

}  // namespace unwrite::cli
