#include "overlay/room.h"

#include <algorithm>
#include <limits>

namespace unwrite::overlay {

using journal::ContentImage;

namespace {

// A record, an entry of the attic and a place.
constexpr std::uint64_t kName = 256;
constexpr std::uint64_t kObject = 128;
// Its log, and what is left of a block.
constexpr std::uint64_t kEdge = 8192;

}  // namespace

RoomNeeded::Bytes RoomNeeded::of_object(const ObjectKey& key, const journal::ObjectImage& image) {
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
    std::uint64_t written = 0;
    for (const ContentImage& range : image.content) {
        const std::uint64_t end = std::min(range.offset + range.length, then);
        if (range.offset < std::min(now, end)) copied += std::min(now, end) - range.offset;
        if (range.position == ContentImage::kHole || end <= range.offset) continue;
        written += end - range.offset;
        if (end > std::max(now, range.offset)) grown += end - std::max(now, range.offset);
    }
    // Where its holes are is not looked up.
    if (held < now) grown = written;
    sizes_[key] = then;
    return {static_cast<std::int64_t>(std::min(copied, held)), static_cast<std::int64_t>(grown)};
}

void RoomNeeded::cross(const journal::Delta& delta, std::uint64_t freed) {
    rows_ += kEdge + delta.names.size() * kName + delta.objects.size() * kObject;
    for (const auto& [key, image] : delta.objects) {
        if (!image.size) continue;
        const Bytes bytes = of_object(key, image);
        used_ += bytes.copied + bytes.grown;
        grown_ += bytes.grown;
    }
    most_ = std::max(most_, used_);
    most_grown_ = std::max(most_grown_, grown_);
    used_ -= static_cast<std::int64_t>(freed);
    grown_ -= static_cast<std::int64_t>(freed);
}

}  // namespace unwrite::overlay
