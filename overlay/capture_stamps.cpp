// What we left of the objects that we changed: how it looked, which of our writes was its last, and
// that it was changed at all since somebody counted.
#include <algorithm>

#include "base/lend_mode.h"
#include "journal/unseen_notes.h"
#include "overlay/capture.h"

namespace unwrite::overlay {

// Looked at under the lock: of two that write one file, whoever comes last has seen both writes.
Result<struct stat> Capture::stamp(const ObjectKey& key, int fd) {
    Shard& s = shard(key);
    const std::lock_guard lock(s.mutex);
    const sys::ModesAtRest own;
    TRY_ASSIGN(const struct stat st, sys::stat_fd(fd));
    if (!s.unseen.contains(key)) s.known[key].stamp = journal::Stamp::of(st);
    return st;
}

void Capture::stamp(const ObjectKey& key, const struct stat& now) {
    Shard& s = shard(key);
    const std::lock_guard lock(s.mutex);
    if (!s.unseen.contains(key)) s.known[key].stamp = journal::Stamp::of(now);
}

// A change that ended before anybody counted is seen by the first who does; one that ends later
// finds the flag.
void Capture::touch(const Touching& touching) {
    if (!counting_.load()) return;
    Shard& s = shard(touching.name_ ? touching.name_->parent : touching.object_);
    const std::lock_guard lock(s.mutex);
    if (!touching.name_) return touch(s, touching.object_);
    Touched& touched = s.touched;
    if (touching.moves_tree_ || touched.names.size() >= kMostTouched) touched.all = true;
    if (!touched.all) touched.names.insert(*touching.name_);
}

void Capture::touch(Shard& locked, const ObjectKey& key) {
    if (!counting_.load()) return;
    Touched& touched = locked.touched;
    if (touched.objects.size() >= kMostTouched) touched.all = true;
    if (!touched.all) touched.objects.insert(key);
}

Capture::Touched Capture::take_touched() {
    Touched all;
    all.all = !counting_.exchange(true);
    for (Shard& s : shards_) {
        Touched some;
        {
            const std::lock_guard lock(s.mutex);
            std::swap(some, s.touched);
            for (const auto& [key, uses] : s.unseen)
                some.objects.insert(key);
        }
        all.all = all.all || some.all;
        all.names.merge(some.names);
        all.objects.merge(some.objects);
    }
    return all;
}

void Capture::wrote(const ObjectKey& key, int fd) {
    Shard& s = shard(key);
    const std::lock_guard lock(s.mutex);
    touch(s, key);
    Traced& known = s.known[key];
    known.last_write = ++s.writes;
    if (s.unseen.contains(key)) return;
    if (const auto st = sys::stat_fd(fd)) known.stamp = journal::Stamp::of(*st);
}

Result<> Capture::begin_unseen(const ObjectKey& key) {
    unseen_begun_ = true;
    Shard& s = shard(key);
    const bool noted = [&] {
        const std::lock_guard lock(s.mutex);
        return s.known[key].noted_unseen;
    }();
    if (!noted) {
        const std::lock_guard one_at_a_time(notes_mutex_);
        TRY(journal::note_unseen(journal_.state_dir().fd(), key));
    }
    const std::lock_guard lock(s.mutex);
    Traced& known = s.known[key];
    known.noted_unseen = true;
    known.stamp.reset();
    ++s.unseen[key];
    return {};
}

void Capture::end_unseen(const ObjectKey& key, int fd) {
    {
        Shard& s = shard(key);
        const std::lock_guard lock(s.mutex);
        if (--s.unseen[key] == 0) s.unseen.erase(key);
    }
    wrote(key, fd);
}

std::uint64_t Capture::last_write(const ObjectKey& key) const {
    Shard& s = shard(key);
    const std::lock_guard lock(s.mutex);
    const auto found = s.known.find(key);
    // It may have been written to since the last look.
    if (s.unseen.contains(key)) return ++s.writes;
    if (found == s.known.end()) return s.first_write;
    return std::max(s.first_write, found->second.last_write);
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
        Traced& known = s.known[key];
        known.stamp.reset();
        if (image.size) known.last_write = ++s.writes;
    }
}

void Capture::linked(const ObjectKey& key, const struct stat& now) {
    Shard& s = shard(key);
    const std::lock_guard lock(s.mutex);
    Traced& traced = s.known[key];
    if (!traced.stamp && !s.unseen.contains(key)) traced.stamp = journal::Stamp::of(now);
}

Capture::Known Capture::known(const ObjectKey& key, const struct stat& now) const {
    Shard& s = shard(key);
    const std::lock_guard lock(s.mutex);
    const auto found = s.known.find(key);
    if (found == s.known.end()) return {};
    const Traced& traced = found->second;
    Known known;
    known.made = traced.made;
    known.changed = traced.stamp.has_value() || s.unseen.contains(key);
    known.differs = traced.stamp && *traced.stamp != journal::Stamp::of(now);
    return known;
}

Result<> Capture::claim(const Who& who, const ObjectKey& key) {
    TRY(writer_->touch_object(key, who.origin));
    Shard& s = shard(key);
    const std::lock_guard lock(s.mutex);
    s.objects[key].creator_noted = true;
    return {};
}

void Capture::take_for_made(const ObjectKey& key, const struct stat& now) {
    Shard& s = shard(key);
    const std::lock_guard lock(s.mutex);
    Traced& traced = s.known[key];
    traced.made = true;
    if (S_ISREG(now.st_mode) && !s.unseen.contains(key)) traced.stamp = journal::Stamp::of(now);
}

journal::Traces Capture::all_traces() const {
    journal::Traces all;
    for (Shard& s : shards_) {
        const std::lock_guard lock(s.mutex);
        for (const auto& [key, known] : s.known) {
            if (known.stamp || known.made) all.emplace(key, known);
        }
    }
    return all;
}

void Capture::begin_with(const journal::Traces& traces) {
    for (const auto& [key, trace] : traces) {
        Shard& s = shard(key);
        const std::lock_guard lock(s.mutex);
        static_cast<journal::Trace&>(s.known[key]) = trace;
    }
}

std::vector<Leftovers> Capture::forget_all_stamps() {
    std::vector<Leftovers> forgotten;
    for (Shard& s : shards_) {
        const std::lock_guard lock(s.mutex);
        if (s.known.size() > kMostRemembered) {
            forgotten.push_back(take_leftovers(s.known));
            s.first_write = ++s.writes;
        }
        for (auto& [key, known] : s.known)
            static_cast<journal::Trace&>(known) = {};
    }
    return forgotten;
}

}  // namespace unwrite::overlay
