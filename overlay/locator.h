// Locator: finds objects that the journal mentions, whether anyone looked them up or not: in the
// attic, in the table of objects, by the journal's places, and at last by walking the tree. Every
// find is verified by the key. Thread-safe. Errors: kCorrupt with ENOENT when the object is
// nowhere.
#pragma once

#include <functional>
#include <mutex>
#include <unordered_map>
#include <unordered_set>

#include "journal/journal.h"
#include "overlay/capture.h"
#include "overlay/objects.h"

namespace unwrite::overlay {

class Locator {
 public:
    Locator(Objects& objects, journal::Journal& journal) : objects_(objects), journal_(journal) {}

    /// A path descriptor of a directory, in the tree or in the attic. One that was removed behind
    /// the mount or moved out of the workspace is nowhere, whoever has it open. Found by names, by
    /// a walk where these fail; what was found is known until the next begin().
    Result<HandlePtr> directory(const ObjectKey& key);
    /// The same without the walk.
    Result<HandlePtr> known_directory(const ObjectKey& key);
    /// Looks for all of these with one walk. Where one is found the journal's places say it then.
    Result<> search(const std::unordered_set<ObjectKey>& keys);
    /// A descriptor of any object with that access (a directory: kPath).
    Result<HandlePtr> object(const ObjectKey& key, Access access);
    /// How any object looks, without a descriptor of it where it is in the attic.
    Result<struct stat> stat(const ObjectKey& key);
    /// What stands at a name now; nothing when the name is absent. Error when the parent is
    /// nowhere.
    Result<std::optional<Standing>> standing(const NameKey& name);

    /// A path descriptor of the object that stands at a name. ESTALE when another one does.
    Result<HandlePtr> at(const NameKey& name, const ObjectKey& key);

    /// A name at which the object stands in the live tree, verified; nothing when it has none (or
    /// `key` is the root).
    std::optional<NameKey> live_name(const ObjectKey& key);
    /// The path from the root by live names, no leading slash; "" for the root; nothing when it is
    /// not in the live tree.
    std::optional<std::string> live_path(const ObjectKey& key);
    /// The same for many objects of one moment: what was found stays in `known`.
    using Paths = std::unordered_map<ObjectKey, std::optional<std::string>>;
    std::optional<std::string> live_path(const ObjectKey& key, Paths& known);

    /// The journal's places know a live directory, and those above it, from now on.
    Result<> note_places(const ObjectKey& directory);

    /// Where a walk met an object: its name, and the open directory of it.
    struct Seen {
        NameKey name;
        HandlePtr parent;
    };
    /// Walks the live tree for all names of these. False from `found` ends the walk.
    using Found = std::function<bool(const ObjectKey& key, Seen seen)>;
    void scan(const std::unordered_set<ObjectKey>& keys, const Found& found);

    /// An operation begins: what earlier ones found may have changed behind the mount.
    void begin();

    Objects& objects() { return objects_; }
    journal::Journal& journal() { return journal_; }
    /// The directory in which copies for a while are made: on the journal's disk.
    int scratch() const { return journal_.state_dir().deltas(); }

 private:
    /// What was asked on the way to one directory, and need not be asked again: places may lead in
    /// a circle.
    using Asked = std::unordered_set<ObjectKey>;
    Result<HandlePtr> directory_at(const ObjectKey& key, Asked& asked);
    Result<HandlePtr> by_names(const ObjectKey& key, Asked& asked);
    Result<HandlePtr> open_at_name(const ObjectKey& key, const NameKey& name, Access access,
                                   Asked& asked);
    Result<HandlePtr> open_in_attic(const ObjectKey& key, Access access);
    Result<HandlePtr> open_by_scan(const ObjectKey& key, Access access);
    std::optional<Seen> scan(const ObjectKey& key);
    void remember(const ObjectKey& key, const HandlePtr& handle);

    Objects& objects_;
    journal::Journal& journal_;
    std::mutex mutex_;
    std::unordered_map<ObjectKey, HandlePtr> directories_;  // guarded by mutex_
};

/// True for the errors of this class (and of open_verified) that say that the object is not there,
/// and not that it could not be looked at.
bool is_absence(const Error& error);

}  // namespace unwrite::overlay
