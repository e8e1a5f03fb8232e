// The plan that brings single paths, and what is below them, to how they are at a node. It is
// carried out like a revert.
#pragma once

#include "overlay/revert_plan.h"

namespace unwrite::overlay {

/// `paths` are relative to the root, as in operations.h. kNotFound for a path that neither state
/// has; kConflict when a path's directory was moved elsewhere since, or when what was there has
/// another name now that was not asked for. A plan without images: they are as at the node already.
Result<RevertPlan> plan_paths(const History& history, Locator& locator, journal::Journal& journal,
                              journal::NodeNumber node, const std::vector<std::string>& paths);

}  // namespace unwrite::overlay
