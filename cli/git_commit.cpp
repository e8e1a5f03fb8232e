#include "cli/git_commit.h"

#include <fmt/format.h>

#include <cerrno>
#include <set>

#include "cli/git_words.h"
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

}  // namespace

Result<> expect_git_message(const std::string& message) {
    if (!message.empty()) return {};
    return Error(ErrorKind::kUsage, EINVAL, "commit to git: it needs a message",
                 "give one with -m");
}

Result<> expect_own_git_untouched(Workspace& workspace) {
    TRY_ASSIGN(const overlay::Status status, workspace.operations().status("", false));
    const git::GitState before = git_state_of(status.tags);
    git::GitState now = git_state_of(workspace.root());
    now.index = before.index;
    const std::string changed = git_change_words(before, now);
    if (changed.empty()) return {};
    return Error(ErrorKind::kConflict, EBUSY,
                 "commit --git PATH: the task changed the repository itself: " + changed,
                 "accept everything, or leave --git out");
}

Result<git::Accepted> commit_to_git(const Workspace& workspace,
                                    const std::vector<overlay::Change>& changes,
                                    const std::string& message) {
    git::InstalledPrograms programs;
    TRY_ASSIGN(const git::Repository repository, git::Repository::open(programs, workspace.root()));
    TRY_ASSIGN(const std::string prefix, prefix_of(workspace.root(), repository.root()));
    std::set<std::string> paths;
    for (const overlay::Change& change : changes) {
        paths.insert(prefix + change.path);
        if (!change.old_path.empty()) paths.insert(prefix + change.old_path);
    }
    return git::commit_accepted(repository, paths, message);
}

void keep_own_git(const Workspace& workspace, overlay::Decision& decision) {
    if (git_state_of(workspace.root()).layout == git::Layout::kDirectory)
        decision.keep.emplace_back(".git");
}

Result<> commit_what_was_kept(Context& context, Workspace& workspace,
                              const std::vector<overlay::Change>& kept,
                              const std::string& message) {
    TRY_ASSIGN(const git::Accepted accepted, commit_to_git(workspace, kept, message));
    print_accepted(context, accepted);
    overlay::Decision decision{.text = "the git commit of it"};
    keep_own_git(workspace, decision);
    if (!decision.keep.empty()) TRY(workspace.operations().decide(asker(), decision, false));
    return {};
}

void print_accepted(Context& context, const git::Accepted& accepted) {
    context.notes.line(
        fmt::format("git: {} on {}, {}", git::short_id(accepted.commit),
                    accepted.branch.empty() ? "no branch" : quote_name(accepted.branch),
                    counted(accepted.files.size(), "file", "files")));
    for (const std::string& path : accepted.left_out)
        context.notes.line("git: not in it: " + quote_name(path));
}

}  // namespace unwrite::cli
