// Which processes use a directory, as /proc tells: those that must know before a mount or an
// unmount.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace unwrite::cli {

struct User {
    pid_t pid = 0;
    std::string command;     ///< as /proc/<pid>/comm
    bool directory = false;  ///< its current or root directory is there, or one that it has open
    bool files = false;      ///< it has descriptors of other objects there
    bool writes = false;     ///< one of them is for writing
};

/// The kernel's number of the mount behind a descriptor; 0 when it cannot be told.
std::uint64_t mount_number(int fd);

enum class View { kAny, kMount, kRaw };

/// Processes, but this one, that use anything at or below `path`. kMount: through the mount with
/// the number `mount`; kRaw: past it. Processes of others that may not be looked into are left out.
std::vector<User> users_below(const std::string& path, View view, std::uint64_t mount);

/// "bash (4711), vim (4712)", the first few.
std::string user_words(const std::vector<User>& users);

}  // namespace unwrite::cli
