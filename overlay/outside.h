// Outside: what stands where a restore would put something else, or nothing, and was put there or
// changed outside the mount. The journal says nothing of it, for what a task makes needs no image:
// what tells is what the mount remembers of the objects that it made and changed
// (journal/stamps.h).
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "overlay/vanished.h"

namespace unwrite::overlay {

/// What is to stand at a name; nothing: it is to be empty.
using WantedNames = std::unordered_map<NameKey, std::optional<ObjectKey>>;
/// What crossing these edges leads to.
WantedNames wanted_names(const Edges& edges);
WantedNames wanted_names(const journal::Delta& images);

/// Of what stands at these names instead, and below: the paths of what the mount did not make, nor
/// leave like that. A directory that came from outside ends in a slash, and stands for all that it
/// holds. What older states know counts as known, and so does the index of git, and its lock files:
/// git renews them whenever it looks. Costs a stat(2) for each object that would go.
Result<std::vector<std::string>> find_outside(Locator& locator, const Capture& capture,
                                              const WantedNames& wanted);

/// All that stands at these names instead counts as made by the mount, as it is now: for a life
/// before which nobody could look.
Result<> take_for_made(Locator& locator, Capture& capture, const WantedNames& wanted);
/// The same for what lies in directories of the attic: it may come back.
Result<> take_displaced_for_made(journal::Attic& attic, Capture& capture);

}  // namespace unwrite::overlay
