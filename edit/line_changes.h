// Which lines differ between two texts. libgit2 finds them; lines end with LF.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace unwrite::edit {

/// `old_count` lines from `old_start` on became `new_count` lines from `new_start` on. Lines are
/// numbered from 1; with a count of 0 the start is the line before which the others stand.
struct LineChange {
    std::uint64_t old_start = 0;
    std::uint64_t old_count = 0;
    std::uint64_t new_start = 0;
    std::uint64_t new_count = 0;
    bool operator==(const LineChange&) const = default;
};

/// In order, apart from each other by at least one equal line. Errors: kSystem (no memory).
Result<std::vector<LineChange>> line_changes(std::string_view older, std::string_view newer);

/// What the first comparison in a process would wait for, some milliseconds: for when there is
/// time.
void prepare_line_changes();

/// The lines with their endings.
std::vector<std::string_view> split_lines(std::string_view text);

}  // namespace unwrite::edit
