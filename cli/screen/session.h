// A review from its first frame to its end: keys go in, frames come out, programs get the terminal
// in between.
#pragma once

#include "cli/screen/display.h"
#include "cli/screen/review.h"

namespace unwrite::cli::screen {

/// `root`: where the files are, for an editor. True when the decision was carried out; false when
/// the person left, and nothing was done.
Result<bool> hold_review(Display& display, Review& review, const std::string& root,
                         Charset charset);

}  // namespace unwrite::cli::screen
