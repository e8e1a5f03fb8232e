// Paths as their names: relative, with slashes between them.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

namespace unwrite::overlay {

inline std::string parent_of(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    return slash == std::string::npos ? "" : path.substr(0, slash);
}

inline std::string name_of(const std::string& path) {
    return path.substr(path.rfind('/') + 1);
}

inline std::string joined(const std::string& directory, const std::string& rest) {
    if (directory.empty() || rest.empty()) return directory + rest;
    return directory + "/" + rest;
}

// Without "." and doubled slashes; ".." is refused before.
inline std::vector<std::string> components(const std::string& path) {
    std::vector<std::string> parts;
    for (std::size_t at = 0; at < path.size();) {
        const std::size_t end = std::min(path.find('/', at), path.size());
        std::string part = path.substr(at, end - at);
        if (!part.empty() && part != ".") parts.push_back(std::move(part));
        at = end + 1;
    }
    return parts;
}

}  // namespace unwrite::overlay
