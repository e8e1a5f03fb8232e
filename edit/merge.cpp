#include "edit/merge.h"

#include <algorithm>

#include "edit/line_changes.h"

namespace unwrite::edit {

namespace {

using Lines = std::vector<std::string_view>;

/// One side: what it changed, and the lines that it has now.
struct Side {
    std::vector<LineChange> changes{};
    Lines lines{};
    std::size_t next = 0;

    const LineChange* change() const { return next < changes.size() ? &changes[next] : nullptr; }
};

Result<Side> side_of(std::string_view base, std::string_view text) {
    Side side;
    TRY_ASSIGN(side.changes, line_changes(base, text));
    side.lines = split_lines(text);
    return side;
}

void append(std::string& text, const Lines& lines, std::uint64_t start, std::uint64_t end) {
    for (std::uint64_t number = start; number < end; ++number)
        text += lines[number - 1];
}

// Whether the later one begins before a line that neither changed.
bool touch(const LineChange& first, const LineChange& second) {
    return second.old_start <= first.old_start + first.old_count;
}

bool same(const LineChange& one, const Side& of_one, const LineChange& other,
          const Side& of_other) {
    if (one.old_start != other.old_start || one.old_count != other.old_count ||
        one.new_count != other.new_count)
        return false;
    const auto begin = of_one.lines.begin() + static_cast<std::ptrdiff_t>(one.new_start - 1);
    return std::equal(begin, begin + static_cast<std::ptrdiff_t>(one.new_count),
                      of_other.lines.begin() + static_cast<std::ptrdiff_t>(other.new_start - 1));
}

}  // namespace

Result<std::optional<std::string>> merged(std::string_view base, std::string_view ours,
                                          std::string_view theirs) {
    TRY_ASSIGN(Side mine, side_of(base, ours));
    TRY_ASSIGN(Side other, side_of(base, theirs));
    const Lines lines = split_lines(base);
    std::string text;
    std::uint64_t at = 1;  // the next line of the base
    while (mine.change() != nullptr || other.change() != nullptr) {
        const bool from_mine =
            other.change() == nullptr ||
            (mine.change() != nullptr && mine.change()->old_start <= other.change()->old_start);
        Side& first = from_mine ? mine : other;
        Side& second = from_mine ? other : mine;
        const LineChange change = *first.change();
        if (second.change() != nullptr && touch(change, *second.change())) {
            if (!same(change, first, *second.change(), second)) return std::optional<std::string>();
            ++second.next;
        }
        ++first.next;
        append(text, lines, at, change.old_start);
        append(text, first.lines, change.new_start, change.new_start + change.new_count);
        at = change.old_start + change.old_count;
    }
    append(text, lines, at, lines.size() + 1);
    return std::optional(std::move(text));
}

}  // namespace unwrite::edit
