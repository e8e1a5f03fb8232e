// What is sealed, compressed at once and in this thread.
#pragma once

#include <string>

namespace unwrite::tests {

/// Of the workspace there, in which a session may be open: all that the compressor would get,
/// however small, and whether it shrinks or not. Throws when it fails.
void pack_all(const std::string& directory);
/// Whether that is asked for after every move (UNWRITE_COMPRESS_AFTER=0).
bool packs_at_once();

}  // namespace unwrite::tests
