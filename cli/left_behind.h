// What a run leaves in its temporary directories, which go with it.
#pragma once

#include <string>
#include <vector>

namespace unwrite::cli {

/// One line for a person, of the files in these directories; "" when there are none. What is
/// mounted below them is not looked at, and of very many files only some.
std::string left_behind_words(const std::vector<std::string>& directories);

}  // namespace unwrite::cli
