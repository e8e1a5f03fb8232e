// `commit --git`: what is accepted becomes one commit of the repository around the workspace.
#pragma once

#include <string>
#include <vector>

#include "cli/context.h"
#include "cli/git_scope.h"
#include "cli/workspace.h"

namespace unwrite::cli {

/// kUsage when there is none.
Result<> expect_git_message(const std::string& message);

/// A part of a task can become a commit only where the task made none itself: accepting one then
/// accepts the repository as it is. kConflict says what it did.
Result<> expect_own_git_untouched(Workspace& workspace);

/// Before this program runs git for a person: kRefused where an agent changed in this task which
/// programs git runs. What `settled` covers is passed over.
Result<> expect_git_of_person(Workspace& workspace, const git::Scope& settled = {});

/// Commits the files of this scope (from the workspace's root) and no others. Errors as of
/// git::commit_accepted and expect_git_of_person, and kNotFound without a repository; then nothing
/// was done. Within Interruptions, so that what comes ends the git, and not this program alone.
Result<git::Accepted> commit_to_git(Workspace& workspace, const git::Scope& scope,
                                    const std::string& message);

/// Keeps the repository at the workspace's root, if there is one: else a discard of the rest would
/// take the commit back.
void keep_own_git(const Workspace& workspace, overlay::Decision& decision);

/// The paths of a decision of which something is kept.
std::vector<std::string> asked_for(const overlay::Decision& decision);

/// After a decision: a git commit of what it kept, which stays as well. An error means that there
/// is no such commit; what was decided is done all the same.
Result<> commit_what_was_kept(Context& context, Workspace& workspace,
                              const overlay::Decision& decision, const overlay::Decided& decided,
                              const std::string& message);

/// "git: 1f2e3d4 on main, 3 files", and what was left out. On notes.
void print_accepted(Context& context, const git::Accepted& accepted);
}  // namespace unwrite::cli
