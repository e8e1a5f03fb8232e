// Puts the objects of cells in place, by plain system calls, before anybody mounts.
#pragma once

#include "base/result.h"
#include "tests/parity/cell.h"

namespace unwrite::tests::parity {

/// The times that every object of a fixture has, so that a change of them is seen.
inline constexpr struct timespec kAccessed = {981173106, 111111111};
inline constexpr struct timespec kModified = {981173106, 123456789};

/// Makes the directory `name` with what the fixture says below `parent`, a descriptor. For root.
Result<> build(int parent, const std::string& name, const Fixture& fixture);

}  // namespace unwrite::tests::parity
