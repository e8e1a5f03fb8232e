// A JSON file that belongs to somebody else: entries are put into its text, and taken out of it,
// so that every other byte, comments too, stays as it is. Pure functions.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/result.h"

namespace unwrite::cli {

using OrderedJson = nlohmann::ordered_json;

/// Comments are allowed. Nothing but blanks is an empty object. Errors: kUsage, in words that
/// follow a file's name.
Result<OrderedJson> parse_commented(std::string_view text);

/// `text` with all that `wanted` (an object) has: members that are not there come last in their
/// object, and elements of an array likewise. Unchanged when nothing is missing.
/// Errors: kUsage when `text` is no JSON object; kConflict when it has something else in a place.
Result<std::string> with_entries(std::string_view text, const OrderedJson& wanted);

/// `text` without what with_entries() added to `before`; what was changed since stays.
/// Errors: kUsage.
Result<std::string> without_entries(std::string_view text, const OrderedJson& wanted,
                                    const OrderedJson& before);

}  // namespace unwrite::cli
