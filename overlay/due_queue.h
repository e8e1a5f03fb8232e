// DueQueue: a thread that does something with each delta some time after it was added, with the
// lowest priority that there is. It takes no lock but its own, and not for longer than a look into
// its queue: it is in nobody's way, and nobody waits for it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

#include "journal/images.h"

namespace unwrite::overlay {

/// Thread-safe.
class DueQueue {
 public:
    /// Called in the thread; whether to call it again later for this one.
    using Work = std::function<bool(journal::DeltaNumber)>;

    /// `after`: how long after it was added; without it nothing is ever done, and there is no
    /// thread.
    DueQueue(std::optional<std::chrono::milliseconds> after, Work work);
    DueQueue(const DueQueue&) = delete;
    DueQueue& operator=(const DueQueue&) = delete;
    /// Waits for what is under way; all else is dropped.
    ~DueQueue();

    void add(journal::DeltaNumber number);
    /// It is about to end: what is under way may be given up.
    bool is_ending() const;

 private:
    using Clock = std::chrono::steady_clock;
    void run();

    const std::optional<std::chrono::milliseconds> after_;
    const Work work_;
    mutable std::mutex mutex_;
    std::condition_variable wake_;
    std::multimap<Clock::time_point, journal::DeltaNumber> due_;  // guarded by mutex_
    bool ending_ = false;                                         // guarded by mutex_
    std::thread thread_;
};

}  // namespace unwrite::overlay
