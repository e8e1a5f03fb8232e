// Janitor: a thread that removes, in the background, what nobody needs any more: what was
// remembered of an interval that ended, the files of deltas that a commit dropped, created objects
// that were unlinked while open and have been forgotten, and, when asked to sweep, every object
// that no delta mentions. In the attic it works under a pass of the gate, one object at a time, so
// it is never in the way of a restore. Thread-safe.
#pragma once

#include <condition_variable>
#include <deque>
#include <thread>

#include "overlay/capture.h"
#include "overlay/gate.h"

namespace unwrite::overlay {

class Janitor {
 public:
    Janitor(Objects& objects, Capture& capture, journal::Journal& journal, Gate& gate);
    Janitor(const Janitor&) = delete;
    Janitor& operator=(const Janitor&) = delete;
    ~Janitor();

    /// Frees them in the background, and what is left of them at its end. Null ones are nothing.
    void free(std::vector<Leftovers> leftovers);
    /// `key`, created in the open interval, has no name but the attic's and nobody holds it.
    void remove_orphan(const ObjectKey& key);
    /// Removes the files of these deltas in the background. Nothing refers to them, and nothing
    /// ever will, for their numbers are not given out again. What is left after a kill, or after a
    /// failure (in the log), goes when the journal is opened the next time.
    void remove_deltas(std::vector<journal::DeltaNumber> dropped);
    /// Those that are left of them now, in this thread.
    void remove_dropped_deltas();
    /// Removes in the background what no delta mentions. Many calls are one sweep.
    void sweep();
    /// The same now, in this thread, with the gate open; returns how many objects went.
    Result<std::uint64_t> sweep_now();
    /// A restore begins to move the live state, gate closed: what a sweep under way knows of deltas
    /// and attic is out of date.
    void restore_begins() { ++restores_; }

 private:
    void work();
    void remove_one_orphan(const ObjectKey& key);
    /// False when a restore came between, and it must begin again.
    Result<bool> sweep_watched(std::uint64_t restores, std::uint64_t& removed);
    Result<bool> remove_unneeded(const ObjectKey& key, const std::set<ObjectKey>& needed,
                                 std::vector<ObjectKey>& more);
    Result<> empty_directory(const ObjectKey& key, const std::set<ObjectKey>& needed,
                             std::vector<ObjectKey>& more);

    Objects& objects_;
    Capture& capture_;
    journal::Journal& journal_;
    Gate& gate_;
    std::uint64_t restores_ = 0;  // guarded by the closed gate
    std::mutex sweep_mutex_;      // one sweep at a time
    std::mutex mutex_;
    std::condition_variable wake_;
    std::vector<Leftovers> leftovers_;           // guarded by mutex_
    std::deque<ObjectKey> orphans_;              // guarded by mutex_
    std::vector<journal::DeltaNumber> dropped_;  // guarded by mutex_
    bool sweep_asked_ = false;                   // guarded by mutex_
    bool stop_ = false;                          // guarded by mutex_
    std::thread thread_;
};

}  // namespace unwrite::overlay
