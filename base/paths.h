// Paths relative to a root: bytes, no leading and no trailing slash, "" the root itself.
#pragma once

#include <string_view>

namespace unwrite {

/// Whether `path` lies in `directory`, at any depth. Everything else does in the root.
inline bool is_below(std::string_view path, std::string_view directory) {
    if (directory.empty()) return !path.empty();
    return path.size() > directory.size() && path[directory.size()] == '/' &&
           path.starts_with(directory);
}

inline bool is_at_or_below(std::string_view path, std::string_view above) {
    return path == above || is_below(path, above);
}

}  // namespace unwrite
