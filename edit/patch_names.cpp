#include "edit/patch_names.h"

namespace unwrite::edit {

namespace {

constexpr std::string_view kControls = "\a\b\t\n\v\f\r\"\\";
constexpr std::string_view kLetters = "abtnvfr\"\\";

bool is_octal(char digit) {
    return digit >= '0' && digit <= '7';
}

// The byte of an octal escape of three digits.
std::optional<char> octal_byte(std::string_view digits) {
    if (digits.size() < 3 || !is_octal(digits[0]) || !is_octal(digits[1]) || !is_octal(digits[2]))
        return std::nullopt;
    const int value = (digits[0] - '0') * 64 + (digits[1] - '0') * 8 + (digits[2] - '0');
    if (value > 255) return std::nullopt;
    return static_cast<char>(value);
}

}  // namespace

std::string quoted_name(std::string_view name) {
    std::string quoted = "\"";
    for (const char byte : name) {
        const auto code = static_cast<unsigned char>(byte);
        if (const auto control = kControls.find(byte); control != std::string_view::npos) {
            quoted += '\\';
            quoted += kLetters[control];
        } else if (code < 0x20 || code >= 0x7f) {
            quoted += '\\';
            for (int shift = 6; shift >= 0; shift -= 3)
                quoted += static_cast<char>('0' + ((code >> shift) & 7));
        } else {
            quoted += byte;
        }
    }
    return quoted.size() == name.size() + 1 ? std::string(name) : quoted + '"';
}

std::optional<QuotedName> unquoted_name(std::string_view text) {
    QuotedName quoted;
    for (std::size_t at = 1; at < text.size(); ++at) {
        if (text[at] == '"') {
            quoted.length = at + 1;
            return quoted;
        }
        if (text[at] != '\\') {
            quoted.name += text[at];
            continue;
        }
        if (++at == text.size()) return std::nullopt;
        if (const auto letter = kLetters.find(text[at]); letter != std::string_view::npos) {
            quoted.name += kControls[letter];
        } else if (const auto byte = octal_byte(text.substr(at))) {
            quoted.name += *byte;
            at += 2;
        } else {
            return std::nullopt;
        }
    }
    return std::nullopt;
}

}  // namespace unwrite::edit
