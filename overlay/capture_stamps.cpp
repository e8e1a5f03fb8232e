// What we left of the objects that we changed: how it looked, and which of our writes was its last.
#include <algorithm>

#include "overlay/capture.h"

namespace unwrite::overlay {

// Looked at under the lock: of two that write one file, whoever comes last has seen both writes.
void Capture::stamp(const ObjectKey& key, int fd) {
    Shard& s = shard(key);
    const std::lock_guard lock(s.mutex);
    const auto st = sys::stat_fd(fd);
    if (st) s.known[key].stamp = journal::Stamp::of(*st);
}

void Capture::wrote(const ObjectKey& key, int fd) {
    Shard& s = shard(key);
    const std::lock_guard lock(s.mutex);
    Known& known = s.known[key];
    known.last_write = ++s.writes;
    if (const auto st = sys::stat_fd(fd)) known.stamp = journal::Stamp::of(*st);
}

std::uint64_t Capture::last_write(const ObjectKey& key) const {
    Shard& s = shard(key);
    const std::lock_guard lock(s.mutex);
    const auto found = s.known.find(key);
    return found == s.known.end() ? s.first_write
                                  : std::max(s.first_write, found->second.last_write);
}

std::optional<journal::Stamp> Capture::stamped(const ObjectKey& key) const {
    Shard& s = shard(key);
    const std::lock_guard lock(s.mutex);
    const auto found = s.known.find(key);
    if (found == s.known.end()) return std::nullopt;
    return found->second.stamp;
}

void Capture::forget_stamps(const journal::Delta& delta) {
    for (const auto& [key, image] : delta.objects) {
        Shard& s = shard(key);
        const std::lock_guard lock(s.mutex);
        Known& known = s.known[key];
        known.stamp.reset();
        if (image.size) known.last_write = ++s.writes;
    }
}

journal::Stamps Capture::all_stamps() const {
    journal::Stamps all;
    for (Shard& s : shards_) {
        const std::lock_guard lock(s.mutex);
        for (const auto& [key, known] : s.known) {
            if (known.stamp) all.emplace(key, *known.stamp);
        }
    }
    return all;
}

void Capture::begin_with(const journal::Stamps& stamps) {
    for (const auto& [key, stamp] : stamps) {
        Shard& s = shard(key);
        const std::lock_guard lock(s.mutex);
        s.known[key].stamp = stamp;
    }
}

void Capture::forget_all_stamps() {
    for (Shard& s : shards_) {
        const std::lock_guard lock(s.mutex);
        if (s.known.size() > kMostRemembered) {
            s.known.clear();
            s.first_write = ++s.writes;
        }
        for (auto& [key, known] : s.known)
            known.stamp.reset();
    }
}

}  // namespace unwrite::overlay
