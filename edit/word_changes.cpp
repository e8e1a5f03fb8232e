#include "edit/word_changes.h"

#include <algorithm>
#include <cstdint>

namespace unwrite::edit {

namespace {

/// Of the table that finds the common words; beyond, the middle is taken as one change.
constexpr std::size_t kMostCells = 250'000;
/// Of the longer line, in percent: with less in common everything would be marked.
constexpr std::size_t kLeastCommon = 30;

bool is_blank(char c) {
    return c == ' ' || c == '\t';
}

// Bytes above ASCII belong to words, so that no character is cut.
bool is_of_word(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           static_cast<unsigned char>(c) >= 0x80;
}

std::vector<std::string_view> words_of(std::string_view line) {
    std::vector<std::string_view> words;
    while (!line.empty()) {
        std::size_t end = 1;
        for (const auto kind : {is_of_word, is_blank}) {
            if (!kind(line[0])) continue;
            while (end < line.size() && kind(line[end]))
                ++end;
        }
        words.push_back(line.substr(0, end));
        line.remove_prefix(end);
    }
    return words;
}

using Words = std::vector<std::string_view>;
using Flags = std::vector<bool>;  ///< of each word, whether the other line has it, too

struct Common {
    Flags older;
    Flags newer;
};

// The longest common subsequence of the words [begin, older_end) and [begin, newer_end).
void find_common(const Words& older, const Words& newer, std::size_t begin, std::size_t older_end,
                 std::size_t newer_end, Common& common) {
    const std::size_t rows = older_end - begin;
    const std::size_t columns = newer_end - begin;
    if (rows == 0 || columns == 0 || rows > kMostCells / columns) return;
    std::vector<std::uint32_t> longest((rows + 1) * (columns + 1), 0);
    const auto at = [&](std::size_t row, std::size_t column) -> std::uint32_t& {
        return longest[row * (columns + 1) + column];
    };
    for (std::size_t row = rows; row-- > 0;) {
        for (std::size_t column = columns; column-- > 0;) {
            at(row, column) = older[begin + row] == newer[begin + column]
                                  ? at(row + 1, column + 1) + 1
                                  : std::max(at(row + 1, column), at(row, column + 1));
        }
    }
    for (std::size_t row = 0, column = 0; row < rows && column < columns;) {
        if (older[begin + row] == newer[begin + column]) {
            common.older[begin + row++] = true;
            common.newer[begin + column++] = true;
        } else if (at(row + 1, column) >= at(row, column + 1)) {
            ++row;
        } else {
            ++column;
        }
    }
}

Common common_words(const Words& older, const Words& newer) {
    Common common{Flags(older.size()), Flags(newer.size())};
    const std::size_t most = std::min(older.size(), newer.size());
    std::size_t begin = 0;
    for (; begin < most && older[begin] == newer[begin]; ++begin)
        common.older[begin] = common.newer[begin] = true;
    std::size_t end = 0;
    for (; end < most - begin && older[older.size() - 1 - end] == newer[newer.size() - 1 - end];
         ++end) {
        common.older[older.size() - 1 - end] = true;
        common.newer[newer.size() - 1 - end] = true;
    }
    find_common(older, newer, begin, older.size() - end, newer.size() - end, common);
    return common;
}

// Blanks between two changed words are marked with them: a mark with holes reads badly.
std::vector<ByteRange> ranges_of(const Words& words, const Flags& common) {
    std::vector<ByteRange> ranges;
    std::size_t offset = 0;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::size_t end = offset + words[i].size();
        const bool bridges = common[i] && is_blank(words[i][0]) && i > 0 && i + 1 < words.size() &&
                             !common[i - 1] && !common[i + 1];
        if (!common[i] || bridges) {
            if (!ranges.empty() && ranges.back().end == offset) {
                ranges.back().end = end;
            } else {
                ranges.push_back({offset, end});
            }
        }
        offset = end;
    }
    return ranges;
}

}  // namespace

WordChanges word_changes(std::string_view older, std::string_view newer) {
    const Words was = words_of(older);
    const Words is = words_of(newer);
    const Common common = common_words(was, is);
    std::size_t same = 0;
    for (std::size_t i = 0; i < was.size(); ++i)
        same += common.older[i] && !is_blank(was[i][0]) ? was[i].size() : 0;
    if (same * 100 < std::max(older.size(), newer.size()) * kLeastCommon) return {};
    return {ranges_of(was, common.older), ranges_of(is, common.newer)};
}

}  // namespace unwrite::edit
