#include "edit/newlines.h"

#include <algorithm>

namespace unwrite::edit {

namespace {

struct Ending {
    Newline kind = Newline::kNone;
    std::size_t at = std::string_view::npos;
};

// The endings of a text in order. Each byte is looked at twice, however many endings there are.
class Endings {
 public:
    explicit Endings(std::string_view bytes)
        : bytes_(bytes), cr_(bytes.find('\r')), lf_(bytes.find('\n')) {}

    Ending next() {
        const std::size_t at = std::min(cr_, lf_);
        if (at == std::string_view::npos) return {};
        Ending found{Newline::kLf, at};
        if (cr_ < lf_) found.kind = cr_ + 1 == lf_ ? Newline::kCrlf : Newline::kCr;
        const std::size_t from = at + bytes_of(found.kind).size();
        if (cr_ < from) cr_ = bytes_.find('\r', from);
        if (lf_ < from) lf_ = bytes_.find('\n', from);
        return found;
    }

 private:
    const std::string_view bytes_;
    std::size_t cr_;  ///< the next of its kind; npos: none
    std::size_t lf_;
};

// Calls `text` for what is between endings and `ending` for each of them, in order.
template <class Text, class EndingFound>
void walk(std::string_view bytes, Text text, EndingFound ending) {
    Endings endings(bytes);
    std::size_t from = 0;
    for (Ending found = endings.next(); found.kind != Newline::kNone; found = endings.next()) {
        text(bytes.substr(from, found.at - from));
        ending(found.kind);
        from = found.at + bytes_of(found.kind).size();
    }
    text(bytes.substr(from));
}

void count(NewlineCounts& counts, Newline kind) {
    if (kind == Newline::kLf) ++counts.lf;
    if (kind == Newline::kCrlf) ++counts.crlf;
    if (kind == Newline::kCr) ++counts.cr;
}

}  // namespace

std::string_view bytes_of(Newline kind) {
    switch (kind) {
        case Newline::kLf:
            return "\n";
        case Newline::kCrlf:
            return "\r\n";
        case Newline::kCr:
            return "\r";
        case Newline::kNone:
            break;
    }
    return {};
}

std::string_view name_of(Newline kind) {
    if (kind == Newline::kCrlf) return "CRLF";
    if (kind == Newline::kCr) return "CR";
    return "LF";
}

NewlineCounts count_newlines(std::string_view bytes) {
    NewlineCounts counts;
    walk(
        bytes, [](std::string_view) {}, [&](Newline kind) { count(counts, kind); });
    return counts;
}

Newline dominant(const NewlineCounts& counts) {
    if (counts.lf + counts.crlf + counts.cr == 0) return Newline::kLf;
    if (counts.crlf >= counts.lf && counts.crlf >= counts.cr) return Newline::kCrlf;
    return counts.lf >= counts.cr ? Newline::kLf : Newline::kCr;
}

std::string with_newlines(std::string_view bytes, Newline kind) {
    std::string text;
    text.reserve(bytes.size());
    const std::string_view ending = kind == Newline::kNone ? "\n" : bytes_of(kind);
    walk(
        bytes, [&](std::string_view part) { text += part; }, [&](Newline) { text += ending; });
    return text;
}

CanonicalView::CanonicalView(std::string_view original) {
    text_.reserve(original.size());
    if (!original.empty()) line_starts_.push_back(0);
    walk(
        original, [&](std::string_view part) { text_ += part; },
        [&](Newline kind) {
            count(counts_, kind);
            if (kind == Newline::kCrlf) shortened_.push_back(text_.size());
            text_ += '\n';
            line_starts_.push_back(text_.size());
        });
    if (!line_starts_.empty() && line_starts_.back() == text_.size()) line_starts_.pop_back();
}

std::size_t CanonicalView::original_offset(std::size_t offset) const {
    const auto passed = std::lower_bound(shortened_.begin(), shortened_.end(), offset);
    return offset + static_cast<std::size_t>(passed - shortened_.begin());
}

std::size_t CanonicalView::line_of(std::size_t offset) const {
    const auto after = std::upper_bound(line_starts_.begin(), line_starts_.end(), offset);
    return static_cast<std::size_t>(after - line_starts_.begin());
}

std::string_view CanonicalView::line(std::size_t number) const {
    const std::size_t begin = line_begin(number);
    std::string_view text = std::string_view(text_).substr(begin, line_end(number) - begin);
    if (!text.empty() && text.back() == '\n') text.remove_suffix(1);
    return text;
}

std::string numbered_lines(std::string_view text, std::uint64_t first) {
    const CanonicalView view(text);
    std::string numbered;
    for (std::size_t line = 1; line <= view.line_count(); ++line) {
        numbered += std::to_string(first + line - 1) + "\t";
        numbered += std::string(view.line(line)) + "\n";
    }
    return numbered;
}

}  // namespace unwrite::edit
