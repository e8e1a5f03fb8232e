// The terminal, handed to a program of the person's choice.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace unwrite::cli::screen {

/// The first of these variables that says something, else `otherwise`.
std::string command_of(const std::vector<const char*>& variables, const char* otherwise);

/// Runs a command line of the shell, as the person wrote it, with more arguments, on this terminal,
/// and waits for it; keys that would end a program end that one alone. `input`: what it reads on
/// stdin, which is the terminal where this is empty. kSystem when it cannot be started; what it
/// ends with is its own affair.
Result<> hand_over(const std::string& command, const std::vector<std::string>& arguments,
                   std::string_view input);

}  // namespace unwrite::cli::screen
