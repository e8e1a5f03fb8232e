// Restorer: crosses one edge of the tree of states. invert() writes down how things stand now at
// everything the edge's delta mentions, which is the delta of the way back; apply() makes the
// workspace as the delta says. Both are called with the gate closed. apply() compares before each
// change, so doing it again after an interruption ends in the same state (invariant 4).
//
// apply() works on names in two passes. First every name that holds something else than it should
// is emptied: its object moves to the attic. Then every wanted object is put at its name, out of
// the attic. So exchanged names, cycles, renamed parents and file-to-directory flips need no order.
// Aspects follow, and the directories' attributes last, for moving names changes mtimes.
//
// invert() and what belongs to it are in restorer_inverse.cpp.
//
// What is carried (unseen.h) is not read from the file: its image is how things stand. And it is
// written first, and beside whoever changes it unseen meanwhile.
#pragma once

#include <functional>
#include <unordered_map>
#include <unordered_set>

#include "base/progress.h"
#include "overlay/attributes.h"
#include "overlay/locator.h"
#include "overlay/unseen.h"

namespace unwrite::overlay {

struct RestoreSettings {
    bool mtime_now = false;  ///< leave modification times as the restore makes them (D16)
};

class Restorer {
 public:
    Restorer(Locator& locator, const Unseen& unseen, RestoreSettings settings)
        : locator_(locator), unseen_(unseen), settings_(settings) {}

    /// Somebody changed these files outside the mount. Where only their attributes go back, the
    /// time of that change stays: otherwise make and git would not see it. Until take_restored().
    void spare_time_of(const ObjectKey& file) { spared_.insert(file); }

    /// Appends to `into` the images of the live state for all that `delta` mentions. Changes
    /// nothing in the workspace. kCorrupt when something the delta needs is missing: the caller
    /// gives up before any change.
    Result<> invert(const journal::Delta& delta, journal::DeltaWriter& into);
    /// Where the bytes of the n-th content image of an object are.
    using DataOf =
        std::function<Result<journal::OpenData>(const ObjectKey& key, std::size_t image)>;
    /// What somebody changed unseen in what is carried, since it is: it stays, as if it came after
    /// this (overwriting.h), or goes, for the live file is known to be something else.
    enum class Meanwhile { kStays, kGoes };
    Result<> apply(const journal::Delta& delta, const DataOf& data, Meanwhile meanwhile);

    /// What the applies so far changed, for the kernel's caches; taken out.
    Restored take_restored();
    /// What is done besides counts as well, whatever it is.
    void changed_anything();

 private:
    /// By directories, and in each as the objects were made.
    using Names = std::vector<const journal::NameState*>;
    static Names in_order(const journal::Delta& delta);
    static Error parent_missing(const journal::NameImage& image, const Error& why);
    using Seen = std::unordered_map<const journal::NameState*, std::optional<ObjectKey>>;
    void look_around(const Names& names);
    bool is_empty(const ObjectKey& directory);
    Result<> invert_name(const journal::Delta& delta, const journal::NameState& state,
                         journal::DeltaWriter& into);
    Result<std::optional<NameKey>> name_to_leave(const journal::NameImage& image);
    Result<> invert_leaving(const journal::Delta& delta, const journal::NameImage& image,
                            journal::DeltaWriter& into);
    Result<> invert_arriving(const journal::Delta& delta, const journal::NameImage& image,
                             journal::DeltaWriter& into);
    Result<> invert_moved(const journal::Delta& delta, const ObjectKey& key, int fd,
                          journal::DeltaWriter& into);
    Result<> invert_displaced(const journal::Delta& delta, const ObjectKey& key,
                              journal::DeltaWriter& into);
    Result<> invert_object(const ObjectKey& key, const journal::ObjectImage& image,
                           journal::DeltaWriter& into);
    Result<> invert_parents(const journal::Delta& delta, journal::DeltaWriter& into);
    Result<> empty_name(const journal::NameState& state, const Seen& seen);
    Result<> keep_stranger(const NameKey& at, const ObjectKey& stranger);
    Result<> apply_names(const journal::Delta& delta, Progress& progress);
    Result<> fill_name(const journal::NameImage& image);
    Result<bool> is_filled(const journal::NameImage& image);
    Result<> put(const journal::NameImage& image);
    Result<> put_directory(const journal::NameImage& image, int parent);
    Result<> put_file(const journal::NameImage& image, int parent);
    Result<> apply_content(const ObjectKey& key, const journal::ObjectImage& image,
                           const DataOf& data, Meanwhile meanwhile);
    Result<> apply_beside(const Unseen::Image& carried, int fd, const ObjectKey& key,
                          const journal::ObjectImage& image, const DataOf& data);
    Result<> apply_attributes(const ObjectKey& key, const journal::Attributes& wanted);
    void changed_name(const NameKey& name, bool existed, bool exists, std::uint32_t type);
    void changed_object(const ObjectKey& key);

    Locator& locator_;
    const Unseen& unseen_;
    RestoreSettings settings_;
    // What invert() saw at each name, for the apply() that follows with the same delta. Without it
    // (recovery) there is none.
    Seen seen_;
    /// What invert() found out at one look, while it lasts.
    struct Looked {
        std::unordered_set<ObjectKey> empty{};     ///< directories
        std::unordered_set<ObjectKey> in_attic{};  ///< some of what is there
    };
    Looked looked_;
    Restored restored_;
    bool changed_anything_ = false;
    std::vector<NameKey> changed_name_keys_;
    std::vector<ObjectKey> changed_objects_;
    std::unordered_set<ObjectKey> spared_;  // see spare_time_of()
};

}  // namespace unwrite::overlay
