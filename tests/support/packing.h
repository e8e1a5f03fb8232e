// What is sealed, compressed at once and in this thread.
#pragma once

#include <string>

namespace unwrite::tests {

/// Of the workspace there, in which a session may be open: all that the compressor would get,
/// however small, and whether it shrinks or not. Throws when it fails.
void pack_all(const std::string& directory);

}  // namespace unwrite::tests
