#include "edit/text_safety.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>

namespace unwrite::edit {

namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";

struct CodeRange {
    char32_t first;
    char32_t last;
};

constexpr std::array<CodeRange, 18> kUnsafe = {{{0x0000, 0x001f},
                                                {0x007f, 0x009f},
                                                {0x00ad, 0x00ad},
                                                {0x034f, 0x034f},
                                                {0x061c, 0x061c},
                                                {0x115f, 0x1160},
                                                {0x17b4, 0x17b5},
                                                {0x180e, 0x180e},
                                                {0x200b, 0x200f},
                                                {0x202a, 0x202e},
                                                {0x2060, 0x2069},
                                                {0x3164, 0x3164},
                                                {0xfe00, 0xfe0f},
                                                {0xfeff, 0xfeff},
                                                {0xffa0, 0xffa0},
                                                {0xfff9, 0xfffb},
                                                {0xe0000, 0xe007f},
                                                {0xe0100, 0xe01ef}}};

constexpr std::array<CodeRange, 6> kNotShown = {{{0x0000, 0x001f},
                                                 {0x007f, 0x009f},
                                                 {0x061c, 0x061c},
                                                 {0x200e, 0x200f},
                                                 {0x202a, 0x202e},
                                                 {0x2066, 0x2069}}};

template <std::size_t Count>
bool is_in(const std::array<CodeRange, Count>& ranges, char32_t code) {
    return std::any_of(ranges.begin(), ranges.end(), [code](const CodeRange& range) {
        return range.first <= code && code <= range.last;
    });
}

// How many bytes an escape sequence takes, 0 when there is none: CSI (ESC [ ... final byte) and OSC
// (ESC ] ... BEL or ESC \). One that does not end takes only its introducer.
std::size_t escape_length(std::string_view bytes) {
    if (bytes.size() < 2 || bytes[0] != '\x1b') return 0;
    if (bytes[1] == '[') {
        std::size_t at = 2;
        while (at < bytes.size() && bytes[at] >= 0x20 && bytes[at] <= 0x3f)
            ++at;
        return at < bytes.size() && bytes[at] >= 0x40 && bytes[at] <= 0x7e ? at + 1 : 2;
    }
    if (bytes[1] == ']') {
        const std::size_t end = bytes.find_first_of("\x07\x1b", 2);
        if (end == std::string_view::npos) return 2;
        if (bytes[end] == '\x07') return end + 1;
        return end + 1 < bytes.size() && bytes[end + 1] == '\\' ? end + 2 : 2;
    }
    return 0;
}

std::string_view picture_of(char32_t code) {
    if (code == '\n') return "\xe2\x90\x8a";
    if (code == '\r') return "\xe2\x90\x8d";
    if (code == '\t') return "\xe2\x90\x89";
    return {};
}

std::string code_escape(char32_t code) {
    std::array<char, 8> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(),
                                   static_cast<std::uint32_t>(code), 16);
    return "\\u{" + std::string(digits.data(), end.ptr) + "}";
}

}  // namespace

std::optional<Character> first_character(std::string_view bytes) {
    const auto lead = static_cast<unsigned char>(bytes[0]);
    if (lead < 0x80) return Character{lead, 1};
    const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    if (lead < 0xc2 || lead > 0xf4 || bytes.size() < length) return std::nullopt;
    char32_t code = lead & (0x7fU >> length);
    for (std::size_t i = 1; i < length; ++i) {
        const auto byte = static_cast<unsigned char>(bytes[i]);
        if ((byte & 0xc0) != 0x80) return std::nullopt;
        code = (code << 6) | (byte & 0x3fU);
    }
    const bool overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
    if (overlong || (code >= 0xd800 && code <= 0xdfff) || code > 0x10ffff) return std::nullopt;
    return Character{code, length};
}

bool is_utf8(std::string_view bytes) {
    while (!bytes.empty()) {
        const auto character = first_character(bytes);
        if (!character) return false;
        bytes.remove_prefix(character->length);
    }
    return true;
}

bool has_unsafe_character(std::string_view path) {
    while (!path.empty()) {
        const auto character = first_character(path);
        if (character && is_in(kUnsafe, character->code)) return true;
        path.remove_prefix(character ? character->length : 1);
    }
    return false;
}

std::string displayed(std::string_view path) {
    std::string text;
    while (!path.empty()) {
        if (const std::size_t escape = escape_length(path); escape > 0) {
            path.remove_prefix(escape);
            continue;
        }
        const auto character = first_character(path);
        const std::size_t length = character ? character->length : 1;
        if (!character) {
            text += kReplacement;
        } else if (const auto picture = picture_of(character->code); !picture.empty()) {
            text += picture;
        } else if (!is_in(kNotShown, character->code)) {
            text += path.substr(0, length);
        }
        path.remove_prefix(length);
    }
    return text;
}

std::string quoted_text(std::string_view text) {
    static constexpr std::string_view kEscaped("\"\\\n\r\t\0", 6);
    static constexpr std::string_view kLetters = "\"\\nrt0";
    std::string quoted = "\"";
    while (!text.empty()) {
        const auto character = first_character(text);
        const std::size_t length = character ? character->length : 1;
        const auto escaped = kEscaped.find(text.front());
        if (escaped != std::string_view::npos) {
            quoted += '\\';
            quoted += kLetters[escaped];
        } else if (character && has_unsafe_character(text.substr(0, length))) {
            quoted += code_escape(character->code);
        } else {
            quoted += text.substr(0, length);
        }
        text.remove_prefix(length);
    }
    return quoted + '"';
}

std::string without_hidden(const std::string& field, std::string_view text) {
    constexpr std::size_t most_shown = 200;
    const std::string advice =
        "Write " + field + " again without control characters and invisible ones.";
    return text.size() > most_shown ? advice : advice + " It was " + quoted_text(text) + ".";
}

Result<> check_path(std::string_view path) {
    const auto bad = [](const std::string& reason, std::string advice) {
        return Error(ErrorKind::kUsage, EINVAL, "Bad args: path " + reason, std::move(advice));
    };
    const char* const advice = "Give the path of a file, relative to the top of the workspace.";
    if (path.empty()) return bad("must not be empty", advice);
    if (path.size() > kMaxPath)
        return bad("is longer than " + std::to_string(kMaxPath) + " bytes", advice);
    if (has_unsafe_character(path))
        return bad("contains invalid control characters", without_hidden("path", path));
    return {};
}

}  // namespace unwrite::edit
