#include "cli/screen/paint_diff.h"

#include <fmt/format.h>

#include <algorithm>

#include "edit/word_changes.h"

namespace unwrite::cli::screen {

using Kind = DiffRow::Kind;

namespace {

/// A longer line is not compared word by word: nobody reads it.
constexpr std::size_t kMostCompared = 10'000;
/// Of the line numbers, with the blank behind them.
constexpr std::size_t kGutter = 6;

Style style_of(const DiffRow& row) {
    switch (row.kind) {
        case Kind::kHeader:
        case Kind::kNote:
            return Style::kDim;
        case Kind::kHunk:
            return Style::kHeading;
        case Kind::kAdded:
            return Style::kAdded;
        case Kind::kRemoved:
            return Style::kRemoved;
        case Kind::kContext:
            return Style::kPlain;
    }
    return Style::kPlain;
}

std::string_view mark_of(Verdict verdict) {
    return verdict == Verdict::kAccept ? "[a] " : verdict == Verdict::kReject ? "[r] " : "[ ] ";
}

class DiffPainter {
 public:
    DiffPainter(const Review& review, Size size, Charset charset)
        : review_(review), page_(*review.page()), size_(size), charset_(charset) {}

    Line row(std::size_t at) const {
        const DiffRow& row = page_.rows()[at];
        if (!is_numbered(row)) return full(at);
        return side(at, size_.columns, row.new_line != 0 ? row.new_line : row.old_line);
    }

    Line pair(const RowPair& pair) const {
        if (pair.left == pair.right && !is_numbered(page_.rows()[pair.left]))
            return full(pair.left);
        const std::size_t half = (size_.columns - 1) / 2;
        LineWriter writer(size_.columns, charset_);
        if (pair.left != kNone) {
            const DiffRow& row = page_.rows()[pair.left];
            writer.append(side(pair.left, half, row.old_line));
        }
        writer.fill(half);
        writer.add("|", Style::kDim);
        if (pair.right != kNone)
            writer.append(
                side(pair.right, size_.columns - half - 1, page_.rows()[pair.right].new_line));
        return writer.take();
    }

 private:
    static bool is_numbered(const DiffRow& row) { return row.old_line + row.new_line > 0; }

    // A row that needs the whole width: headers, the beginnings of hunks.
    Line full(std::size_t at) const {
        const DiffRow& row = page_.rows()[at];
        LineWriter writer(size_.columns, charset_);
        if (row.kind != Kind::kHunk) {
            writer.add(row.text, found_or(at, style_of(row)));
            return writer.take();
        }
        const Item* item = review_.model().current();
        const bool here = review_.sight().on_diff && row.hunk == review_.sight().hunk;
        const Style style = here ? Style::kSelected : Style::kHeading;
        writer.add(here ? ">" : " ", style);
        if (item != nullptr && row.hunk < item->hunks.size())
            writer.add(mark_of(item->hunks[row.hunk]), style);
        writer.add(row.text, style);
        if (here) writer.fill(size_.columns, style);
        return writer.take();
    }

    Style found_or(std::size_t at, Style style) const {
        return review_.sight().found == at ? Style::kSelected : style;
    }

    Line side(std::size_t at, std::size_t columns, std::uint64_t number) const {
        const DiffRow& row = page_.rows()[at];
        const char sign = row.kind == Kind::kAdded ? '+' : row.kind == Kind::kRemoved ? '-' : ' ';
        LineWriter gutter(columns, charset_);
        if (columns > 3 * kGutter)
            gutter.add(fmt::format("{:>{}} ", number, kGutter - 1), Style::kDim);
        gutter.add(std::string(1, sign), found_or(at, style_of(row)));
        LineWriter text(gutter.room(), charset_, review_.sight().left);
        add_text(text, at);
        gutter.append(text.take());
        return gutter.take();
    }

    void add_text(LineWriter& writer, std::size_t at) const {
        const DiffRow& row = page_.rows()[at];
        const Style style = found_or(at, style_of(row));
        const Style word = row.kind == Kind::kAdded ? Style::kAddedWord : Style::kRemovedWord;
        std::size_t from = 0;
        for (const edit::ByteRange& range : marks_of(row)) {
            writer.add(row.text.substr(from, range.begin - from), style);
            writer.add(row.text.substr(range.begin, range.end - range.begin), word);
            from = range.end;
        }
        writer.add(row.text.substr(from), style);
    }

    std::vector<edit::ByteRange> marks_of(const DiffRow& row) const {
        if (row.partner == kNone) return {};
        const DiffRow& other = page_.rows()[row.partner];
        if (row.text.size() + other.text.size() > kMostCompared) return {};
        const bool older = row.kind == Kind::kRemoved;
        edit::WordChanges changes = older ? edit::word_changes(row.text, other.text)
                                          : edit::word_changes(other.text, row.text);
        return older ? std::move(changes.older) : std::move(changes.newer);
    }

    const Review& review_;
    const DiffPage& page_;
    Size size_;
    Charset charset_;
};

}  // namespace

std::vector<Line> paint_diff(const Review& review, Size size, Charset charset) {
    std::vector<Line> lines;
    if (review.page() == nullptr) return lines;
    const DiffPainter painter(review, size, charset);
    const DiffPage& page = *review.page();
    for (std::size_t at = review.sight().top_of_diff; lines.size() < size.rows; ++at) {
        if (review.is_side_by_side() ? at >= page.pairs().size() : at >= page.rows().size()) break;
        lines.push_back(review.is_side_by_side() ? painter.pair(page.pairs()[at])
                                                 : painter.row(at));
    }
    return lines;
}

}  // namespace unwrite::cli::screen
