// Paths in the message of an error.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace unwrite::overlay {

/// Each on a line of its own, which begins with the newline; of more than `most` it is said how
/// many more there are. A name with controls is quoted as git does, so that it is one line and no
/// other name's; the workspace itself is ".".
std::string path_list(const std::vector<std::string>& paths, std::size_t most = ~std::size_t{0});

}  // namespace unwrite::overlay
