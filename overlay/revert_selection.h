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
    bool merge = false;  ///< a text that others changed as well is put together, where it can be
};

}  // namespace unwrite::overlay
