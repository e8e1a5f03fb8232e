// What a capture would cost, before it is made.
#include <algorithm>
#include <bit>

#include "overlay/capture.h"

namespace unwrite::overlay {

// Says for most writes, without a look at the file, that nothing is left to capture.
bool Capture::needs_no_copy(const ObjectKey& key, std::uint64_t offset, std::uint64_t end) const {
    Shard& s = shard(key);
    const std::lock_guard lock(s.mutex);
    const auto found = s.objects.find(key);
    if (found == s.objects.end()) return false;
    const Covered& covered = found->second;
    if (covered.created) return true;
    return covered.sized && covered.has_bytes(offset, end);
}

Result<std::uint64_t> Capture::copied_with(const ObjectPtr& object, std::uint64_t offset,
                                           std::uint64_t length) const {
    const std::uint64_t end = offset > UINT64_MAX - length ? UINT64_MAX : offset + length;
    if (object->is_unrecorded() || length == 0 || needs_no_copy(object->key(), offset, end))
        return std::uint64_t{0};
    TRY_ASSIGN(const struct stat st, objects_.stat(object));
    std::uint64_t size = static_cast<std::uint64_t>(st.st_size);
    std::uint64_t held = 0;
    std::uint64_t fresh = 0;
    {
        Shard& s = shard(object->key());
        const std::lock_guard lock(s.mutex);
        const auto found = s.objects.find(object->key());
        static const Covered kNone;
        const Covered& covered = found == s.objects.end() ? kNone : found->second;
        if (covered.sized) size = covered.size;
        for (const std::uint64_t word : covered.blocks)
            held += static_cast<std::uint64_t>(std::popcount(word));
        const std::uint64_t last = std::min(end, size);
        for (std::uint64_t block = offset / kBlockSize; block * kBlockSize < last; ++block) {
            if (!covered.has_block(block)) ++fresh;
        }
    }
    if (fresh == 0) return std::uint64_t{0};
    // Holes are not copied.
    const auto allocated = static_cast<std::uint64_t>(st.st_blocks) * 512;
    return std::min({(held + fresh) * kBlockSize, size, held * kBlockSize + allocated});
}

bool Capture::must_sync_before(const ObjectPtr& object) const {
    if (!ordered_) return false;
    Shard& s = shard(object->key());
    const std::lock_guard lock(s.mutex);
    const auto found = s.objects.find(object->key());
    return found != s.objects.end() && !found->second.created && found->second.sized;
}

Result<> Capture::sync_before(const ObjectPtr& object) {
    if (!must_sync_before(object)) return {};
    TRY_ASSIGN(const journal::DeltaWriter::Files files, writer_->files());
    if (files.log_end <= synced_log_) return {};
    TRY(files.sync(journal_.state_dir().deltas()));
    synced_log_ = files.log_end;
    return {};
}

}  // namespace unwrite::overlay
