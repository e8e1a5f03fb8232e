// A restore was killed, and before it is finished somebody changed files behind the mount. What the
// restore is to put there would cover that, and no delta knows it: so it is set aside first, beside
// where it was, under a name that ends in `.unwrite-kept`.
#pragma once

#include <string>
#include <vector>

#include "overlay/layers.h"
#include "overlay/locator.h"

namespace unwrite::overlay {

/// `wanted` is the delta that is being applied, `before` its inverse. A file that holds bytes which
/// are in neither is copied; what stands at a name of `wanted` and belongs there in neither is
/// renamed. Paths of what was kept, from the root. Gate closed. A second call after a kill keeps
/// again what may not have been kept wholly.
Result<std::vector<std::string>> set_aside(Locator& locator, const LayerPtr& wanted,
                                           const LayerPtr& before);

/// Renames what stands at a name, `there`, in the same way; its new path goes to `kept`. Gate
/// closed.
Result<> move_aside(Locator& locator, const NameKey& at, const ObjectKey& there,
                    std::vector<std::string>& kept);

}  // namespace unwrite::overlay
