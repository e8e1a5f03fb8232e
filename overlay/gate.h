// Gate: mutations pass it shared; checkpoint, restore and commit close it. A closing waits for the
// mutations inside and keeps new ones out, so a steady stream of writers cannot starve a
// checkpoint. Thread-safe; not recursive.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>

#include "base/result.h"

namespace unwrite::overlay {

class Gate {
 public:
    /// Held by one mutation.
    class Pass {
     public:
        explicit Pass(Gate* gate) : gate_(gate) {}
        Pass(Pass&& other) noexcept : gate_(std::exchange(other.gate_, nullptr)) {}
        Pass& operator=(Pass&&) = delete;
        ~Pass() {
            if (gate_ != nullptr) gate_->leave();
        }

     private:
        Gate* gate_;
    };

    /// Held while the gate is closed.
    class Closed {
     public:
        explicit Closed(Gate* gate) : gate_(gate) {}
        Closed(Closed&& other) noexcept : gate_(std::exchange(other.gate_, nullptr)) {}
        Closed& operator=(Closed&&) = delete;
        ~Closed() {
            if (gate_ != nullptr) gate_->open();
        }

     private:
        Gate* gate_;
    };

    /// Waits while the gate is closed. EROFS when the session is wounded.
    Result<Pass> pass();
    /// How many there were: the same number twice, and nothing was changed in between.
    std::uint64_t passes() const { return passes_.load(std::memory_order_relaxed); }
    Closed close();

    void set_wounded(bool wounded) { wounded_.store(wounded); }
    bool wounded() const { return wounded_.load(); }

 private:
    static constexpr unsigned kClosed = 1U << 31;
    void leave();
    void open();

    std::atomic<unsigned> state_{
        0};  // mutations inside, with kClosed while one closes or has closed
    std::atomic<std::uint64_t> passes_{0};  // beside state_, in the same line of the cache
    std::atomic<bool> wounded_{false};
    std::mutex closing_;  // held by whoever has the gate closed
    std::mutex mutex_;    // only for sleeping on changed_
    std::condition_variable changed_;
};

}  // namespace unwrite::overlay
