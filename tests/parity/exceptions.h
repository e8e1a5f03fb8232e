// Where a mount may differ from a plain directory, and why it must.
#pragma once

#include <string>
#include <vector>

namespace unwrite::tests::parity {

/// A difference is excused when each line that only one side has fits the pattern for that side of
/// an exception for the cell. Patterns are those of the shell.
struct Exception {
    const char* cells;
    const char* plain;
    const char* mount;
    const char* reason;
};
const std::vector<Exception>& exceptions();

/// In these cells a line of the mount may have one word where the plain directory has another, and
/// be the same otherwise.
struct WordException {
    const char* cells;
    const char* plain;
    const char* mount;
    const char* reason;
};
const std::vector<WordException>& word_exceptions();
/// Where the owner mounts, besides.
const std::vector<WordException>& word_exceptions_of_the_owner();

/// The lines that only one side has; there is at least one.
bool is_excused(const std::string& cell, std::vector<std::string> only_plain,
                std::vector<std::string> only_mount);

}  // namespace unwrite::tests::parity
