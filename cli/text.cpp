#include "cli/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <ctime>

#include "cli/characters.h"
#include "control/protocol.h"

namespace unwrite::cli {

namespace {

std::uint8_t byte(char c) {
    return static_cast<std::uint8_t>(c);
}

std::pair<std::uint32_t, std::size_t> first_of(std::string_view text) {
    const Character first = first_character(text);
    return {first.code, first.length};
}

std::string escaped(char c) {
    switch (c) {
        case '\a':
            return "\\a";
        case '\b':
            return "\\b";
        case '\t':
            return "\\t";
        case '\n':
            return "\\n";
        case '\v':
            return "\\v";
        case '\f':
            return "\\f";
        case '\r':
            return "\\r";
        case '"':
            return "\\\"";
        case '\\':
            return "\\\\";
        default:
            return fmt::format("\\{:03o}", byte(c));
    }
}

bool is_plain(char c) {
    return byte(c) >= 0x20 && c != '"' && c != '\\' && c != 0x7F;
}

Error bad(const std::string& text, const char* wanted) {
    return Error(ErrorKind::kUsage, EINVAL, "\"" + quote_name(text) + "\" is not " + wanted);
}

struct Unit {
    char letter;
    double factor;
};

template <std::size_t N>
Result<std::uint64_t> parse_with_unit(const std::string& text, const std::array<Unit, N>& units,
                                      const char* wanted) {
    double value = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failure != std::errc() || !(value >= 0)) return bad(text, wanted);
    const std::string_view rest(end, static_cast<std::size_t>(text.data() + text.size() - end));
    double factor = rest.empty() ? 1 : 0;
    for (const Unit& unit : units) {
        if (rest.size() == 1 && rest[0] == unit.letter) factor = unit.factor;
    }
    const double result = std::round(value * factor);
    if (factor == 0 || result > 9e18) return bad(text, wanted);
    return static_cast<std::uint64_t>(result);
}

}  // namespace

std::string quote_name(std::string_view name) {
    const bool utf8 = control::is_utf8(name);
    bool plain = utf8;
    std::string inside;
    while (!name.empty()) {
        const auto [code, length] =
            utf8 ? first_of(name) : std::pair<std::uint32_t, std::size_t>(byte(name[0]), 1);
        const bool safe =
            length == 1 ? is_plain(name[0]) && (utf8 || byte(name[0]) < 0x80) : !is_deceptive(code);
        for (const char c : name.substr(0, length))
            inside += safe ? std::string(1, c) : escaped(c);
        plain = plain && safe;
        name.remove_prefix(length);
    }
    return plain ? inside : "\"" + inside + "\"";
}

std::string harmless(std::string_view text) {
    const bool utf8 = control::is_utf8(text);
    std::string out;
    while (!text.empty()) {
        const auto [code, length] =
            utf8 ? first_of(text) : std::pair<std::uint32_t, std::size_t>(byte(text[0]), 1);
        const bool kept = code == '\n' || code == '\t' || (code >= 0x20 && !is_deceptive(code));
        if (kept) {
            out += text.substr(0, length);
        } else if (code < 0x20) {
            out += std::string("^") + static_cast<char>(code + '@');
        } else {
            out += fmt::format("<{:02X}>", code);
        }
        text.remove_prefix(length);
    }
    return out;
}

std::vector<std::string_view> lines_of(std::string_view text) {
    std::vector<std::string_view> lines;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        lines.push_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return lines;
}

std::string counted(std::uint64_t count, const char* one, const char* many) {
    return fmt::format("{} {}", count, count == 1 ? one : many);
}

std::string grouped(std::uint64_t number) {
    std::string digits = std::to_string(number);
    for (std::size_t at = digits.size(); at > 3; at -= 3)
        digits.insert(at - 3, ",");
    return digits;
}

std::string size_words(std::uint64_t bytes) {
    constexpr std::array<const char*, 6> units = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    if (bytes < 1024) return fmt::format("{} B", bytes);
    double value = static_cast<double>(bytes) / 1024;
    std::size_t unit = 0;
    for (; value >= 1023.95 && unit + 1 < units.size(); ++unit)
        value /= 1024;
    return fmt::format("{:.1f} {}", value, units[unit]);
}

std::string time_words(std::int64_t time_ns) {
    const std::time_t seconds = static_cast<std::time_t>(time_ns / 1'000'000'000);
    std::tm parts = {};
    ::localtime_r(&seconds, &parts);
    return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02}", parts.tm_year + 1900,
                       parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec);
}

Result<std::uint64_t> parse_size(const std::string& text) {
    constexpr double k = 1024;
    constexpr std::array<Unit, 5> units = {
        {{'B', 1}, {'K', k}, {'M', k * k}, {'G', k * k * k}, {'T', k * k * k * k}}};
    return parse_with_unit(text, units, "a size such as 500M or 10G");
}

Result<std::uint64_t> parse_age(const std::string& text) {
    constexpr std::array<Unit, 5> units = {
        {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}, {'w', 604800}}};
    return parse_with_unit(text, units, "a time such as 30d or 12h");
}

Result<std::uint64_t> parse_number(const std::string& text) {
    std::uint64_t value = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failure != std::errc() || end != text.data() + text.size()) return bad(text, "a number");
    return value;
}

bool is_node(std::string_view text) {
    if (text.ends_with('^')) text.remove_suffix(1);
    return text.size() >= 2 && text[0] == 'n' &&
           text.find_first_not_of("0123456789", 1) == std::string_view::npos;
}

std::string_view trimmed(std::string_view text) {
    const std::size_t first = text.find_first_not_of(" \t\r");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t\r") + 1 - first);
}

}  // namespace unwrite::cli
