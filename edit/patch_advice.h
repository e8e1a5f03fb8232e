// What to write instead of a patch that is not LP1, or not quite.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace unwrite::edit {

struct PatchAdvice {
    std::string path{};  ///< the file that the patch seems to be about; may be empty
    std::string next{};  ///< what to write instead
};

/// `line` is where parse_lp1() failed, and `reason` its words. Knows unified diffs, the patches of
/// other tools, fences, text behind an operation, and paths with blanks.
PatchAdvice advice_on(std::string_view patch, std::uint64_t line, std::string_view reason);

/// The same for an operation that could not be carried out on the file.
std::string advice_on_operation(std::string_view path, char command, const Error& error);

}  // namespace unwrite::edit
