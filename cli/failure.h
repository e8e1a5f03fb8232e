// How a failure is told to a person: what failed and why, then, on a line of its own, what to do.
#pragma once

#include <string>

#include "cli/context.h"

namespace unwrite::cli {

/// "unwrite VERB: TEXT." and, if the error has advice, "hint: ADVICE"; each line ends with a
/// newline. The text of an error may begin with the verb already: it is said once.
std::string failure_lines(const std::string& verb, const Error& error);

/// Writes these lines to the notes, for the command of this context.
void tell_failure(Context& context, const Error& error);
/// The same for a failure that has a text and nothing else.
void tell_failure(Context& context, const std::string& text);

}  // namespace unwrite::cli
