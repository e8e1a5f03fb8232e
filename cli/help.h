// What `--help`, `unwrite help` and the manual say about a command beyond its options: how it is
// called, and examples. And how that is laid out on a terminal.
#pragma once

#include <CLI/App.hpp>
#include <string>
#include <vector>

namespace unwrite::cli {

struct Example {
    std::string line;     ///< as typed: "unwrite undo n7"
    std::string meaning;  ///< a few words; may be empty
};

struct Help {
    std::string usage;  ///< what follows the command's name: "[OPTIONS] PATH..."
    std::vector<Example> examples;
    std::string note{};  ///< a paragraph after the examples; may be empty
};

/// Every command calls this once. A test checks the examples against the parser.
void describe(CLI::App& command, Help help);

/// Null for a command that was not described.
const Help* help_of(const CLI::App& command);

/// "unwrite git undo": the names from the program down to `command`.
std::string full_name(const CLI::App& command);
/// "git undo" of "unwrite git undo"; empty for the program.
std::string verb_of(const CLI::App& command);

/// The text of `unwrite COMMAND --help`, or of `unwrite --help` for the program itself. No line is
/// longer than 80 columns unless a single word is.
std::string help_text(const CLI::App& command);

/// "--message" and "-m"; nothing for a positional argument.
std::vector<std::string> flags_of(const CLI::Option& option);
bool takes_value(const CLI::Option& option);
/// Without the hidden ones.
std::vector<const CLI::Option*> options_of(const CLI::App& app);
std::vector<const CLI::App*> commands_of(const CLI::App& app);

}  // namespace unwrite::cli
