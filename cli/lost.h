// What is said of things in lost+found (journal/lost_found.h).
#pragma once

#include <string>
#include <vector>

#include "overlay/operations.h"

namespace unwrite::cli {

/// Lines that say what is there, where to look and how to remove it; none when nothing is there.
std::vector<std::string> lost_lines(const journal::Lost& lost);
/// The same of what cannot be taken back after a power cut: paths, of which the first are shown.
std::vector<std::string> unproved_lines(const std::vector<std::string>& paths);

}  // namespace unwrite::cli
