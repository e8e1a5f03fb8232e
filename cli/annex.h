// The repository of a linked work tree or submodule as a part of the workspace (overlay's annex):
// what commands of a run do in it is recorded, for in their view of the machine it is seen through
// the mount. Everybody else sees it as it is.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "git/state.h"
#include "overlay/session.h"

namespace unwrite::cli {

/// For the workspace `root` (the raw directory), as long as nobody serves it: where its repository
/// lies elsewhere in the same filesystem, it becomes a part, and the tags say where it stands.
void add_annex(overlay::SessionOptions& options, const std::string& root);

/// What git in a run is told there, as "key=value": to leave alone what belongs to others. It packs
/// no branches, shortens no reflogs, and forgets no work tree that the run does not see; where it
/// had replaced them, going back would take along what others have written since.
std::vector<std::string> settings_of_shared_repository();

/// Where that repository is. Nothing where the workspace `raw`, mounted at `mount_point`, shows
/// none.
std::optional<std::string> annex_of(const std::string& raw, const std::string& mount_point);

}  // namespace unwrite::cli
