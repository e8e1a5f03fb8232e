// Awake: while requests come one upon the other, idle processors are kept from sleeping
// (base/idle_latency.h). Client and worker wait for each other in turns, and in a virtual machine
// waking a processor takes longer than most requests.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

#include "base/idle_latency.h"
#include "fs/mount.h"

namespace unwrite::fs {

/// Thread-safe.
class Awake {
 public:
    /// Null where it is not wanted or cannot be had: without it all is slower, not wrong.
    static std::unique_ptr<Awake> make(Idle idle);
    static Result<std::unique_ptr<Awake>> start(sys::IdleLatency latency);
    ~Awake();
    Awake(const Awake&) = delete;
    Awake& operator=(const Awake&) = delete;

    /// A request came soon after others. From the first one on the processors stay awake, until
    /// tuning::kAwake after the last.
    void came() {
        requests_.fetch_add(1, std::memory_order_relaxed);
        if (!held_.load(std::memory_order_relaxed)) hold();
    }

 private:
    explicit Awake(sys::IdleLatency latency) : latency_(std::move(latency)) {}
    void hold();
    void watch();

    std::atomic<unsigned> requests_{0};
    std::atomic<bool> held_{false};  // written under mutex_
    std::mutex mutex_;
    std::condition_variable changed_;
    sys::IdleLatency latency_;  // guarded by mutex_
    bool stop_ = false;         // guarded by mutex_
    std::thread thread_;        // releases
};

}  // namespace unwrite::fs
