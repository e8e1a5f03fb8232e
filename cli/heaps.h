// Heaps: directories that nobody reads file by file, and which would bury everything else in a
// list.
#pragma once

#include <string>
#include <vector>

#include "overlay/operations.h"

namespace unwrite::cli {

/// The outermost directory above `path` that is a heap (.git, node_modules, .venv, __pycache__); ""
/// when there is none, and for the heap itself.
std::string heap_above(const std::string& path);

/// The changes, where more than three lie in one heap as one of that directory: kModified, `below`
/// counts them, `bytes` are theirs together. Sorted by path, as they were.
std::vector<overlay::Change> heaped(const std::vector<overlay::Change>& changes);
/// Whether it is one of these.
bool is_heap(const overlay::Change& change);

}  // namespace unwrite::cli
