// What is said of a task that somebody began with `unwrite task`, and of a repository that the task
// does not hold.
#pragma once

#include <optional>
#include <string>

#include "cli/context.h"
#include "overlay/operations.h"

namespace unwrite::cli {

/// What the node at which a task begins is asked for with: it carries the name.
std::string task_cause(const std::string& name);
/// The name, by the tags of that node; "" is a task without a name. Nothing when it began at the
/// mount or at a commit.
std::optional<std::string> task_name(const std::map<std::string, std::string>& tags);
/// "Task fix", "A task".
std::string task_title(const std::string& name);

/// Where the git repository of the workspace is, when it is not inside: a linked worktree, a
/// submodule, or a directory below the top of a work tree. "" when it is inside, or there is none.
std::string repository_outside(const std::string& root);
/// Whether commands of a run see it through the mount, so that what they do there is recorded.
bool is_recorded_in_runs(const std::string& root);
/// One sentence about it; "" where it is inside.
std::string repository_outside_words(const std::string& root);
/// The same on notes.
void tell_repository_outside(Context& context, const std::string& root);

/// On notes: the disk is almost full. `changed`: there is something to commit.
void tell_out_of_room(Context& context, bool changed);

}  // namespace unwrite::cli
