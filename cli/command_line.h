// The command line: which commands there are, in the groups of the help, and what a line that was
// typed asks for, or why it makes no sense.
#pragma once

#include <CLI/App.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/context.h"

namespace unwrite::cli {

class CommandLine {
 public:
    /// `words` are what follows the program's name. `context` outlives this object.
    CommandLine(Context& context, std::vector<std::string> words);
    CommandLine(const CommandLine&) = delete;
    CommandLine& operator=(const CommandLine&) = delete;

    /// Puts the verb and the action of the command into the context. kUsage, in words for people,
    /// when the line makes no sense. Called once.
    Result<> parse();

    /// Of `--help` and `--version`: what to print instead of acting.
    const std::optional<std::string>& text() const { return text_; }
    /// What -C names; empty without it.
    const std::string& directory() const { return directory_; }
    const CLI::App& app() const { return app_; }

 private:
    Result<> expect_known_commands() const;
    Error usage_error(const CLI::ParseError& error) const;
    Error surplus(const CLI::App& chosen, const std::string& word) const;

    Context& context_;
    std::vector<std::string> words_;
    std::vector<std::string> rest_;  ///< what follows "--" of a command that takes another one
    std::size_t first_ = 0;          ///< of the words: the command's name
    CLI::App app_;
    std::string directory_;
    std::optional<std::string> text_;
};

}  // namespace unwrite::cli
