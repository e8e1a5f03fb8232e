// Named places at which the crash tests kill the process. In normal life they cost one load and a
// branch.
#pragma once

#include <string_view>

namespace unwrite {

/// Kills the process with SIGKILL when UNWRITE_CRASH_AT is "<name>:<n>" and this is the n-th
/// passage (counted from 1) of the point with that name in this process; with UNWRITE_CRASH_AT
/// "*:<n>" any point counts. When UNWRITE_CRASH_LIST names a file, each passage appends the point's
/// name to it.
void crash_point(std::string_view name);

/// Forgets the passages and reads the environment again at the next one (for tests that fork).
void reset_crash_points();

}  // namespace unwrite
