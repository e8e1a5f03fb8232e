// What the rules say of the objects that the kernel knows: kept by their ids until the kernel
// forgets them.
#include "overlay/policed_tree.h"

namespace unwrite::overlay {

void PolicedTree::Mark::add(const Mark& other) {
    for (auto [to, from] : {std::pair{&user, &other.user}, std::pair{&agent, &other.agent}}) {
        to->write |= from->write;
        to->ask |= from->ask;
        to->read |= from->read;
        to->hidden |= from->hidden;
        to->watched |= from->watched;
    }
    judges_below |= other.judges_below;
    apart |= other.apart;
}

PolicedTree::Mark PolicedTree::refusing(Mark mark) {
    mark.user.watched = mark.agent.watched = false;
    mark.user.ask = mark.agent.ask = false;
    mark.apart = false;
    return mark;
}

PolicedTree::Mark PolicedTree::mark_of(NodeId id) const {
    if (marked_.load(std::memory_order_relaxed) == 0) return {};
    Kept kept;
    {
        const Shard& s = shard(id);
        const std::shared_lock lock(s.mutex);
        const auto found = s.marks.find(id);
        if (found == s.marks.end()) return {};
        kept = found->second;
    }
    ignore_expired();
    return kept.generation == rulebook_.generation() ? kept.mark : judged_again(id, kept.mark);
}

// By where it stands now. What has no name any more stays what it was.
PolicedTree::Mark PolicedTree::judged_again(NodeId id, const Mark& old) const {
    const unsigned generation = rulebook_.generation();
    const auto object = objects_.get(id);
    const auto path = path_of(id);
    if (!object || !path) return old;
    Mark mark = judge_path(*path, (*object)->type());
    if (!S_ISDIR((*object)->type())) {
        const auto st = objects_.stat(*object);
        if (!st || st->st_nlink > 1) mark.add(alias_mark((*object)->key()));
    }
    Shard& s = shard(id);
    const std::unique_lock lock(s.mutex);
    if (const auto found = s.marks.find(id); found != s.marks.end())
        found->second = {mark, generation};
    return mark;
}

void PolicedTree::keep(NodeId id, const Mark& mark, unsigned generation) {
    if (mark == Mark()) return;
    Shard& s = shard(id);
    const std::unique_lock lock(s.mutex);
    const auto [entry, fresh] = s.marks.try_emplace(id);
    if (fresh || entry->second.generation != generation) entry->second = {Mark(), generation};
    entry->second.mark.add(mark);
    if (fresh) marked_.fetch_add(1);
}

// Called for what has a mark alone: others concern nobody.
void PolicedTree::meet(const Caller& caller, NodeId id) {
    const bool unknown = caller.pid <= 0;
    if (!unknown && !origins_.is_agent(caller.pid)) return;
    Shard& s = shard(id);
    const std::unique_lock lock(s.mutex);
    const auto found = s.marks.find(id);
    if (found == s.marks.end() || found->second.met == kAlways) return;
    found->second.met = unknown ? kAlways : era_.load();
}

bool PolicedTree::may_be_mapped_by_agent(NodeId id) const {
    unsigned met = 0;
    {
        const Shard& s = shard(id);
        const std::shared_lock lock(s.mutex);
        const auto found = s.marks.find(id);
        if (found != s.marks.end()) met = found->second.met;
    }
    return met == kAlways || (met == era_.load() && origins_.has_runs());
}

void PolicedTree::run_ends() {
    if (marked_.load() == 0 || !policy().tells_agents_apart()) return;
    if (KernelCaches* caches = caches_.load()) caches->write_back();
    if (origins_.runs() <= 1) era_.fetch_add(1);
}

void PolicedTree::drop_names() {
    KernelCaches* caches = caches_.load();
    if (caches == nullptr) return;
    Restored all;
    all.names = true;
    caches->forget(all);
    caches->announce(all);
}

void PolicedTree::rules_changed() {
    tracked_.forget();
    KernelCaches* caches = caches_.load();
    if (caches == nullptr) return;
    Restored all;
    all.names = true;
    for (const Shard& s : shards_) {
        const std::shared_lock lock(s.mutex);
        for (const auto& [id, kept] : s.marks)
            all.objects.push_back(id);
    }
    caches->forget(all);
    caches->announce(all);
}

// The id is free then, and whoever gets it next keeps marks of its own: not before this one is
// gone.
void PolicedTree::forget(NodeId id, std::uint64_t lookups) {
    if (!has_mark(id)) return tree_.forget(id, lookups);
    Shard& s = shard(id);
    const std::unique_lock lock(s.mutex);
    tree_.forget(id, lookups);
    if (!objects_.get(id) && s.marks.erase(id) > 0) marked_.fetch_sub(1);
}

bool PolicedTree::has_mark(NodeId id) const {
    if (marked_.load(std::memory_order_relaxed) == 0) return false;
    const Shard& s = shard(id);
    const std::shared_lock lock(s.mutex);
    return s.marks.contains(id);
}

// What was just made has no mark from another object of that id.
void PolicedTree::begin_marks(NodeId id) {
    if (!has_mark(id)) return;
    Shard& s = shard(id);
    const std::unique_lock lock(s.mutex);
    if (s.marks.erase(id) > 0) marked_.fetch_sub(1);
}

}  // namespace unwrite::overlay
