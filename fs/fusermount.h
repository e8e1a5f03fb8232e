// fusermount3: the setuid program through which others than root mount and unmount.
#pragma once

#include <string>

#include "base/result.h"

namespace unwrite::fs {

/// Its path, or empty.
std::string find_fusermount();
/// EBUSY stands for every refusal that is not lazy (the program tells no more).
Result<> fusermount_unmount(const std::string& path, bool lazily);

}  // namespace unwrite::fs
