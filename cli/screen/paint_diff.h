// The diff of the current file as lines of a frame.
#pragma once

#include "cli/screen/frame.h"
#include "cli/screen/review.h"

namespace unwrite::cli::screen {

/// At most `size.rows` lines, from where the review looks at it.
std::vector<Line> paint_diff(const Review& review, Size size, Charset charset);

}  // namespace unwrite::cli::screen
