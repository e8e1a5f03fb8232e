// Locator: finds objects that the journal mentions, whether anyone looked them up or not: in the
// attic, in the table of objects, by the journal's places, and at last by walking the tree. Every
// find is verified by the key. Thread-safe. Errors: kCorrupt with ENOENT when the object is
// nowhere.
#pragma once

#include <mutex>
#include <unordered_map>

#include "journal/journal.h"
#include "overlay/capture.h"
#include "overlay/objects.h"

namespace unwrite::overlay {

class Locator {
 public:
    Locator(Objects& objects, journal::Journal& journal) : objects_(objects), journal_(journal) {}

    /// A path descriptor of a directory, in the tree or in the attic. One that was removed behind
    /// the mount is nowhere, whoever has it open.
    Result<HandlePtr> directory(const ObjectKey& key);
    /// A descriptor of any object with that access (a directory: kPath).
    Result<HandlePtr> object(const ObjectKey& key, Access access);
    /// What stands at a name now; nothing when the name is absent. Error when the parent is
    /// nowhere.
    Result<std::optional<Standing>> standing(const NameKey& name);

    /// A name at which the object stands in the live tree, verified; nothing when it has none (or
    /// `key` is the root).
    std::optional<NameKey> live_name(const ObjectKey& key);
    /// The path from the root by live names, no leading slash; "" for the root; nothing when it is
    /// not in the live tree.
    std::optional<std::string> live_path(const ObjectKey& key);
    /// The same for many objects of one moment: what was found stays in `known`.
    using Paths = std::unordered_map<ObjectKey, std::optional<std::string>>;
    std::optional<std::string> live_path(const ObjectKey& key, Paths& known);

    /// Forgets cached descriptors (they stay right when directories move, so only to free them).
    void drop_cache();

    Objects& objects() { return objects_; }
    journal::Journal& journal() { return journal_; }

 private:
    Result<HandlePtr> directory_at(const ObjectKey& key, int depth);
    Result<HandlePtr> open_at_name(const ObjectKey& key, const NameKey& name, Access access,
                                   int depth);
    Result<HandlePtr> open_in_attic(const ObjectKey& key, Access access);
    Result<HandlePtr> open_by_scan(const ObjectKey& key, Access access);
    struct Seen {
        NameKey name;
        HandlePtr parent;
    };
    std::optional<Seen> scan(const ObjectKey& key);
    void remember(const ObjectKey& key, const HandlePtr& handle);

    Objects& objects_;
    journal::Journal& journal_;
    std::mutex mutex_;
    std::unordered_map<ObjectKey, HandlePtr> directories_;  // guarded by mutex_
};

}  // namespace unwrite::overlay
