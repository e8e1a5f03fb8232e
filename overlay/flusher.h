// Flusher: begins to write to disk what a plain filesystem would begin to write at a close. ext4,
// xfs and btrfs do so for a file that was cut off and written again ("echo x > f"), because its
// cutting reaches the disk within seconds and its new bytes might take half a minute: a power cut
// in between would leave it empty. The daemon keeps descriptors open and sees no close, so a thread
// begins it soon after the write. Nobody waits for it. Thread-safe.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <unordered_map>

#include "overlay/handle.h"

namespace unwrite::overlay {

class Flusher {
 public:
    Flusher();
    /// Begins what is left, and ends.
    ~Flusher();
    Flusher(const Flusher&) = delete;
    Flusher& operator=(const Flusher&) = delete;

    /// The file was made shorter: what is written to it from here on is begun soon.
    void cut(const ObjectKey& key, const HandlePtr& handle);
    /// It was written to. A look at a counter when no file was cut lately.
    void wrote(const ObjectKey& key) {
        if (count_.load(std::memory_order_relaxed) != 0) note(key);
    }

 private:
    using Clock = std::chrono::steady_clock;
    struct File {
        HandlePtr handle;
        Clock::time_point touched;
        bool dirty = false;
    };
    void note(const ObjectKey& key);
    void work();
    std::vector<HandlePtr> take_dirty();

    std::atomic<std::size_t> count_{0};
    std::mutex mutex_;
    std::condition_variable wake_;
    std::unordered_map<ObjectKey, File> files_;  // guarded by mutex_
    bool dirty_ = false;                         // guarded by mutex_: one of them is
    bool stop_ = false;                          // guarded by mutex_
    std::thread thread_;
};

}  // namespace unwrite::overlay
