// What the journal mentions and what lost its place without our doing: removed or saved anew behind
// the mount, also while nothing was mounted. Files live on in the attic; directories are gone, and
// what the journal says of them is said of others from then on.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "overlay/locator.h"

namespace unwrite::overlay {

struct Vanished {
    std::vector<std::string> paths;         ///< where all of it was last, in no order
    std::vector<journal::NameImage> files;  ///< files without any name, and the name they had
    std::vector<ObjectKey> directories;
    bool empty() const { return files.empty() && directories.empty(); }
};

/// Of all that these deltas mention. Costs a descriptor and a stat(2) for each object; a directory
/// that is not where it was costs a walk over the tree. kCorrupt for an unreadable delta.
Result<Vanished> find_vanished(Locator& locator, const std::vector<journal::Delta>& deltas);

/// Gives each directory a successor: what stands at its place now, if that is a directory, else one
/// that is made there with the attributes that `deltas` (nearest first) know. Then every delta and
/// place of the journal speaks of the successors. Doing it again after an interruption goes on
/// where it was. A directory whose place is not known, or is in no directory of the workspace, is
/// left out. kConflict when something else stands in the place of one.
///
/// Gate closed, the open interval empty.
Result<> replace_vanished_directories(Locator& locator, const std::vector<ObjectKey>& directories,
                                      const std::vector<journal::Delta>& deltas);

/// Puts each file back at the name that it had, where nothing stands there now. For recovery, which
/// has no interval to say in that they were gone. Gate closed.
Result<> put_back_vanished_files(Locator& locator, const std::vector<journal::NameImage>& files);

}  // namespace unwrite::overlay
