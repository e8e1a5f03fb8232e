// Agreement: a workspace's own configuration may come with a clone, from an archive or from an
// agent. What it tightens holds; what it loosens holds once the user has agreed to that very text,
// which is written down in their home directory (docs/decisions/0077-rules-that-travel.md).
#pragma once

#include <string>
#include <string_view>

#include "cli/config.h"

namespace unwrite::cli {

/// Whether the user has agreed to exactly this text, in whatever workspace.
bool is_agreed(std::string_view text);
/// From here on they have. Errors: where there is no home directory, or it cannot be written.
Result<> agree(std::string_view text);

/// `wanted` (which is `user` with the workspace's text read over it) as far as it is nowhere looser
/// than `user`. What is left out is in `held_back`. Rules that ask come before all others, so that
/// they free nothing that another one forbids.
Config tightened(const Config& user, const Config& wanted);

/// "policy.profile and 2 rules"; for messages. `held_back` is not empty.
std::string held_back_words(const Config& config);

}  // namespace unwrite::cli
