// Write-back: dirty pages of a file on their way to the disk.
#pragma once

#include "base/result.h"

namespace unwrite::sys {

/// Starts to write the file's dirty pages, and waits for none of them.
Result<> begin_write_back(int fd);

}  // namespace unwrite::sys
