// Words for people: names that are safe to show, counts, sizes, times. Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace unwrite::cli {

/// A name as it is, or quoted as git does ("a\nb", "\377") when it has anything that a terminal
/// might act upon or that is not UTF-8. Unicode's controls and direction marks are quoted as well.
std::string quote_name(std::string_view name);
/// Text for a terminal: controls other than newline and tab become visible.
std::string harmless(std::string_view text);

/// The lines of a text, without their ends.
std::vector<std::string_view> lines_of(std::string_view text);

/// "1 file", "2 files".
std::string counted(std::uint64_t count, const char* one, const char* many);
/// "12,431".
std::string grouped(std::uint64_t number);
std::string size_words(std::uint64_t bytes);
/// Local time, "2026-11-22 06:03:23".
std::string time_words(std::int64_t time_ns);

/// "512", "10K", "1.5G" (powers of 1024) in bytes; "30d", "12h", "45m", "90s" in seconds.
Result<std::uint64_t> parse_size(const std::string& text);
Result<std::uint64_t> parse_age(const std::string& text);
/// The digits of "12"; nothing else.
Result<std::uint64_t> parse_number(const std::string& text);
/// Whether `text` is "n" and digits.
bool is_node(std::string_view text);

/// Without spaces, tabs and carriage returns at both ends.
std::string_view trimmed(std::string_view text);

}  // namespace unwrite::cli
