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
    struct Amount {
        std::uint64_t copied = 0;  ///< bytes of files: those kept for the way back, and growth
        std::uint64_t grown = 0;   ///< of them, those by which files grow
        std::uint64_t rows = 0;    ///< about what names and attributes take
    };
    Amount amount() const { return {at_least_0(most_), at_least_0(most_grown_), rows_}; }

 private:
    struct Bytes {
        std::int64_t copied = 0;
        std::int64_t grown = 0;
    };
    Bytes of_object(const ObjectKey& key, const journal::ObjectImage& image);
    static std::uint64_t at_least_0(std::int64_t bytes) {
        return bytes > 0 ? static_cast<std::uint64_t>(bytes) : 0;
    }

    Locator& locator_;
    std::unordered_map<ObjectKey, std::uint64_t> sizes_{};  // as the edges so far leave them
    std::int64_t used_ = 0;
    std::int64_t most_ = 0;
    std::int64_t grown_ = 0;
    std::int64_t most_grown_ = 0;
    std::uint64_t rows_ = 0;
};

}  // namespace unwrite::overlay
