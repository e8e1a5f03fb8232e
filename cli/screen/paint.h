// What a review looks like. Pure: the same review gives the same frame.
#pragma once

#include "cli/screen/frame.h"
#include "cli/screen/review.h"

namespace unwrite::cli::screen {

Frame paint(const Review& review, Charset charset);

}  // namespace unwrite::cli::screen
