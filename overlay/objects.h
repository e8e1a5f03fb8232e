// Objects: the table of objects that the kernel (or an operation) knows, with the place of each and
// a bounded cache of open descriptors. An object is found by its place (parent and name) and
// verified by its key; an object without a place is in the attic. Thread-safe.
//
// Locks: `stripes` serialise changes of names (see NameLock); `table_` and the places have locks of
// their own that are held only for the look-up. No lock is held across a system call except a
// NameLock.
#pragma once

#include <array>
#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <unordered_map>

#include "journal/attic.h"
#include "overlay/git_store.h"
#include "overlay/handle.h"
#include "overlay/tree.h"

namespace unwrite::overlay {

class Object;
using ObjectPtr = std::shared_ptr<Object>;

class Object {
 public:
    Object(NodeId id, ObjectKey key, mode_t type, bool inner = false,
           GitPlace git_place = GitPlace::kNone)
        : id_(id), key_(key), type_(type), inner_(inner), git_place_(git_place) {}
    NodeId id() const { return id_; }
    const ObjectKey& key() const { return key_; }
    mode_t type() const { return type_; }
    bool is_directory() const { return S_ISDIR(type_); }
    /// In another filesystem inside the workspace, where nothing is recorded.
    bool is_inner() const { return inner_; }
    GitPlace git_place() const { return git_place_; }
    /// It has no name left, not even in the attic, and nothing will ever need it but those who have
    /// it open: it lives until it is forgotten.
    bool is_loose() const { return loose_.load(); }
    /// No restore will ask for what it was.
    bool is_unrecorded() const { return is_inner() || is_loose(); }
    /// A directory whose changes behind the mount are noticed (lookout.h).
    bool is_watched() const { return watched_.load(std::memory_order_acquire); }

 private:
    friend class Objects;
    friend class Lookout;
    const NodeId id_;
    const ObjectKey key_;
    // There may be millions: the small ones share a word.
    const mode_t type_;
    const bool inner_;
    const GitPlace git_place_;
    std::atomic<bool> used_{false};  // touched since the cache's hand passed
    std::atomic<bool> loose_{false};
    std::atomic<bool> dead_{false};     // a removed directory: the kernel uses this id for no other
    std::atomic<bool> watched_{false};  // see Lookout
    std::uint64_t lookups_ = 0;         // guarded by the table shard
    ObjectPtr parent_;  // guarded by Objects::places_; null: the root, or in the attic
    std::string name_;  // guarded by Objects::places_
    HandlePtr handle_;  // guarded by Objects::handle_locks_
};

class Objects {
 public:
    /// Takes the workspace's descriptor (O_PATH or readable). `attic` outlives the table.
    Objects(UniqueFd workspace, ObjectKey root, journal::Attic& attic);

    const ObjectPtr& root() const { return root_; }

    /// A directory elsewhere that belongs to the workspace as well: the repository of a linked work
    /// tree, whose `.git` is a file. Paths of objects in it begin with kAnnexPath, which is free
    /// for that. In the same mount as the workspace, else kUsage. Once, before anything is looked
    /// up.
    static constexpr const char* kAnnexPath = ".git";
    Result<> attach(UniqueFd directory);
    /// Null without one.
    const ObjectPtr& annex() const { return annex_; }
    /// The root or the annex: what has no parent and lies in no attic.
    bool is_top(const ObjectKey& key) const {
        return key == root_->key() || (annex_ && key == annex_->key());
    }
    bool is_top(const Object& object) const { return is_top(object.key()); }
    bool is_top(const ObjectPtr& object) const { return is_top(object->key()); }
    /// Of a top: "" or kAnnexPath.
    std::string path_of_top(const ObjectKey& key) const {
        return key == root_->key() ? "" : kAnnexPath;
    }
    std::vector<ObjectPtr> tops() const;
    /// The top that a path lies in, and the rest of the path.
    struct Below {
        ObjectPtr top;
        std::string path;
    };
    Below top_of(const std::string& path) const;

    /// ESTALE when nobody holds that id.
    Result<ObjectPtr> get(NodeId id) const;
    /// Null when nobody looked it up.
    ObjectPtr find(const ObjectKey& key) const;
    /// Of all that are in the table, or those of a type (S_IFREG).
    std::vector<NodeId> ids(mode_t type = 0) const;
    /// The object for `key`, at (parent, name) from now on; adds `lookups` to its count. `inner`:
    /// what a new one is.
    ObjectPtr learn(const ObjectKey& key, mode_t type, const ObjectPtr& parent,
                    std::string_view name, unsigned lookups, bool inner = false);
    /// Whether anything in another filesystem was ever learned.
    bool any_inner() const { return any_inner_.load(std::memory_order_relaxed); }
    /// False for what begins another filesystem inside the workspace.
    bool is_same_filesystem(const sys::StatX& found) const {
        return sys::is_same_filesystem(top_, found);
    }
    /// Adds a lookup to one that is in the table.
    void retain(const ObjectPtr& object);
    /// Gives back lookups; returns the object when it was the last one (it has left the table
    /// then), else null.
    ObjectPtr forget(NodeId id, std::uint64_t lookups);

