// Colours of a terminal.
#pragma once

#include <string>
#include <string_view>

namespace unwrite::cli {

enum class Colour { kNo, kYes };

inline constexpr const char* kRed = "\x1b[31m";
inline constexpr const char* kGreen = "\x1b[32m";
inline constexpr const char* kCyan = "\x1b[36m";
inline constexpr const char* kBold = "\x1b[1m";
inline constexpr const char* kReset = "\x1b[m";

inline std::string painted(std::string_view text, const char* with, Colour colour) {
    return colour == Colour::kYes ? std::string(with) + std::string(text) + kReset
                                  : std::string(text);
}

}  // namespace unwrite::cli
