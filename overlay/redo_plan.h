// The plan of a redo over later changes: an edge that was left is crossed once more, from a live
// state that is not the one it was left at.
#pragma once

#include "overlay/revert_plan.h"

namespace unwrite::overlay {

/// What has been changed since the way back was gone: what it must not meet.
class LaterChanges {
 public:
    /// `deltas`: of the intervals since, the oldest first.
    static Result<LaterChanges> read(Layers& layers,
                                     const std::vector<journal::DeltaNumber>& deltas,
                                     Locator& locator);

    bool has(const NameKey& at) const { return names_.contains(at); }
    bool has(const ObjectKey& key) const { return objects_.contains(key); }
    /// Directories in which names were made or taken away.
    const std::unordered_set<ObjectKey>& directories() const { return directories_; }
    const std::unordered_set<ObjectKey>& objects() const { return objects_; }
    /// A name that was taken from an object; null when none was.
    const NameKey* taken_from(const ObjectKey& key) const {
        const auto found = taken_from_.find(key);
        return found == taken_from_.end() ? nullptr : &found->second;
    }

 private:
    std::unordered_set<NameKey> names_;
    std::unordered_set<ObjectKey> objects_;
    std::unordered_set<ObjectKey> directories_;
    std::unordered_map<ObjectKey, NameKey> taken_from_;
};

/// What crossing the edge with this delta makes of the live state; its conflicts are where that
/// meets `later`. The gate is closed.
Result<RevertPlan> plan_again(const LayerPtr& layer, const LaterChanges& later, Locator& locator);

}  // namespace unwrite::overlay
