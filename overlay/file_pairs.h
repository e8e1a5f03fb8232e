// File pairs: differences taken apart into single files, for what works line by line. A created,
// deleted or renamed directory becomes one pair for each file below it, unless it holds too many.
#pragma once

#include "overlay/differences.h"
#include "overlay/ignored.h"

namespace unwrite::overlay {

struct FilePair {
    Change change{};
    std::optional<Located> older{};
    std::optional<Located> newer{};
    std::string older_path{};
};

/// Sorted by path. A directory with more than `most_below` objects below it (or none that is not a
/// directory) stays one pair; with `ignored`, each tree in which git ignores everything is one, and
/// is not counted there. A file that was deleted and made again at the same path is one kModified
/// pair, or none when it is the same again. The pairs stand for as many files as the differences do
/// (Change::files), unless a tree is taken apart that replaced an ignored one.
Result<std::vector<FilePair>> file_pairs(View& older, View& newer, const Differences& differences,
                                         std::uint64_t most_below, Ignored* ignored = nullptr);

}  // namespace unwrite::overlay
