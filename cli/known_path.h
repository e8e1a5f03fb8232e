// Whether there is such a path or state: a command that is given a name with a typing mistake
// should not answer with silence.
#pragma once

#include <string>

#include "cli/workspace.h"

namespace unwrite::cli {

/// `path` (relative to the root) is in the workspace now, or some state of the log has it.
Result<bool> is_known_path(Workspace& workspace, const std::string& path);
/// A state of the log: nK, "root", or a checkpoint's name that no file in the directory `base` has
/// ("./NAME" is always a file).
Result<bool> names_state(overlay::Operations& operations, const std::string& base,
                         const std::string& word);

}  // namespace unwrite::cli
