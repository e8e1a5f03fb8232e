// Whether files can share blocks, so that a copy costs nothing, and whether one does.
#pragma once

#include <cstdint>

#include "base/result.h"

namespace unwrite::sys {

/// Whether files in that directory can (FICLONE). Tries it with two nameless files.
bool can_share_blocks(int directory);

/// How many bytes of the disk the file has for itself: would be free without it. What cannot be
/// told counts as its own. May write back what of the file is only in memory.
Result<std::uint64_t> own_bytes(int fd);

}  // namespace unwrite::sys
