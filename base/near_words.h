// The words that somebody probably meant to type. Pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace unwrite {

/// How many letters must be typed, left out, changed or exchanged to make `b` of `a`.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// Those of `known` that are typed much like `word`, the nearest first; at most three.
std::vector<std::string> nearest(std::string_view word, const std::vector<std::string>& known);

/// `Did you mean "undo" or "rollback"?`, with a space before it; empty without words.
std::string did_you_mean(const std::vector<std::string>& words);

}  // namespace unwrite
