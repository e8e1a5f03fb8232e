// A TOML file that belongs to somebody else: a table is put behind its text, and taken out again.
// Pure functions.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace unwrite::cli {

/// `text` with `table` (the text of one table, header first) behind it; unchanged when it has such
/// a table already. Errors, in words that follow a file's name: kUsage when `text` is not TOML;
/// kConflict when it has something else in its place.
Result<std::string> with_table(std::string_view text, std::string_view table);

/// Without it, where it stands as with_table() wrote it; else unchanged. Errors: kUsage.
Result<std::string> without_table(std::string_view text, std::string_view table);

}  // namespace unwrite::cli
