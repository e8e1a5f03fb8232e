// Texts that go to a terminal or to a model, and paths that come from one.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace unwrite::edit {

/// One character of UTF-8.
struct Character {
    char32_t code = 0;
    std::size_t length = 0;  ///< bytes
};

/// The character that `bytes` begins with; nothing if it is none (overlong forms, surrogates and
/// what is beyond U+10FFFF are none). `bytes` is not empty.
std::optional<Character> first_character(std::string_view bytes);

bool is_utf8(std::string_view bytes);

/// Whether a path given to a tool has a character that shows something other than it is: controls,
/// invisible and bidirectional marks, variation selectors, tags. Bytes that are not UTF-8 are none
/// of these. Names that files already have are never checked with this.
bool has_unsafe_character(std::string_view path);

/// A path as it may be shown: bytes that are not UTF-8 as U+FFFD, without escape sequences,
/// controls and bidirectional marks; newline, carriage return and tab as U+240A, U+240D, U+2409.
std::string displayed(std::string_view path);

/// In quotes, with escapes for all that would not be seen: "a\u{1}b". No other text is shown so.
std::string quoted_text(std::string_view text);

/// What to do about an argument that has_unsafe_character().
std::string without_hidden(const std::string& field, std::string_view text);

inline constexpr std::size_t kMaxPath = 4095;  ///< bytes; the kernel's limit

/// Whether a path that a tool is given can be one at all. Errors: kUsage, "Bad args: path ...".
Result<> check_path(std::string_view path);

}  // namespace unwrite::edit
