// The driver does a scenario and notes its progress in a directory, so that whoever finds it killed
// knows what it was at:
//   at           the number of the operation that it began, "open" before the first, "done" after
//   the last before.<i>   the snapshot before operation i (the last: at the end) node.<n>     the
//   snapshot of each named checkpoint root.<i>     the snapshot that a discard must give, from
//   operation i on
#pragma once

#include <string>

#include "tests/model/operation.h"
#include "tests/support/world.h"

namespace unwrite::tests {

/// Throws when an operation fails.
void drive(const std::string& scenario_name, const std::string& directory,
           const std::string& progress);

}  // namespace unwrite::tests
