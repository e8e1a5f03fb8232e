// Whether the shell that started this program sees the real directory and not the mount over it.
#pragma once

#include <string>

#include "cli/context.h"

namespace unwrite::cli {

/// True when the current directory, found by its path, is another one: a mount came over it, or the
/// mount that it was in has ended.
bool is_outside_mount();

/// The last line of `mount` and `run`, when that is so and the directory is below `root`: what to
/// type. Nothing in a shell that does it by itself (shell_init.h).
void tell_outside(Context& context, const std::string& root);

}  // namespace unwrite::cli
