// Paths of what has no name in the live tree, and comes back at one.
#pragma once

#include <string>
#include <unordered_map>

#include "overlay/locator.h"

namespace unwrite::overlay {

/// Where objects come back.
using Placed = std::unordered_map<ObjectKey, NameKey>;

/// Of a name, by the live tree and, above what is in it, by `placed`; as much of it as is known.
std::string placed_path(Locator& locator, const Placed& placed, const NameKey& at);

}  // namespace unwrite::overlay
