// Whether there is such a path: a command that is given a name with a typing mistake should not
// answer with silence.
#pragma once

#include <string>

#include "cli/workspace.h"

namespace unwrite::cli {

/// `path` (relative to the root) is in the workspace now, or some state of the log has it.
Result<bool> is_known_path(Workspace& workspace, const std::string& path);

}  // namespace unwrite::cli
