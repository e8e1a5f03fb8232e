// Frame: what a full screen shows, as lines of styled text. Made without a terminal; whoever draws
// it needs no idea of what it means. Only printable text gets in: names and files hold anything.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace unwrite::cli::screen {

enum class Style {
    kPlain,
    kDim,
    kHeading,
    kAdded,
    kRemoved,
    kAddedWord,
    kRemovedWord,
    kOdd,  ///< stands for something that cannot be shown as it is
    kSelected,
    kBar,
};

struct Span {
    std::string text{};
    Style style = Style::kPlain;
    bool operator==(const Span&) const = default;
};
using Line = std::vector<Span>;

struct Size {
    std::size_t rows = 24;
    std::size_t columns = 80;
    bool operator==(const Size&) const = default;
};

struct Frame {
    Size size{};
    std::vector<Line> lines{};  ///< at most `rows`, none wider than `columns`
};

/// What the terminal can show. kUnicode: the process's locale (LC_CTYPE) has UTF-8.
enum class Charset { kAscii, kUnicode };
Charset charset_of_locale();

/// Writes one line of at most so many columns. Controls become "^X", bytes that are no UTF-8
/// "<FF>", marks of direction and what shows as nothing "<U+202E>"; tabs become blanks.
class LineWriter {
 public:
    /// `skip`: columns left out at the front (the text is scrolled to the side).
    LineWriter(std::size_t columns, Charset charset, std::size_t skip = 0);

    void add(std::string_view bytes, Style style = Style::kPlain);
    /// Blanks up to this column, from the front of the line as it will be shown.
    void fill(std::size_t column, Style style = Style::kPlain);
    /// A line made elsewhere, as it is. The caller vouches that it fits.
    void append(const Line& line);
    std::size_t room() const { return columns_ - used_; }
    Line take() { return std::move(line_); }

 private:
    void put(std::string_view text, std::size_t width, Style style);

    std::size_t columns_;
    Charset charset_;
    std::size_t skip_;
    std::size_t at_ = 0;    ///< column of the text, with what is left out
    std::size_t used_ = 0;  ///< columns shown
    unsigned marks_ = 0;    ///< combining characters on the last one
    Line line_;
};

/// Columns that the text takes when it is written so.
std::size_t width_of(std::string_view bytes, Charset charset);
/// The end of it, with "..." before it where it has more than `columns`.
std::string end_of(std::string_view bytes, std::size_t columns, Charset charset);

/// The text of a line, without styles.
std::string text_of(const Line& line);

}  // namespace unwrite::cli::screen
