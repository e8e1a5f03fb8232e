// The plan of a revert: what names and objects must become so that the changes of a selection are
// taken back and everything else is kept. A text that the selection and someone else changed in
// different lines is put together. Where both changed the same thing otherwise, or taking back
// would carry off what someone else made, it is a conflict: nothing is to be done at all, or, with
// RevertSelection::partly, that thing is left as it is.
#pragma once

#include "overlay/operations.h"
#include "overlay/revert_touches.h"

namespace unwrite::overlay {

struct RevertPlan {
    journal::Delta images{};  ///< what is to be; only what differs from now by name
    /// In which delta's data the n-th content image of an object lies; 0: in `bytes`.
    std::unordered_map<ObjectKey, std::vector<journal::DeltaNumber>> data{};
    std::shared_ptr<UniqueFd> bytes{};     ///< what no delta has; null when there is nothing
    std::vector<std::string> conflicts{};  ///< paths, sorted, each once
    std::vector<std::string> merged{};     ///< the same, of texts that are put together
    std::vector<std::string> left{};       ///< the same; what is left, with `partly`

    bool empty() const { return images.empty(); }
};

/// The value to restore is that before the oldest selected interval which touched the item. For the
/// caller: the gate is closed, or the plan is only looked at.
Result<RevertPlan> plan_revert(const History& history, Locator& locator, journal::Journal& journal,
                               const Origins& origins, const RevertSelection& selection);

/// What carrying out the plan does to the live state, a line for each name and object.
std::vector<Change> changes_of(const RevertPlan& plan, Locator& locator);

}  // namespace unwrite::overlay
