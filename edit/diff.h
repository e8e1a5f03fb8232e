// Differences of texts, to be read: the unified form, which `git apply` and parse_unified() take,
// and the short form with line numbers that a model is answered with.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace unwrite::edit {

/// One side of a unified diff; a file that is not there has no text.
struct DiffText {
    std::string_view path{};
    std::optional<std::string_view> text{};
    bool executable = false;
};

/// As git tells text from binary: a NUL in the first 8000 bytes.
bool is_binary(std::string_view bytes);

/// What a person judges as one: changes whose contexts of three lines touch.
struct DiffHunk {
    std::string text{};  ///< from the "@@" line on, with its context
    std::uint64_t added = 0;
    std::uint64_t removed = 0;
};
/// In order; none when nothing differs. `with_text`: false counts alone. Errors: kSystem.
Result<std::vector<DiffHunk>> hunks_between(std::string_view older, std::string_view newer,
                                            bool with_text = true);
/// The older text with those of the hunks between the two that are in `kept` (numbers from 1, as
/// hunks_between() has them). Errors: kUsage for a number that there is not, kSystem.
Result<std::string> with_hunks(std::string_view older, std::string_view newer,
                               const std::vector<std::uint64_t>& kept);

/// With git's headers and three lines of context; empty when nothing differs. Text with a NUL in
/// its first 8000 bytes is only said to differ. Errors: kSystem.
Result<std::string> unified_diff(const DiffText& older, const DiffText& newer);

/// One line for each line that changed and for one beside it: the number to the right, then "  ",
/// " -" or " +", then the text without its ending. Removed lines have their old number. More than
/// three lines that are left out in between are shown as "...". Errors: kSystem.
Result<std::string> numbered_diff(std::string_view older, std::string_view newer);

}  // namespace unwrite::edit
