// The history as text: one line for each step. Pure functions.
#pragma once

#include <string>

#include "cli/ansi.h"
#include "overlay/operations.h"

namespace unwrite::cli {

/// `log` has its changes; with `list_changes` they are listed below each step.
///
///     now: 3 files since n7, 2 by you
///     @ n7    2026-01-02 03:04:05  run  make test  5 files by run-6 (make, cc)
///     * n5    2026-01-02 03:01:00  changes by you (vim)  2 files
std::string log_lines(const overlay::Log& log, bool list_changes, Colour colour);

/// The newest step that the live state has: a hidden node may be above it. The current node, where
/// there is none.
overlay::NodeNumber newest_step(const overlay::Log& log);

/// What made a step, in a few words: a command line, a checkpoint's name, "changes by you (vim)".
std::string step_title(const overlay::LogEntry& entry, const overlay::Log& log);

}  // namespace unwrite::cli
