// Bytes that no delta has, put into a plan.
#pragma once

#include <string_view>

#include "overlay/revert_plan.h"

namespace unwrite::overlay {

/// The plan makes the file of `key` hold `bytes`, with these attributes and now as its time.
/// `deltas`: the journal's directory; the bytes are in a file without a name there.
Result<> plan_bytes(RevertPlan& plan, const ObjectKey& key, journal::Attributes attributes,
                    std::string_view bytes, int deltas);

}  // namespace unwrite::overlay
