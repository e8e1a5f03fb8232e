// The traces that an undo leaves for the agent: two lines in its session, one in its memory. Both
// files are only ever added to.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace unwrite::git {

struct UndoneWork {
    std::uint64_t issue = 0;
    std::vector<std::string> files;
    std::vector<std::string> pull_requests;  ///< addresses
};

/// The two JSON lines (each with its newline) that tell the agent what the user thought of it.
std::string session_lines(const UndoneWork& work, std::int64_t now_ns);
/// The line for the memory log.
std::string memory_line(const UndoneWork& work, std::int64_t now_ns);

/// Appends in one write, after a newline where the file does not end with one. `path` must be a
/// regular file, not a symbolic link; with `create` it may be absent.
Result<> append_to(const std::string& path, const std::string& text, bool create);
/// Whether append_to could: false when there is no such file, an error when it is no regular one.
Result<bool> is_there(const std::string& path);

}  // namespace unwrite::git
