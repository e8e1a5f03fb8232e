// What must still be there after a revert: the work of others.

#include <algorithm>

#include "overlay/revert_planner.h"

namespace unwrite::overlay {

using journal::NameImage;

// What the plan takes away above it, so that it would go along.
void RevertPlanner::block_way_to(ObjectKey key) {
    for (int steps = 0; steps < kMostSteps && !live_names_->is_top(key); ++steps) {
        const auto name = live_.name_of(key);
        if (!name) return;
        if (plan_.images.names.contains(*name)) blockers_.names.insert(*name);
        key = name->parent;
    }
}

// A file that was there before the selection gave it one more name, and whose older names others
// have removed since: the last one does not go.
Result<> RevertPlanner::check_last_names() {
    for (const auto& [at, state] : plan_.images.names) {
        if (!live_.path(at.parent)) continue;
        TRY_ASSIGN(const auto now, live_.at(at));
        if (!now || settled_.contains(now->key) || planned_.path(now->key)) continue;
        const auto removal = removals_.find(now->key);
        if (removal == removals_.end() || !removal->second.by_others || removal->second.left)
            continue;
        const std::size_t part = first_selected(touches_.names.at(at))->part;
        if (view_before(part).path(now->key)) conflict_at(at, live_.path(at), now->key);
    }
    return {};
}

// What the selection made and others renamed since goes on under its new name.
void RevertPlanner::check_moved_on() {
    for (const auto& [at, touches] : touches_.names) {
        const auto first = first_selected(touches);
        const auto put = first == touches.end() ? first : std::next(first);
        if (put == touches.end() || !put->image->image.object) continue;
        const ObjectKey& key = *put->image->image.object;
        if (!moved_on_.contains(key) || settled_.contains(key) || !planned_.path(key)) continue;
        const bool is_made = !view_before(first->part).path(key);
        if (auto path = live_.path(key); is_made && path) conflict_at(at, std::move(path), key);
    }
}

Result<> RevertPlanner::check_names() {
    std::vector<NameKey> unneeded;
    for (const auto& [at, state] : plan_.images.names) {
        TRY_ASSIGN(const bool needed, check_name(state.image));
        if (!needed) unneeded.push_back(at);
    }
    for (const NameKey& at : unneeded) {
        TRY_ASSIGN(const bool is_left, is_left_elsewhere(at));
        if (!is_left) {
            plan_.images.names.erase(at);
        } else {
            plan_.images.names.at(at).image = {at, std::nullopt, 0};
        }
    }
    return {};
}

// The name lies in what the plan removes: it goes along, unless what stands there stays by another
// name. That would have one name more than anybody sees.
Result<bool> RevertPlanner::is_left_elsewhere(const NameKey& at) {
    if (!live_.path(at.parent)) return false;
    TRY_ASSIGN(const auto now, live_.at(at));
    return now && !S_ISDIR(now->type) && planned_.path(now->key).has_value();
}

// False when the name lies in what the plan removes, or nothing was there and its directory is
// gone.
Result<bool> RevertPlanner::check_name(const NameImage& image) {
    if (!planned_.path(image.at.parent)) {
        if (!image.object ||
            stood_in_removed(image.at, first_selected(touches_.names.at(image.at))->layer))
            return false;
        conflict_at(image.at, path_once(image.at), image.at.parent);
        return false;
    }
    if (!image.object) return true;
    const auto opened =
        live_names_->open(Located{*image.object, image.type, nullptr, {}, 0}, Access::kPath);
    if (!opened) {
        if (!is_vanished(opened.error())) return opened.error();
        conflict_at(image.at, planned_.path(image.at), *image.object);
    }
    // A directory can be at one name only, and so is a file that was moved on: where it is now must
    // be taken back too.
    const auto elsewhere = live_.name_of(*image.object);
    if (!elsewhere || plan_.images.names.contains(*elsewhere)) return true;
    if (S_ISDIR(image.type) || moved_on_.contains(*image.object) ||
        came_back_at(*elsewhere, *image.object))
        conflict_at(image.at, live_.path(*elsewhere), *image.object);
    return true;
}

// It had been removed, and somebody else's undo put it there again; a link is made of what is
// there.
bool RevertPlanner::came_back_at(const NameKey& at, const ObjectKey& key) {
    const auto touched = touches_.names.find(at);
    if (touched == touches_.names.end() || touched->second.empty()) return false;
    const NameTouch& last = touched->second.back();
    const auto removal = removals_.find(key);
    return last.others && removal != removals_.end() && removal->second.part < last.part &&
           !view_before(last.part).path(key);
}

// The name stood below something that the selection itself had made: climbs as things were at the
// time.
bool RevertPlanner::stood_in_removed(const NameKey& at, const LayerPtr& layer) {
    View then(live_names_, std::vector<LayerPtr>{layer});
    ObjectKey parent = at.parent;
    for (int steps = 0; steps < kMostSteps && !live_names_->is_top(parent); ++steps) {
        const auto name = then.name_of(parent);
        if (!name) return true;  // that directory was not there yet
        const auto touched = touches_.names.find(*name);
        if (touched != touches_.names.end()) {
            const auto first = first_selected(touched->second);
            if (first != touched->second.end() && first->image->image.object != parent) return true;
        }
        parent = name->parent;
    }
    return false;
}

// What someone else made or changed and what is there now must still be there afterwards.
Result<> RevertPlanner::check_work_of_others() {
    for (const auto& [at, touches] : touches_.names) {
        const bool others = std::any_of(touches.begin(), touches.end(),
                                        [](const NameTouch& touch) { return touch.others; });
        if (!others || !live_.path(at.parent) || planned_.path(at.parent)) continue;
        TRY_ASSIGN(const auto now, live_.at(at));
        if (!now) continue;
        block_way_to(at.parent);
        conflict(live_.path(at), now->key);
    }
    for (const auto& [key, touches] : touches_.objects) {
        if (settled_.contains(key)) continue;
        const bool others =
            std::any_of(touches.begin(), touches.end(),
                        [](const ObjectTouch& touch) { return touch.others && touch.real; });
        if (!others || !live_.path(key) || planned_.path(key)) continue;
        block_way_to(key);
        conflict_in(key, live_.path(key));
    }
    return {};
}

// What someone else made or changed last and the selection then replaced or removed must come back,
// or be part of what is put together: it is nowhere else.
Result<> RevertPlanner::check_lost_work() {
    for (const auto& [at, key] : puts_of_others_)
        check_lost(key, at);
    for (const auto& [key, touches] : touches_.objects) {
        if (std::any_of(touches.begin(), touches.end(),
                        [](const ObjectTouch& touch) { return touch.others && touch.real; }))
            check_lost(key, std::nullopt);
    }
    return {};
}

void RevertPlanner::check_lost(const ObjectKey& key, const std::optional<NameKey>& at) {
    if (settled_.contains(key) || planned_.path(key)) return;
    const auto removal = removals_.find(key);
    if (removal == removals_.end() || removal->second.by_others) return;
    blockers_.objects.insert(key);
    conflict_at(removal->second.from, live_.path(at.value_or(removal->second.from)), key);
}

}  // namespace unwrite::overlay
