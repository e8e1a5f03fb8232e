// What differs inside a changed line: words, to be shown with a mark of their own. Pure functions.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace unwrite::edit {

/// Bytes [begin, end) of a line.
struct ByteRange {
    std::size_t begin = 0;
    std::size_t end = 0;
    bool operator==(const ByteRange&) const = default;
};

struct WordChanges {
    std::vector<ByteRange> older{};  ///< what the newer line does not have; in order, apart
    std::vector<ByteRange> newer{};
};

/// Both sides are empty where the lines have too little in common for a mark to help, and where
/// nothing differs. Ranges never cut a character of valid UTF-8. Bounded: of lines with thousands
/// of words only what lies between the equal ends is marked.
WordChanges word_changes(std::string_view older, std::string_view newer);

}  // namespace unwrite::edit
