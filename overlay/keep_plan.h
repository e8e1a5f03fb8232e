// What it takes to keep single paths as they are, for good, while the rest of the task can still be
// taken back: no delta may speak of them any more. The live state is not touched.
//
// A path cannot always be kept alone. Every state that remains must be whole, so what the kept part
// hangs on is kept with it: the directories above it that were made or renamed, the other name of
// what was renamed, the other links of a file, what lay in a directory that is gone.
#pragma once

#include <set>
#include <unordered_set>

#include "overlay/view.h"

namespace unwrite::overlay {

struct KeepPlan {
    journal::LeftOut left_out{};
    /// What was made in a kept directory and is not kept itself: the deltas say from now on that it
    /// was not there.
    std::map<journal::DeltaNumber, std::vector<NameKey>> absent{};
    std::unordered_set<ObjectKey> objects{};   ///< that the names left out speak of
    std::set<journal::NodeNumber> given_up{};  ///< abandoned nodes that hold other versions of it
    std::map<std::string, std::string> reasons{};  ///< why a path is kept that was not asked for

    bool empty() const {
        return left_out.names.empty() && left_out.objects.empty() && absent.empty();
    }
    /// True when carrying it out makes another delta of this one.
    bool concerns(journal::DeltaNumber number, const journal::Delta& delta) const;
};

/// `paths` are relative to the root, as in operations.h. A plan that is empty: nothing changed
/// there. kNotFound for a path that neither the root nor the live state has; kConflict where the
/// live state is not below the root. Gate closed, or the plan is only looked at.
Result<KeepPlan> plan_keep(const History& history, Layers& layers, Locator& locator,
                           const std::vector<std::string>& paths);

/// The state of a node as it will be when the plan is carried out.
Result<View> view_with_kept(const KeepPlan& plan, const std::shared_ptr<LiveNamesOf>& live,
                            Layers& layers, const History& history, journal::NodeNumber node);

}  // namespace unwrite::overlay