    /// Where an object is. `parent` null: the attic (or the root).
    struct Place {
        ObjectPtr parent;
        std::string name;
    };
    Place place(const Object& object) const;
    /// Relative to the root, "" for the root; nothing when it, or what it lies in, was removed.
    std::optional<std::string> path_of(ObjectPtr object) const;
    void set_place(Object& object, const ObjectPtr& parent, std::string_view name);
    void set_in_attic(Object& object) { set_place(object, nullptr, {}); }
    /// Its name (parent, name) was taken: it is in the attic unless it is known by another name. A
    /// directory that somebody still has open is dead to the kernel for ever: when it comes back,
    /// it is another object with another id.
    void lost_name(Object& object, const ObjectKey& parent, std::string_view name);
    /// Two files change places behind their ids: whoever knows one by its id has the other one from
    /// now on. Both are in the table; the ids' places stay. Returns what `old`'s id means now. Gate
    /// closed, NameLock of the place held.
    ObjectPtr exchange(const ObjectPtr& old, const ObjectPtr& made);
    /// As set_place for a key that may not be in the table; a parent that is not leaves it unplaced
    /// (found by scan).
    void moved(const ObjectKey& key, const ObjectKey& parent, std::string_view name);
    void moved_to_attic(const ObjectKey& key);

    /// A descriptor with at least that access. ESTALE when the object is not at its place (changed
    /// behind the mount).
    Result<HandlePtr> open(const ObjectPtr& object, Access access);
    /// A second way to the same: keeps a descriptor that the caller just opened.
    void keep(const ObjectPtr& object, HandlePtr handle);
    /// A path, and no other descriptor is kept: that of a writer is closed when nobody uses it.
    Result<HandlePtr> reopen_as_path(const ObjectPtr& object);
    /// Before the last name of a created object goes: a descriptor that serves all who have it
    /// open. Null when it cannot be had, or when there are many such: the attic must do then.
    HandlePtr open_to_loosen(const ObjectPtr& object);
    /// After its name went: loose with that descriptor, unless it has another name.
    void loosen(const ObjectPtr& object, HandlePtr handle);
    /// Attributes, verified, with the attic's link and the state directory taken off st_nlink.
    Result<struct stat> stat(const ObjectPtr& object);
    void correct(struct stat& st, const ObjectKey& key) const;

    /// Serialises changes of names in up to four directories (exclusive), or look-ups in one
    /// (shared).
    std::shared_mutex& stripe(const ObjectKey& directory) {
        return stripes_[std::hash<ObjectKey>()(directory) % kStripes];
    }

    journal::Attic& attic() { return attic_; }

 private:
    static constexpr std::size_t kStripes = 512;
    static constexpr std::size_t kShards = 64;
    static constexpr std::size_t kHandleLocks = 256;
    struct Shard {
        mutable std::shared_mutex mutex;
        std::unordered_map<NodeId, ObjectPtr> objects;
    };
    Shard& shard(NodeId id) const { return shards_[id % kShards]; }
    std::mutex& handle_lock(const Object& object) {
        return handle_locks_[object.id() % kHandleLocks];
    }
    NodeId preferred_id(const ObjectKey& key) const;
    /// The id to look for the object at, and to enter it at when nobody is there, after it was not
    /// found at `tried` (which is free, or another's). The lock of that shard is held.
    NodeId id_for(const ObjectKey& key, NodeId tried, bool is_free);
    HandlePtr cached(Object& object, Access access);
    Result<HandlePtr> open_once(const ObjectPtr& object, Access access);
    Result<HandlePtr> open_top(const Object& top, Access access) const;
    Result<HandlePtr> open_parent_chain(const ObjectPtr& object);
    void evict_some();

    journal::Attic& attic_;
    ObjectPtr root_;
    ObjectPtr annex_;  // set before anybody looks
    UniqueFd workspace_;
    UniqueFd annex_directory_;
    const sys::StatX top_;
    std::atomic<bool> any_inner_{false};
    mutable std::array<Shard, kShards> shards_;
    mutable std::mutex aliases_mutex_;
    std::unordered_map<ObjectKey, NodeId>
        aliases_;        // keys whose preferred id was taken once; guarded by aliases_mutex_
    NodeId next_alias_;  // guarded by aliases_mutex_
    mutable std::shared_mutex places_;
    std::array<std::mutex, kHandleLocks> handle_locks_;
    std::array<std::shared_mutex, kStripes> stripes_;
    std::mutex ring_mutex_;
    std::deque<std::weak_ptr<Object>>
        ring_;  // objects with a handle, in the order of the clock's hand
    std::size_t handle_limit_;
    std::atomic<std::size_t> loose_count_{0};
};

/// Whether the path is in the store of a repository that others use as well: of a file there, that
/// has the same bytes whoever made it, or of a directory for them when it ends in a slash.
bool is_shared_git_store(const Objects& objects, const std::string& path);

/// Holds the stripes of up to four directories exclusively, in a fixed order.
class NameLock {
 public:
    NameLock(Objects& objects, std::initializer_list<ObjectKey> directories);
    NameLock(const NameLock&) = delete;
    NameLock& operator=(const NameLock&) = delete;
    ~NameLock();

 private:
    std::array<std::shared_mutex*, 4> held_{};
    std::size_t count_ = 0;
};

}  // namespace unwrite::overlay
