// Doorbell: what idle workers sleep on. It rings once for one of them and is then mute, until it
// is heard for again: a request must not wake a second thread while a first one looks for it
// anyway, for its sender pays for that.
//
// It has a clock as well, for whoever leaves it mute for a moment (attendance.h).
#pragma once

#include <atomic>
#include <chrono>
#include <memory>

#include "base/result.h"
#include "base/unique_fd.h"

namespace unwrite::fs {

/// Any thread may call anything here at any time.
class Doorbell {
 public:
    /// Rings when `device` is readable, and for all when `end` is. Both outlive it.
    static Result<Doorbell> make(int device, int end);

    enum class Rang {
        kDevice,  ///< Mute until listen().
        kClock,
        kNothing,  ///< The end, or nothing at all.
    };
    /// Sleeps until it rings.
    Rang wait() const;
    /// The device rings again, at once when there is something already. Mute after each ring.
    void listen() const;
    /// Costs nothing when it was the last to be called.
    void mute() const;

    /// From now on one of those who wait is woken this often, mute or not; zero: no more.
    void set_clock(std::chrono::microseconds period) const;

 private:
    Doorbell(UniqueFd inner, UniqueFd outer, UniqueFd clock)
        : inner_(std::move(inner)),
          outer_(std::move(outer)),
          clock_(std::move(clock)),
          mute_(std::make_unique<std::atomic<bool>>(false)) {}
    void set(unsigned events) const;

    // The device does not say what it rings for, and would wake through an epoll that does not
    // listen to it; an epoll says it.
    UniqueFd inner_;  // of the device
    UniqueFd outer_;  // of that one, of the clock and of the end
    UniqueFd clock_;
    // What was asked for last; of two who ask at a time it may say the wrong one.
    std::unique_ptr<std::atomic<bool>> mute_;
};

}  // namespace unwrite::fs
