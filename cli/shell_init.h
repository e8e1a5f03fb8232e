// What `eval "$(unwrite shell-init SHELL)"` does in a shell: it enters a mount, or leaves one that
// has ended, by itself, and brings tab completion and the number of changed files in the prompt.
// Pure functions.
#pragma once

#include <CLI/App.hpp>
#include <string>

#include "base/result.h"

namespace unwrite::cli {

/// Set by such a shell for this program: nobody needs to be told what to type.
inline constexpr const char* kShellVariable = "UNWRITE_SHELL";

/// For "bash", "zsh" or "fish"; kUsage for another shell. `app` is for the completion.
Result<std::string> shell_init(const CLI::App& app, const std::string& shell);

}  // namespace unwrite::cli
