// What a power cut leaves unproved (durability "ordered"). What was changed behind the watermark
// (journal/watermark.h) may have lost the record of what it was. The change itself can be seen: the
// kernel gave each object it concerned a new ctime. So every object with such a ctime counts as
// unproved, unless what is on the disk says for certain what it was. The node that ends the
// interval of the cut names them in a tag, and no restore goes past it.
#pragma once

#include "overlay/history.h"
#include "overlay/locator.h"
#include "overlay/revert_plan.h"

namespace unwrite::overlay {

/// Of the node that ends the interval of the cut: the paths, one a line.
inline constexpr const char* kUnprovedTag = "unproved";
/// Why it is no failure when something cannot be brought to the disk: the watermark stays where it
/// was.
inline constexpr const char* kAsUnproved = "after a power cut what is not on the disk is refused";
/// Of a state that was made behind the watermark.
inline constexpr const char* kUnprovedStateTag = "unproved.state";

/// The paths, sorted. One walk over the tree. For the first look after the cut: nothing was changed
/// since.
Result<std::vector<std::string>> find_unproved(Locator& locator, const journal::Cut& cut,
                                               const History& history);
/// As the tag has them, and back.
std::string to_tag(const std::vector<std::string>& paths);
std::vector<std::string> unproved_paths(const History& history);

/// kConflict where the way to the state leads past what is unproved, or the state itself is.
Result<> refuse_unproved(const History& history, journal::NodeNumber target);
/// kConflict where the plan, which takes back something that is older than the cut, changes what is
/// unproved. `deltas`: what it takes back; empty for anything.
Result<> refuse_unproved(const History& history, Locator& locator, const RevertPlan& plan,
                         const std::set<journal::DeltaNumber>& deltas);
/// kConflict where the way to the state leads past something unproved at or below one of these
/// paths.
Result<> refuse_unproved(const History& history, journal::NodeNumber target,
                         const std::vector<std::string>& paths);

}  // namespace unwrite::overlay
