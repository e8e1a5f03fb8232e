// Two changes of one text put together. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace unwrite::edit {

/// `base` with what `ours` changed and what `theirs` changed. Nothing where both changed the same
/// lines, or lines that touch, in different ways: only a person can say what is meant then. Errors:
/// kSystem (no memory).
Result<std::optional<std::string>> merged(std::string_view base, std::string_view ours,
                                          std::string_view theirs);

}  // namespace unwrite::edit
