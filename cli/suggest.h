// The commands that somebody meant who knows other programs. Pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace unwrite::cli {

/// Commands of other programs: "checkout" is "restore" or "rollback" here. Empty for other words.
std::vector<std::string> same_meaning(std::string_view word);

}  // namespace unwrite::cli
