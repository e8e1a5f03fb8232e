// Boot mark: tells whether all that was written to a filesystem is still there as it was written.
// While the same kernel has the same filesystem mounted, a killed process loses nothing; after a
// power cut, or when a disk was pulled out, the mark is another one.
#pragma once

#include <string>

namespace unwrite::sys {

/// The boot of the running kernel and, where the kernel can tell, the mount that the open
/// descriptor `fd` lies on. Empty when the boot is not known: equal to nothing, then.
std::string boot_mark(int fd);

}  // namespace unwrite::sys
