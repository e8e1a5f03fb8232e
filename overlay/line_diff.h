// The difference of two files as a unified diff in git's form, which `git apply` takes. edit/diff.h
// finds the lines.
#pragma once

#include <optional>

#include "base/result.h"
#include "overlay/operations.h"
#include "overlay/patch_headers.h"

namespace unwrite::overlay {

/// Larger files are not compared by lines.
inline constexpr std::uint64_t kMaxTextSize = 16ULL * 1024 * 1024;

struct DiffSide {
    PatchSide as{};
    std::optional<std::string> bytes{};  ///< what it holds (a symlink: its target); nothing when it
                                         ///< is too large; empty when absent
};

struct LineDiff {
    bool binary = false;
    std::string text{};
    LineCounts lines{};
};

std::uint64_t count_lines(std::string_view bytes);

/// The text is empty when nothing differs that git knows. `with_text`: false counts the lines only.
/// `same`: the caller knows that the bytes are equal and gave none.
Result<LineDiff> line_diff(const DiffSide& older, const DiffSide& newer, bool same, bool with_text);

}  // namespace unwrite::overlay
