#pragma once

#include "cli/commands/commands.h"

namespace unwrite::cli {

/// The tool revert_to_state for a person.
void add_revert_to_state(CLI::App& app, Context& context);

}  // namespace unwrite::cli
