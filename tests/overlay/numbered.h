// A text whose lines can be told apart.
#pragma once

#include <map>
#include <string>

namespace unwrite::tests {

/// Thirty lines, some of them changed.
inline std::string numbered(const std::map<int, std::string>& changed) {
    std::string text;
    for (int line = 1; line <= 30; ++line) {
        const auto found = changed.find(line);
        text += (found == changed.end() ? std::to_string(line) : found->second) + "\n";
    }
    return text;
}

}  // namespace unwrite::tests
