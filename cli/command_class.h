// What kinds of operations there are, which of them can be taken back, and who must agree first: so
// that a client can ask before it starts one. What a command is, is told by its words alone: a
// hint for people and clients, and no wall (docs/security.md).
#pragma once

#include <span>
#include <string>
#include <vector>

namespace unwrite::cli {

struct OperationClass {
    const char* name;        ///< stable, for clients
    const char* operation;   ///< for people
    const char* reversible;  ///< "yes", "no", "n/a"
    const char* mechanism;
    const char* approval;  ///< "none", "blocked", "reading", "required"
};

/// All of them, in the order in which they are shown.
std::span<const OperationClass> operation_classes();

/// The class of a command: one of those whose name begins with "run-", or "remote". What is not
/// known, or hidden in the words of a shell, is "run-unknown".
const OperationClass& class_of(const std::vector<std::string>& command);

}  // namespace unwrite::cli
