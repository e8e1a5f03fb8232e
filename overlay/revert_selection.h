// What a revert takes back.
#pragma once

#include <set>
#include <vector>

#include "overlay/history.h"

namespace unwrite::overlay {

/// Whose changes, in which intervals.
struct RevertPart {
    std::set<journal::DeltaNumber> deltas{};    ///< empty: all on the way
    std::set<journal::OriginNumber> origins{};  ///< whose, by session; empty: everybody's
    std::set<journal::NodeNumber> except{};     ///< but not these runs'
};

/// What is to be taken back.
struct RevertSelection {
    std::vector<RevertPart> parts{};
    bool partly = false;  ///< what cannot be taken back is left, and the rest taken back
};

}  // namespace unwrite::overlay
