// What operations answer, for a model: as JSON and as text. Names that are not UTF-8 are shown with
// U+FFFD. Pure functions.
#pragma once

#include <string>
#include <vector>

#include "mcp/message.h"
#include "overlay/operations.h"

namespace unwrite::mcp {

/// Longer texts are cut there, and say so.
inline constexpr std::size_t kMaxText = 200000;
inline constexpr std::size_t kMaxChanges = 500;

Json encode(const overlay::Node& node);
Json encode(const std::vector<overlay::Change>& changes);  ///< at most kMaxChanges
Json encode(const overlay::Status& status);
Json encode(const overlay::Log& log, std::size_t most);
Json encode(const overlay::Moved& moved);

/// "modified: src/main.c", a line each.
std::string lines_of(const std::vector<overlay::Change>& changes);
/// `since`: what the changes were asked from; empty: the root.
std::string text_of(const overlay::Status& status, const std::string& since = {});
std::string text_of(const overlay::Log& log, std::size_t most);
/// "n10 [lesson] text", a line each: what revert_to_state left to tell.
std::string notes_text(const overlay::Log& log);
/// The same as a list of {"node", "text"}.
Json encode_notes(const overlay::Log& log);
/// "3 files changed since n1, +4 -5 lines"
std::string files_words(const overlay::Status& status, const std::string& since = {});
std::string text_of(const std::vector<overlay::FileDiff>& diffs, bool only_names);
std::string cut(std::string text);

}  // namespace unwrite::mcp
