// Which directory `mount` and `run` mount.
#pragma once

#include <string>

#include "cli/context.h"
#include "cli/workspace.h"

namespace unwrite::cli {

/// The top of the git work tree around `directory`, which holds a `.git`; `directory` itself where
/// there is none, and where that top is, or holds, a home directory.
std::string usual_place(const std::string& directory);

/// A repository is there, as git sees it: an empty .git is none.
bool has_git(const std::string& directory);

/// Whether everything that somebody has is there: `directory` is /, a home directory, or holds one.
bool holds_a_home(const std::string& directory);

/// The directory to be mounted from `context.base`, named in a line on notes. Where a home would be
/// mounted a terminal is asked; kUsage without one, with `advice`. kNothing: it is not wanted.
Result<std::string> place_to_mount(Context& context, const std::string& advice);

/// The workspace that `run` works in, mounted if it is not: `named` (then the base of the context
/// is that directory from here on), the one around the base, or a new one at the usual place.
Result<Workspace> workspace_for_run(Context& context, const std::string& named);

}  // namespace unwrite::cli
