// The lines that git writes before the hunks of a file's diff.
#pragma once

#include <cstdint>
#include <string>

namespace unwrite::overlay {

/// A file on one side of a diff, as git sees it.
struct PatchSide {
    std::string path{};
    std::uint32_t mode = 0;  ///< 0100644, 0100755 or 0120000; 0: it is not there
};

/// st_mode in git's terms; 0 for what git does not know (directories, devices...).
std::uint32_t git_mode(std::uint32_t mode);

/// "diff --git" and what follows it up to the "---" line. `similarity` in percent, for renames.
std::string patch_header(const PatchSide& older, const PatchSide& newer, unsigned similarity);
/// The "---" and "+++" lines.
std::string hunk_header(const PatchSide& older, const PatchSide& newer);
/// "Binary files a/x and b/x differ".
std::string binary_line(const PatchSide& older, const PatchSide& newer);

}  // namespace unwrite::overlay
