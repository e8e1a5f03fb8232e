// Doorbell: what idle workers sleep on. It rings once for one of them and is then mute, until it
// is heard for again: a request must not wake a second thread while a first one looks for it
// anyway, for its sender pays for that.
#pragma once

#include "base/result.h"
#include "base/unique_fd.h"

namespace unwrite::fs {

/// Any thread may call anything here at any time.
class Doorbell {
 public:
    /// Rings when `device` is readable, and for all when `end` is. Both outlive it.
    static Result<Doorbell> make(int device, int end);

    /// Sleeps until it rings, or until `end` is readable. May return for nothing.
    void wait() const;
    /// The device rings again, at once when there is something already. Mute after each ring.
    void listen() const;
    void mute() const;

 private:
    Doorbell(UniqueFd inner, UniqueFd outer) : inner_(std::move(inner)), outer_(std::move(outer)) {}
    void set(unsigned events) const;

    // The device does not say what it rings for, and would wake through an epoll that does not
    // listen to it; an epoll says it.
    UniqueFd inner_;  // of the device
    UniqueFd outer_;  // of that one, and of the end
};

}  // namespace unwrite::fs
