// What a user can configure about edits ([tools.edit] and the limits of the tools), with the
// values that hold when nothing is configured. Sizes are bytes.
#pragma once

#include <cstdint>

namespace unwrite::edit {

/// What an LP1 patch does with a file whose line endings are mixed.
enum class MixedEndings {
    kPreserve,   ///< each untouched line keeps its own; new lines get the file's majority
    kStrict,     ///< an error
    kNormalize,  ///< the whole file is written with its majority
};

struct Settings {
    bool enabled = true;                             ///< tools.edit.enabled
    std::uint64_t max_snippet = 262144;              ///< tools.edit.max_snippet_bytes, each snippet
    std::uint64_t max_line_edit = 262144;            ///< tools.edit.max_line_edit_bytes
    bool require_file_hash = false;                  ///< tools.edit.require_file_hash
    MixedEndings lp1_eol = MixedEndings::kPreserve;  ///< edit.lp1_eol
    std::uint64_t max_patch = 524288;                ///< max_patch_bytes
    std::uint64_t max_file = 204800;       ///< max_file_read_bytes: larger files are not edited
    std::uint64_t max_arguments = 262144;  ///< the JSON of one tool call
};

}  // namespace unwrite::edit
