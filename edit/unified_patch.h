// Unified diffs as patches: what git and diff(1) write, taken apart and carried out on bytes.
// Nothing is guessed: a hunk fits exactly where it says, or in exactly one other place.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace unwrite::edit {

struct HunkLine {
    char origin = ' ';   ///< ' ' in both, '-' in the old file alone, '+' in the new one
    std::string text{};  ///< with its LF, unless it is the last of a file without one
};

struct Hunk {
    std::uint64_t old_start = 0;  ///< from 1; with no old lines the line after which it stands
    std::vector<HunkLine> lines{};
    std::uint64_t patch_line = 0;  ///< where its header stands in the patch, from 1
    bool of_nothing = false;       ///< "-0,0": the old file is empty, or not there
    bool to_nothing = false;       ///< "+0,0": so is the new one
};

/// What a patch does to one file. Paths are as written: the caller checks where they lead.
struct FilePatch {
    std::optional<std::string> old_path{};  ///< nothing: the file is created
    std::optional<std::string> new_path{};  ///< nothing: the file is deleted
    std::optional<bool> executable{};       ///< the mode that it shall have, when the patch says
    bool copies = false;                    ///< the old file stays as it is
    std::vector<Hunk> hunks{};
    std::uint64_t patch_line = 0;  ///< where it begins in the patch, from 1
};

/// Text around the diffs is passed over. `strip`: how many leading components of each name are
/// dropped (1: "a/" and "b/"); names in git's "rename" and "copy" lines have none of them.
/// Errors (kUsage), of which `failed_line` is the line in the patch: a hunk that is cut off or
/// counts wrongly, a name that is missing, binary files, symbolic links, submodules; a patch
/// without any file.
Result<std::vector<FilePatch>> parse_unified(std::string_view patch, unsigned strip = 1,
                                             std::uint64_t* failed_line = nullptr);

/// The new bytes. Errors: kConflict, "Hunk #2 (line 40) does not match", or "... matches in more
/// than one place"; `failed_line` is then where the hunk begins in the patch.
Result<std::string> apply_hunks(const std::vector<Hunk>& hunks, std::string_view bytes,
                                std::uint64_t* failed_line = nullptr);

/// What takes these back. They must stand in their order, as parse_unified() has them from a diff.
std::vector<Hunk> reversed(std::vector<Hunk> hunks);

}  // namespace unwrite::edit
