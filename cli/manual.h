// The command line described for others: completions of shells, and the manual page. Both are made
// of what the parser knows, which is what --help prints. Pure functions.
#pragma once

#include <CLI/App.hpp>
#include <string>

#include "base/result.h"

namespace unwrite::cli {

/// For "bash", "zsh" or "fish"; kUsage for another shell.
Result<std::string> completion_script(const CLI::App& app, const std::string& shell);

/// In the language of man(7), section 1.
std::string manual_page(const CLI::App& app);

}  // namespace unwrite::cli
