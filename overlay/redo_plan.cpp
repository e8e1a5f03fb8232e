#include "overlay/redo_plan.h"

#include <set>

namespace unwrite::overlay {

namespace {

/// Up from a directory: an end where places run in a circle.
constexpr int kMostSteps = 100'000;

bool is_directory_alone(const journal::ObjectImage& image) {
    return !image.size && image.content.empty() && image.attributes &&
           S_ISDIR(image.attributes->mode);
}

/// A directory with another mode or owner; its times follow from the names in it.
bool is_otherwise(const ObjectKey& key, const journal::Attributes& then, Locator& locator) {
    const auto now = locator.stat(key);
    return now && (now->st_mode != then.mode || now->st_uid != then.uid || now->st_gid != then.gid);
}

std::string path_of(const NameKey& at, Locator& locator) {
    const auto parent = locator.live_path(at.parent);
    return parent ? join_path(*parent, at.name) : at.name;
}

}  // namespace

// What was made and is gone again, and the times of directories, count for nothing.
Result<LaterChanges> LaterChanges::read(Layers& layers,
                                        const std::vector<journal::DeltaNumber>& deltas,
                                        Locator& locator) {
    LaterChanges later;
    std::unordered_set<NameKey> seen;
    for (const journal::DeltaNumber number : deltas) {
        TRY_ASSIGN(const LayerPtr layer, layers.read(number));
        for (const auto& [at, state] : layer->delta.names) {
            if (!seen.insert(at).second) continue;
            const auto standing = locator.standing(at);
            const bool stands = standing && standing->has_value();
            const auto now = stands ? std::optional((*standing)->key) : std::nullopt;
            if (now == state.image.object) continue;
            later.names_.insert(at);
            later.directories_.insert(at.parent);
            if (state.image.object) later.taken_from_.insert_or_assign(*state.image.object, at);
        }
        for (const auto& [key, image] : layer->delta.objects) {
            if (!is_directory_alone(image) || is_otherwise(key, *image.attributes, locator))
                later.objects_.insert(key);
        }
    }
    return later;
}

Result<RevertPlan> plan_again(const LayerPtr& layer, const LaterChanges& later, Locator& locator) {
    RevertPlan plan;
    std::set<std::string> conflicts;
    std::unordered_set<ObjectKey> removed;
    for (const auto& [at, state] : layer->delta.names) {
        if (later.has(at)) {
            conflicts.insert(path_of(at, locator));
            continue;
        }
        const auto standing = locator.standing(at);
        if (standing && standing->has_value() && (*standing)->key != state.image.object)
            removed.insert((*standing)->key);
        plan.images.names.emplace(at, state);
    }
    for (const auto& [key, image] : layer->delta.objects) {
        if (later.has(key)) {
            auto path = locator.live_path(key);
            const NameKey* const was = later.taken_from(key);
            if (!path && was != nullptr) path = path_of(*was, locator) + " (removed since)";
            conflicts.insert(path.value_or("a file that was removed since"));
            continue;
        }
        // Of a directory in which both made names the times stay as they are.
        if (is_directory_alone(image) && later.directories().contains(key)) continue;
        plan.images.objects.emplace(key, image);
        plan.data[key].assign(image.content.size(), layer->number);
    }
    // What was made or changed since, and would go: itself, or with a directory above it.
    const auto check = [&](const ObjectKey& changed) {
        ObjectKey at = changed;
        for (int steps = 0; steps < kMostSteps; ++steps) {
            if (removed.contains(at)) {
                conflicts.insert(locator.live_path(changed).value_or("."));
                return;
            }
            const auto name = locator.live_name(at);
            if (!name) return;
            at = name->parent;
        }
    };
    for (const ObjectKey& directory : later.directories())
        check(directory);
    for (const ObjectKey& object : later.objects())
        check(object);
    plan.conflicts.assign(conflicts.begin(), conflicts.end());
    return plan;
}

}  // namespace unwrite::overlay
