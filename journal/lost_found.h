// Lost and found: what an unclean end left in the state directory and nothing claims. After a power
// cut the rows that spoke of a displaced object may be gone while the object is there; it may be
// the only copy of a file that the user deleted. So nothing of it is removed: it moves to
// lost+found/<n>/, one such directory for each unclean end, with a listing, until the user drops
// it.
#pragma once

#include <cstdint>
#include <set>

#include "journal/attic.h"
#include "journal/images.h"
#include "journal/places.h"

namespace unwrite::journal {

/// How much of it there is.
struct Lost {
    std::uint64_t objects = 0;  ///< displaced files, directories and others, each at the top
    std::uint64_t deltas = 0;   ///< records of intervals of which the database knows nothing
};

/// Moves things of one state directory to lost+found. For the one writer.
class LostFound {
 public:
    /// Descriptors of the open state directory and of its deltas/; they outlive this.
    LostFound(int state, int deltas, Attic& attic, const Places& places)
        : state_(state), deltas_(deltas), attic_(attic), places_(places) {}

    /// The files of these deltas, to which nothing refers.
    Result<> take_deltas(const std::vector<DeltaNumber>& numbers);
    /// What is in the attic and not `claimed`, but for second names of files that have another one.
    /// `known`: deltas that may know where such an object stood. `root`: the workspace's key.
    Result<> take_objects(const std::set<ObjectKey>& claimed, const std::vector<DeltaNumber>& known,
                          const ObjectKey& root);
    /// What was moved by this.
    const Lost& taken() const { return taken_; }

 private:
    Result<int> box();
    Result<> learn_names(int directory, DeltaNumber number);
    std::string path_of(const ObjectKey& key, const ObjectKey& root) const;
    Result<> take_object(const ObjectKey& key, const ObjectKey& root);
    Result<> list(const std::string& name, const std::string& path);

    int state_;
    int deltas_;
    Attic& attic_;
    const Places& places_;
    UniqueFd box_;         // lost+found/<n>, made when it is needed
    UniqueFd box_deltas_;  // deltas/ in it
    UniqueFd listing_;
    std::uint64_t listed_ = 0;  // bytes
    std::unordered_map<ObjectKey, NameKey> names_;
    Lost taken_;
};

/// What is in lost+found, all of it together.
Result<Lost> count_lost(int state);
/// Removes all of it; what was there.
Result<Lost> drop_lost(int state, Attic& attic);

}  // namespace unwrite::journal
