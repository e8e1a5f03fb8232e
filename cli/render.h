// Changes, nodes, origins and diffs as text. Pure functions: no output, no operations.
#pragma once

#include <string>
#include <vector>

#include "cli/ansi.h"
#include "overlay/oversight.h"

namespace unwrite::cli {

/// "Modified 12 files, created 3, deleted 1", "No changes".
std::string summary_words(const std::vector<overlay::Change>& changes);
/// "+142 -38 across 6 files"; "+142 -38 across 31,210 files (lines of 31,204 files not counted)".
std::string line_words(const overlay::LineCounts& lines, std::uint64_t files,
                       std::uint64_t not_counted);
/// "[checkpoint: 6 files changed]".
std::string status_line(std::uint64_t files);

/// 'A', 'D', 'M', 'R', or 'm' for attributes alone.
char change_letter(const overlay::Change& change);
/// "old -> new  (and modified, mode)": what is said of a change after its letter.
std::string change_words(const overlay::Change& change);
/// One line each, "  M  src/main.c"; at most `most` (0: all), then how many more there are.
std::string change_lines(const std::vector<overlay::Change>& changes, std::size_t most,
                         Colour colour);

/// "you (vim, sed) and run-5 (make)": each session and program once.
std::string origins_words(const std::vector<overlay::Origin>& origins);

/// Above the paths of Status::outside.
constexpr const char* kOutsideTitle = "Changed outside the mount, which no step records:";
/// The title and the paths below it, the first twelve; nothing where there are none.
std::string path_lines(const std::string& title, const std::vector<std::string>& paths);

/// Who changed how many files, a line for each: "  12 files by run-5 (make, cc)". What several
/// sessions changed is a line of its own. Nothing where nobody is known.
std::string who_lines(const std::vector<overlay::Change>& changes,
                      const std::vector<overlay::Origin>& origins);

/// One line each, oldest first.
std::string audit_lines(const overlay::AuditTrail& trail);

/// A unified diff as it is; for a terminal without its controls and, with `colour`, coloured.
std::string diff_lines(const overlay::FileDiff& diff, bool terminal, Colour colour);
/// As `git diff --stat`.
std::string stat_lines(const std::vector<overlay::FileDiff>& diffs);

}  // namespace unwrite::cli
