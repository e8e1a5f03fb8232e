// The newline model: which line endings a text has, and a view of it in which each of them is a
// single LF, with the way back to the bytes. A CRLF is one ending; a CR that no LF follows is one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace unwrite::edit {

enum class Newline { kNone, kLf, kCrlf, kCr };

/// "\n", "\r\n", "\r"; nothing for kNone.
std::string_view bytes_of(Newline kind);
/// "LF", "CRLF", "CR"; "LF" for kNone, which is written as LF.
std::string_view name_of(Newline kind);

struct NewlineCounts {
    std::size_t lf = 0;
    std::size_t crlf = 0;
    std::size_t cr = 0;
};

NewlineCounts count_newlines(std::string_view bytes);
/// The kind that is there most often; on a tie CRLF before LF before CR; LF when there is none.
Newline dominant(const NewlineCounts& counts);

/// The same text with every ending written as `kind` (kNone: as LF).
std::string with_newlines(std::string_view bytes, Newline kind);

/// Offsets are bytes from 0, lines are numbered from 1. A line includes its ending; a text that
/// does not end in a newline has an incomplete last line; an empty text has no line.
class CanonicalView {
 public:
    explicit CanonicalView(std::string_view original);

    const std::string& text() const { return text_; }
    const NewlineCounts& newlines() const { return counts_; }

    /// Where the byte at `offset` of the view begins in the original; the size of the view is
    /// mapped to the size of the original. An offset at an ending is mapped to its first byte.
    std::size_t original_offset(std::size_t offset) const;

    std::size_t line_count() const { return line_starts_.size(); }
    /// The line that holds the byte at `offset`; for the end of the text the last line.
    std::size_t line_of(std::size_t offset) const;
    /// `line` from 1 to line_count().
    std::size_t line_begin(std::size_t line) const { return line_starts_[line - 1]; }
    std::size_t line_end(std::size_t line) const {
        return line < line_starts_.size() ? line_starts_[line] : text_.size();
    }
    /// Without its ending.
    std::string_view line(std::size_t number) const;

 private:
    std::string text_;
    NewlineCounts counts_;
    std::vector<std::size_t> line_starts_;  ///< in the view
    std::vector<std::size_t> shortened_;    ///< where the view has one byte for a CRLF
};

/// "12<tab>text", a line each, as line numbers are given to Edit; `first` is the first line's.
std::string numbered_lines(std::string_view text, std::uint64_t first);

}  // namespace unwrite::edit
