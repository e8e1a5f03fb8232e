// Whether the shell that started this program sees the real directory and not the mount over it.
#pragma once

#include "cli/context.h"
#include "cli/workspace.h"

namespace unwrite::cli {

/// When the current directory lies in a mounted workspace by its name and is not in the mount: a
/// line that says what to type. Nothing in a shell that does it by itself (shell_init.h).
void tell_outside(Context& context, const Workspace& workspace);

}  // namespace unwrite::cli
