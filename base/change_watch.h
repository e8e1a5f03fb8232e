// ChangeWatch: tells what other processes change in watched directories (fanotify(7), which
// ordinary users may ask for since Linux 5.13). What this process changes is left out. Not seen:
// stores through a mapping (its end is), and what another machine changes on a network filesystem.
//
// What is not fetched is kept merged, by object: it does not hurt to come late. A directory stays
// in the kernel's memory while it is watched.
//
// Thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/object_key.h"
#include "base/result.h"
#include "base/unique_fd.h"

namespace unwrite::sys {

class ChangeWatch {
 public:
    struct Change {
        ObjectKey directory;
        std::string name;    ///< what changed in it; ".": itself
        bool names = false;  ///< the name came or went; else what is found by it changed
    };
    struct Changes {
        bool lost = false;  ///< there were more than can be told
        std::vector<Change> each;
    };

    /// `scratch`: a directory nobody else changes, on the filesystem of those to be watched; a
    /// file is made and removed in it, to see that all is told as it should be. ENOTSUP where it
    /// is not (also on a filesystem that others may change unseen), EPERM, ENOSYS.
    static Result<std::unique_ptr<ChangeWatch>> start(int scratch);
    ChangeWatch(const ChangeWatch&) = delete;
    ChangeWatch& operator=(const ChangeWatch&) = delete;

    /// `directory` may be a path. ENOSPC when there are as many watches as this user may have. A
    /// second call for the same directory changes nothing.
    Result<> watch(int directory, const ObjectKey& key);
    void unwatch(int directory, const ObjectKey& key);
    /// As unwatch(), of a directory that is gone, or that cannot be opened any more.
    void forget(const ObjectKey& key);

    /// Readable when there is something to take, which may be nothing but this process's own.
    int fd() const { return group_.get(); }
    /// What there is, at most some thousands; nothing when nothing is left.
    Changes take();

 private:
    ChangeWatch() = default;
    Result<> prove(int scratch);
    Result<> mark(unsigned flags, int directory) const;
    bool read_some(Changes& changes);
    void take_event(const std::byte* event, std::size_t length, Changes& changes);
    void sweep();  // mutex_ held

    UniqueFd group_;
    mutable std::mutex mutex_;
    std::unordered_map<std::string, ObjectKey> directories_;  // by file handle; guarded by mutex_
    std::unordered_set<ObjectKey> gone_;                      // still in it; guarded by mutex_
};

}  // namespace unwrite::sys
