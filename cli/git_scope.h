// What of a decision belongs into a git commit, and whether git may be run for it at all. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "git/accept.h"
#include "overlay/operations.h"

namespace unwrite::cli {

/// For a task that is accepted wholly.
git::Scope scope_of_all(const std::vector<overlay::Change>& changes);

/// For a part of it. `asked`: the paths that were named; `open`: what of the task stays open. A
/// directory that is kept only for what lies in it does not bring the rest of what lies there.
git::Scope scope_of_part(const overlay::Decided& decided, const std::vector<std::string>& asked,
                         const std::vector<overlay::Change>& open);

/// A change of what decides which programs git runs (.git/config, a hook, what says where these
/// are), nearest to the top; nullopt without one.
std::optional<std::string> what_git_obeys(const std::vector<overlay::Change>& changes);

/// Whether an agent made such a change in the task, or may have: after a run no change is known to
/// be a person's. `log` with the changes of all intervals of the trunk.
bool agent_changed_what_git_obeys(const overlay::Log& log);

}  // namespace unwrite::cli
