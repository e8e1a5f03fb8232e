// What the journal mentions and what lost its place without our doing: removed, saved anew or moved
// away behind the mount, also while nothing was mounted. Files live on in the attic; what became of
// a directory, or of a file that has other names elsewhere, is not ours to change: a successor
// takes its part, and what the journal says of the old object is said of the new one from then on.
#pragma once

#include <string>
#include <vector>

#include "overlay/history.h"
#include "overlay/locator.h"

namespace unwrite::overlay {

/// One edge of a path through the tree of states, with what it says.
struct Edge {
    journal::DeltaNumber number = 0;
    journal::Delta delta{};
};
/// Nearest first.
using Edges = std::vector<Edge>;

struct Vanished {
    std::vector<std::string> paths;         ///< where all of it was last, in no order
    std::vector<journal::NameImage> files;  ///< without a name in the workspace; the one they had
    std::vector<ObjectKey> elsewhere;       ///< of these, those with names outside the workspace
    std::vector<ObjectKey> directories;
    bool empty() const { return files.empty() && directories.empty(); }
};

/// Of all that these edges mention. Costs a descriptor and two stat(2) for each object, and one
/// walk over the tree when something is not where it was. A file that another name in the workspace
/// still leads to is in `paths` alone. Errors that do not say that something is absent are passed
/// on.
Result<Vanished> find_vanished(Locator& locator, const Edges& edges);

struct Successors {
    journal::ReplacedObjects replaced{};
    /// What must stand at its name before the edges are crossed: new directories, and the files.
    /// Those above come before those below.
    std::vector<journal::NameImage> images{};
    /// The successor, or the object itself when it has none.
    ObjectKey now(const ObjectKey& key) const {
        const auto found = replaced.find(key);
        return found == replaced.end() ? key : found->second;
    }
};

/// Gives successors to directories and to files with names elsewhere. Of a directory: what stands
/// at its place now, when that is a directory of which the journal knows nothing and which no edge
/// takes away, else a new one in the attic, with the attributes that the edges know. Then every
/// delta speaks of the successors; the places do after finish_successors(), and doing all of it
/// again after an interruption in between goes on where it was. A directory whose place is not
/// known, or is in no directory of the workspace, is left out. kConflict when something else stands
/// in the place of one that no edge would take away.
///
/// Gate closed, the open interval empty.
Result<Successors> make_successors(Locator& locator, const Vanished& vanished, const Edges& edges);
Result<> finish_successors(Locator& locator, const Successors& successors);

/// Writes down in the nearest edge that mentions the object that it stood there before. What stands
/// there now is kept by the restore, for the way back. Gate closed; the edges as they are now.
Result<> book(Locator& locator, const Successors& successors, const Edges& edges);

/// Puts each object back at the name that it had. For recovery, which has no interval to say in
/// that they were gone: what stands there now is set aside (set_aside.h), and `kept` has its new
/// path. Gate closed.
Result<> put_back(Locator& locator, const std::vector<journal::NameImage>& images,
                  std::vector<std::string>& kept);

}  // namespace unwrite::overlay
