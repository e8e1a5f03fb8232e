#include "overlay/room.h"

#include <algorithm>
#include <limits>

namespace unwrite::overlay {

using journal::ContentImage;

std::int64_t RoomNeeded::of_object(const ObjectKey& key, const journal::ObjectImage& image) {
    std::uint64_t now = 0;
    std::uint64_t held = std::numeric_limits<std::uint64_t>::max();  // of the disk, without holes
    if (const auto known = sizes_.find(key); known != sizes_.end()) {
        now = known->second;
    } else if (const auto st = locator_.stat(key)) {
        now = static_cast<std::uint64_t>(st->st_size);
        held = static_cast<std::uint64_t>(st->st_blocks) * 512;
    }
    const std::uint64_t then = *image.size;
    std::uint64_t copied = now > then ? now - then : 0;
    std::uint64_t grown = 0;
    for (const ContentImage& range : image.content) {
        const std::uint64_t end = std::min(range.offset + range.length, then);
        if (range.offset < std::min(now, end)) copied += std::min(now, end) - range.offset;
        if (range.position != ContentImage::kHole && end > std::max(now, range.offset))
            grown += end - std::max(now, range.offset);
    }
    sizes_[key] = then;
    return static_cast<std::int64_t>(std::min(copied, held) + grown);
}

void RoomNeeded::cross(const journal::Delta& delta, std::uint64_t freed) {
    for (const auto& [key, image] : delta.objects) {
        if (image.size) used_ += of_object(key, image);
    }
    most_ = std::max(most_, used_);
    used_ -= static_cast<std::int64_t>(freed);
}

}  // namespace unwrite::overlay
