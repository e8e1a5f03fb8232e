#pragma once

#include "cli/commands/commands.h"

namespace unwrite::cli {

/// Why a path is refused; for agents too.
void add_why(CLI::App& app, Context& context);

}  // namespace unwrite::cli
