// What is said of things in lost+found (journal/lost_found.h).
#pragma once

#include <string>
#include <vector>

#include "overlay/operations.h"

namespace unwrite::cli {

/// Lines that say what is there, where to look and how to remove it; none when nothing is there.
std::vector<std::string> lost_lines(const journal::Lost& lost);

}  // namespace unwrite::cli
