// The Display of a real terminal. ncurses is known in curses_display.cpp alone.
#pragma once

#include <memory>

#include "cli/screen/display.h"

namespace unwrite::cli::screen {

/// On the terminal of stdin and stderr, which is as it was when the display is gone. Null where
/// the terminal cannot do this (dumb, or unknown). One at a time. `colour`: whether it may be used.
std::unique_ptr<Display> open_curses(bool colour);

}  // namespace unwrite::cli::screen
