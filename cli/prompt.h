// Questions to a person, who is asked only where both ends of the talk are a terminal.
#pragma once

#include <string>
#include <string_view>

#include "cli/context.h"

namespace unwrite::cli {

/// stdin and stderr are a terminal.
bool can_ask();
/// What makes a terminal ring, for questions that come while a person may look elsewhere; nothing
/// with `bell = false` in the user's configuration.
std::string bell();
/// Prints the question (to stderr) and reads lines until one begins with one of `letters` (any
/// case), which is returned in lower case. At the end of the input: the last of `letters`.
char ask(Context& context, const std::string& question, std::string_view letters);

}  // namespace unwrite::cli
