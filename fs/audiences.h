// The inodes of one object (overlay::Audience): two bits of the number by which the kernel knows
// it. The table of objects hands out no number that has them.
#pragma once

#include "fs/library.h"
#include "overlay/tree.h"

namespace unwrite::fs {

inline constexpr fuse_ino_t kOfAgents = fuse_ino_t{1} << 61U;
inline constexpr fuse_ino_t kOfOthers = fuse_ino_t{1} << 60U;

inline fuse_ino_t id_for(overlay::NodeId id, overlay::Audience audience) {
    switch (audience) {
        case overlay::Audience::kAgents:
            return id | kOfAgents;
        case overlay::Audience::kOthers:
            return id | kOfOthers;
        case overlay::Audience::kEveryone:
            break;
    }
    return id;
}

inline overlay::NodeId id_of(fuse_ino_t number) {
    return number & ~(kOfAgents | kOfOthers);
}

inline overlay::Audience audience_of(fuse_ino_t number) {
    if ((number & kOfAgents) != 0) return overlay::Audience::kAgents;
    return (number & kOfOthers) != 0 ? overlay::Audience::kOthers : overlay::Audience::kEveryone;
}

}  // namespace unwrite::fs
