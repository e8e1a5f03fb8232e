// What the driver does while it is killed: lists of operations, each a single change or a single
// move of the live state.
#pragma once

#include <string>
#include <vector>

#include "tests/model/operation.h"

namespace unwrite::tests {

/// The names of all scenarios.
std::vector<std::string> scenario_names();
/// Throws std::out_of_range for an unknown name.
const Operations& scenario(const std::string& name);
/// Fills a raw directory with what the scenarios expect.
void furnish(const std::string& directory);

}  // namespace unwrite::tests
