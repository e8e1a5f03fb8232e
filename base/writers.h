// Who else writes to a file: the kernel tells it to whoever asks for a read lease (fcntl(2),
// F_SETLEASE), which is given only where nobody has the file open for writing. Linux only.
#pragma once

#include "base/result.h"

namespace unwrite::sys {

/// Whether any process has the regular file open for writing, or mapped so that it can store to it.
/// `fd` may be a path; our own descriptors count too. The lease is given back at once; who opens
/// the file for writing in between waits for that. EINVAL where the filesystem has no leases,
/// EACCES without CAP_LEASE for a file of another user.
Result<bool> is_open_for_writing(int fd);

}  // namespace unwrite::sys
