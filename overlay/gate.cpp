#include "overlay/gate.h"

#include <cerrno>

namespace unwrite::overlay {

Result<Gate::Pass> Gate::pass() {
    unsigned state = state_.load(std::memory_order_relaxed);
    for (;;) {
        if ((state & kClosed) != 0) {
            std::unique_lock lock(mutex_);
            changed_.wait(lock, [this] { return (state_.load() & kClosed) == 0; });
            state = state_.load();
            continue;
        }
        if (state_.compare_exchange_weak(state, state + 1, std::memory_order_acquire)) break;
    }
    Pass inside(this);
    passes_.fetch_add(1, std::memory_order_relaxed);
    if (wounded()) {
        return Error(ErrorKind::kRecovery, EROFS,
                     "a restore was interrupted, so nothing can be changed now",
                     "`unwrite recover` finishes it");
    }
    return inside;
}

void Gate::leave() {
    const unsigned before = state_.fetch_sub(1, std::memory_order_release);
    if (before == (kClosed | 1U)) {
        const std::lock_guard lock(mutex_);
        changed_.notify_all();
    }
}

Gate::Closed Gate::close() {
    closing_.lock();
    state_.fetch_or(kClosed, std::memory_order_acquire);
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return state_.load() == kClosed; });
    return Closed(this);
}

void Gate::open() {
    {
        const std::lock_guard lock(mutex_);
        state_.fetch_and(~kClosed, std::memory_order_release);
        changed_.notify_all();
    }
    closing_.unlock();
}

}  // namespace unwrite::overlay
