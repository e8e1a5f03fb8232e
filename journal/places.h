// Places: where directories (and the few objects that cannot be anchored) that the journal mentions
// are now. A file of appended records, places.log, read whole when the journal is opened and
// rewritten when it has grown to several times what it says. An entry may be stale by one step
// after a crash: both the newest and the place before it are kept, and whoever uses one verifies
// the key there. Of files the newest place also says that they had a name when we last changed
// one; who finds such a file without any knows that it was removed behind the mount.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/leftovers.h"
#include "base/object_key.h"
#include "base/syscalls.h"

namespace unwrite::journal {

/// Thread-safe.
class Places {
 public:
    /// `state` is the open state directory. A torn tail is cut; a damaged record is skipped with a
    /// warning, for a place is only a hint.
    static Result<std::unique_ptr<Places>> open(int state);

    struct Place {
        NameKey newest;
        std::optional<NameKey> before;
    };
    std::optional<Place> find(const ObjectKey& key) const;
    bool contains(const ObjectKey& key) const;
    /// Records that `key` is at `at`. One write(2); nothing when it says so already.
    Result<> set(const ObjectKey& key, const NameKey& at);
    /// Records that `key` has no name any more. One write(2); nothing when no place is known.
    Result<> forget(const ObjectKey& key);
    /// From here until flush() what set() records may stay in memory, and is lost with the process:
    /// for who sets the same again after a kill. All else is written at once, and what was set
    /// before it.
    void hold();
    Result<> flush();
    /// Objects that others are about to take the part of, remembered until replace() has the same.
    Result<> begin_replace(const std::unordered_map<ObjectKey, ObjectKey>& replaced);
    std::optional<ObjectKey> successor(const ObjectKey& key) const;
    /// Those whose replacement was begun and not ended.
    std::vector<ObjectKey> replacing() const;
    /// What was in the old ones is in the new ones, which stand where the old ones stood.
    Result<> replace(const std::unordered_map<ObjectKey, ObjectKey>& replaced);
    /// Returns what was known, to be freed.
    Result<Leftovers> clear();
    /// Makes everything set so far survive a power cut.
    Result<> sync();

 private:
    explicit Places(int state) : state_(state) {}
    Result<> load();
    Result<> open_file();
    Result<> append(const std::string& record);
    Result<> write_held();
    Result<> write(const std::string& records);
    Result<> set_locked(const ObjectKey& key, const NameKey& at);
    Result<> forget_locked(const ObjectKey& key);
    Result<> compact();
    void remember(const ObjectKey& key, NameKey at);

    int state_;
    mutable std::mutex mutex_;  // guards all that follows
    UniqueFd file_;             // opened by the first change, so that a reader changes nothing
    std::uint64_t end_ = 0;     // where the next record goes; 0: not even a header
    std::uint64_t records_ = 0;
    std::string held_;  // records that are not in the file yet
    bool holding_ = false;
    bool damaged_ = false;  // to be written anew before anything is appended
    std::unordered_map<ObjectKey, Place> places_;
    std::unordered_map<ObjectKey, ObjectKey> successors_;
};

}  // namespace unwrite::journal
