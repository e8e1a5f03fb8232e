// What the rules say of a path: those in force where the workspace is mounted, else those that the
// configuration would put in force.
#pragma once

#include "cli/workspace.h"

namespace unwrite::cli {

/// The mounted workspace at or above the base directory; nothing when it is not mounted.
Result<std::optional<Workspace>> mounted_workspace(const Context& context);
/// The root of the workspace at or above `directory`, which is not mounted.
Result<UniqueFd> raw_root(const std::string& directory);
Result<std::shared_ptr<const overlay::Policy>> configured_policy(const std::string& directory);
/// `path` as it was typed.
Result<overlay::Explained> explain_path(const Context& context, const std::string& path);

}  // namespace unwrite::cli
