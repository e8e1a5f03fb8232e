// Room: what a restore needs of the disk before it changes anything, so that none begins that
// cannot end.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "overlay/locator.h"

namespace unwrite::overlay {

/// What the crossing of one edge after the other takes at most at one time: the way back of each
/// (Restorer::invert) is written before what it replaces goes. Live files grow, too.
class RoomNeeded {
 public:
    explicit RoomNeeded(Locator& locator) : locator_(locator) {}
    /// `freed`: the bytes of the data file that goes once the edge is crossed.
    void cross(const journal::Delta& delta, std::uint64_t freed);
    /// In bytes; without what names and attributes take.
    std::uint64_t bytes() const { return most_ > 0 ? static_cast<std::uint64_t>(most_) : 0; }

 private:
    std::int64_t of_object(const ObjectKey& key, const journal::ObjectImage& image);

    Locator& locator_;
    std::unordered_map<ObjectKey, std::uint64_t> sizes_{};  // as the edges so far leave them
    std::int64_t used_ = 0;
    std::int64_t most_ = 0;
};

}  // namespace unwrite::overlay
