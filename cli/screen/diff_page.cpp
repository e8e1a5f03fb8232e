#include "cli/screen/diff_page.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "cli/text.h"

namespace unwrite::cli::screen {

namespace {

using Kind = DiffRow::Kind;

std::uint64_t number_after(std::string_view line, char sign) {
    const std::size_t at = line.find(sign);
    std::uint64_t number = 0;
    if (at != std::string_view::npos)
        std::from_chars(line.data() + at + 1, line.data() + line.size(), number);
    return number;
}

Kind kind_of(std::string_view line, bool in_hunk) {
    if (line.starts_with("@@ ")) return Kind::kHunk;
    if (!in_hunk) return Kind::kHeader;
    if (line.starts_with('+')) return Kind::kAdded;
    if (line.starts_with('-')) return Kind::kRemoved;
    return line.starts_with('\\') ? Kind::kNote : Kind::kContext;
}

bool is_capital(char c) {
    return c >= 'A' && c <= 'Z';
}

char small(char c) {
    return is_capital(c) ? static_cast<char>(c - 'A' + 'a') : c;
}

}  // namespace

bool holds(std::string_view text, std::string_view what) {
    if (std::any_of(what.begin(), what.end(), is_capital))
        return text.find(what) != std::string_view::npos;
    return std::search(text.begin(), text.end(), what.begin(), what.end(),
                       [](char a, char b) { return small(a) == b; }) != text.end() ||
           what.empty();
}

DiffPage::DiffPage(std::string text) : text_(std::move(text)) {
    read();
    pair_rows();
}

void DiffPage::read() {
    std::uint64_t old_line = 0, new_line = 0;
    for (const std::string_view line : lines_of(text_)) {
        DiffRow row{kind_of(line, hunks_ > 0), line};
        if (row.kind == Kind::kHunk) {
            ++hunks_;
            old_line = number_after(line, '-');
            new_line = number_after(line, '+');
        } else if (hunks_ > 0 && row.kind != Kind::kNote) {
            row.text.remove_prefix(std::min<std::size_t>(1, line.size()));
            if (row.kind != Kind::kAdded) row.old_line = old_line++;
            if (row.kind != Kind::kRemoved) row.new_line = new_line++;
        }
        if (hunks_ > 0) row.hunk = hunks_ - 1;
        rows_.push_back(row);
    }
}

// The n-th removed line of a change is taken for the n-th added one.
void DiffPage::pair_rows() {
    const auto run = [&](std::size_t at, Kind kind) {
        while (at < rows_.size() && rows_[at].kind == kind)
            ++at;
        return at;
    };
    for (std::size_t i = 0; i < rows_.size();) {
        if (rows_[i].kind != Kind::kRemoved && rows_[i].kind != Kind::kAdded) {
            pairs_.push_back({i, i});
            ++i;
            continue;
        }
        const std::size_t removed_end = run(i, Kind::kRemoved);
        // "No newline at the end" stands between the two.
        const std::size_t note = removed_end > i ? run(removed_end, Kind::kNote) : removed_end;
        const std::size_t added =
            note < rows_.size() && rows_[note].kind == Kind::kAdded ? note : removed_end;
        const std::size_t added_end = run(added, Kind::kAdded);
        const std::size_t most = std::max(removed_end - i, added_end - added);
        for (std::size_t n = 0; n < most; ++n) {
            const RowPair pair{i + n < removed_end ? i + n : kNone,
                               added + n < added_end ? added + n : kNone};
            if (pair.left != kNone && pair.right != kNone) {
                rows_[pair.left].partner = pair.right;
                rows_[pair.right].partner = pair.left;
            }
            pairs_.push_back(pair);
        }
        if (added > removed_end) pairs_.push_back({removed_end, kNone});
        i = added_end;
    }
}

std::size_t DiffPage::begin_of_hunk(std::size_t hunk, bool side_by_side) const {
    const auto found = std::find_if(rows_.begin(), rows_.end(), [&](const DiffRow& row) {
        return row.kind == Kind::kHunk && row.hunk == hunk;
    });
    if (found == rows_.end()) return 0;
    const auto row = static_cast<std::size_t>(found - rows_.begin());
    return side_by_side ? pair_of(row) : row;
}

std::size_t DiffPage::find(std::string_view what, std::size_t from, bool backwards) const {
    const std::size_t count = rows_.size();
    for (std::size_t n = 1; n <= count; ++n) {
        const std::size_t row = backwards ? (from + count - n % count) % count : (from + n) % count;
        if (holds(rows_[row].text, what)) return row;
    }
    return kNone;
}

std::size_t DiffPage::pair_of(std::size_t row) const {
    const auto found = std::find_if(pairs_.begin(), pairs_.end(), [&](const RowPair& pair) {
        return pair.left == row || pair.right == row;
    });
    return found == pairs_.end() ? 0 : static_cast<std::size_t>(found - pairs_.begin());
}

}  // namespace unwrite::cli::screen
