#include "cli/screen/frame.h"

#include <fmt/format.h>
#include <langinfo.h>

#include <algorithm>
#include <cwchar>

#include "cli/characters.h"

namespace unwrite::cli::screen {

namespace {

constexpr std::size_t kTab = 8;
/// Combining characters upon one; a terminal's cell holds no more.
constexpr unsigned kMostMarks = 4;

struct Shown {
    std::string text{};
    std::size_t width = 0;
    bool odd = false;
};

Shown shown_as(const std::string& code) {
    return {code, code.size(), true};
}

Shown shown(const Character& character, std::string_view bytes, Charset charset, unsigned marks) {
    if (!character.valid) return shown_as(fmt::format("<{:02X}>", character.code));
    if (character.code < 0x20) return shown_as({'^', static_cast<char>(character.code + '@')});
    if (character.code < 0x7F) return {std::string(bytes), 1, false};
    const auto by_number = [&] { return shown_as(fmt::format("<U+{:04X}>", character.code)); };
    if (charset == Charset::kAscii || is_deceptive(character.code)) return by_number();
    const int width = ::wcwidth(static_cast<wchar_t>(character.code));
    if (width < 0 || (width == 0 && marks >= kMostMarks)) return by_number();
    return {std::string(bytes), static_cast<std::size_t>(width), false};
}

Style odd_style(Style around) {
    return around == Style::kSelected || around == Style::kBar ? around : Style::kOdd;
}

}  // namespace

Charset charset_of_locale() {
    return std::string_view(::nl_langinfo(CODESET)) == "UTF-8" ? Charset::kUnicode
                                                               : Charset::kAscii;
}

LineWriter::LineWriter(std::size_t columns, Charset charset, std::size_t skip)
    : columns_(columns), charset_(charset), skip_(skip) {}

void LineWriter::put(std::string_view text, std::size_t width, Style style) {
    const std::size_t from = at_;
    at_ += width;
    if (at_ <= skip_ || used_ >= columns_) {
        if (width > 0 || used_ == 0 || used_ >= columns_) return;
    }
    const bool cut = width > 0 && (from < skip_ || width > columns_ - used_);
    // What is cut in the middle leaves blanks: half a character is none.
    const std::size_t shown = std::min(from < skip_ ? at_ - skip_ : width, columns_ - used_);
    if (line_.empty() || line_.back().style != style) line_.push_back({{}, style});
    line_.back().text += cut ? std::string(shown, ' ') : std::string(text);
    used_ += shown;
}

void LineWriter::add(std::string_view bytes, Style style) {
    while (!bytes.empty() && used_ < columns_) {
        const Character character = first_character(bytes);
        const std::string_view own = bytes.substr(0, character.length);
        bytes.remove_prefix(character.length);
        if (own == "\t") {
            for (std::size_t i = kTab - at_ % kTab; i > 0; --i)
                put(" ", 1, style);
            continue;
        }
        const Shown as = shown(character, own, charset_, at_ == 0 ? kMostMarks : marks_);
        marks_ = as.width == 0 ? marks_ + 1 : 0;
        if (!as.odd) {
            put(as.text, as.width, style);
            continue;
        }
        for (const char c : as.text)
            put({&c, 1}, 1, odd_style(style));
    }
}

void LineWriter::fill(std::size_t column, Style style) {
    column = std::min(column, columns_);
    if (column <= used_) return;
    const std::size_t blanks = column - used_;
    if (line_.empty() || line_.back().style != style) line_.push_back({{}, style});
    line_.back().text.append(blanks, ' ');
    used_ += blanks;
    at_ += blanks;
}

void LineWriter::append(const Line& line) {
    for (const Span& span : line)
        add(span.text, span.style);
}

std::size_t width_of(std::string_view bytes, Charset charset) {
    constexpr std::size_t endless = 100'000;
    LineWriter writer(endless, charset);
    writer.add(bytes);
    return endless - writer.room();
}

std::string end_of(std::string_view bytes, std::size_t columns, Charset charset) {
    if (width_of(bytes, charset) <= columns) return std::string(bytes);
    constexpr std::string_view dots = "...";
    if (columns <= dots.size()) return std::string(dots.substr(0, columns));
    while (!bytes.empty() && width_of(bytes, charset) > columns - dots.size())
        bytes.remove_prefix(first_character(bytes).length);
    return std::string(dots) + std::string(bytes);
}

std::string text_of(const Line& line) {
    std::string text;
    for (const Span& span : line)
        text += span.text;
    return text;
}

}  // namespace unwrite::cli::screen
