// Helper: a thread that does jobs one after the other, for calls that may wait long in the kernel.
//
// One that calls through the mount it belongs to is a guest there: it gets a descriptor table of
// its own, without /dev/fuse in it. When the daemon is killed while the guest waits for an answer,
// the device is closed all the same, the kernel gives up the connection, and nothing hangs. (A
// thread that waits in the kernel keeps its descriptor table alive.) A guest therefore may use
// nothing that holds a descriptor: not the tree, not the log.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "base/result.h"

namespace unwrite::fs {

enum class Descriptors { kShared, kOwn };

class Helper {
 public:
    static Result<std::unique_ptr<Helper>> start(const char* name, Descriptors descriptors);
    ~Helper();
    /// Finishes the job under way, however long it takes, and drops the others and all that are
    /// posted from now on.
    void end();

    pid_t thread() const { return id_; }
    /// Jobs run one at a time in this order. Those of a guest close what they open.
    void post(std::function<void()> job);
    /// Whether all jobs posted so far were done in time.
    bool wait(std::chrono::milliseconds patience);
    /// Whether they were done at all: not when it ended before.
    bool wait();

 private:
    Helper() = default;
    void live(Descriptors descriptors);
    bool is_over(std::uint64_t target) const { return stopping_ || done_ >= target; }

    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::function<void()>> jobs_;
    std::uint64_t posted_ = 0;
    std::atomic<std::uint64_t> done_{0};  // written with the lock held
    bool stopping_ = false;
    pid_t id_ = 0;
    Result<> state_;
    std::mutex ending_;   // one at a time waits for the thread
    std::thread thread_;  // guarded by ending_, once it runs
};

}  // namespace unwrite::fs
