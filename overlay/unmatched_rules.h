// Rules that are about nothing: what is wrong with them is often a letter.
#pragma once

#include <vector>

#include "overlay/policy.h"

namespace unwrite::overlay {

/// Those of `rules` whose patterns match no name below `directory`, an open directory: they protect
/// names that may come, or were meant otherwise. An exception counts as a rule. Looks at no more
/// than `most` names (0: at all of them); where there are more, nothing can be said: the answer is
/// empty. kUsage for a pattern that is wrong.
Result<std::vector<Rule>> unmatched_rules(const std::vector<Rule>& rules, int directory,
                                          std::size_t most);

}  // namespace unwrite::overlay
