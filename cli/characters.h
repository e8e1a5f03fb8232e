// Characters as they arrive in bytes that nobody vouches for, and which of them deceive the eye.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace unwrite::cli {

struct Character {
    std::uint32_t code = 0;  ///< of a bad byte: the byte
    std::size_t length = 0;  ///< bytes; 0 at the end of the text
    bool valid = false;      ///< well-formed UTF-8
};

/// The character at the front of any bytes; of what is no UTF-8 one byte at a time.
Character first_character(std::string_view text);

/// C1 controls, separators of lines, marks of direction, and characters that show as nothing.
bool is_deceptive(std::uint32_t code);

}  // namespace unwrite::cli
