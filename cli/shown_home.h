// What a run that hides the home directory (--hide-home) shows of it all the same: programs, the
// settings of git, and what the user names. Nothing of it is known to hold secrets.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace unwrite::cli {

/// Paths below the home directory `home` (absolute and real), each once; not all of them are there.
/// `named` are absolute paths that the user wants to be shown: kUsage for one that is not there or
/// not below the home directory.
Result<std::vector<std::string>> shown_of_home(const std::string& home,
                                               const std::vector<std::string>& named);

}  // namespace unwrite::cli
