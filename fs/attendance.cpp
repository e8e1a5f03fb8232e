#include "fs/attendance.h"

#include <sched.h>

#include <cerrno>
#include <chrono>

#include "fs/tuning.h"

namespace unwrite::fs {

namespace {

std::int64_t now_ns() {
    return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

constexpr std::int64_t in_ns(std::chrono::microseconds time) {
    return std::chrono::nanoseconds(time).count();
}

}  // namespace

/// True when the bell was left mute and still is: this one attends to it again.
bool Attendance::Turn::take_back() {
    const bool mute = attendance_.left_.load() != 0 && attendance_.left_.exchange(0) != 0;
    if (left_ && !mute) alone_ = 0;  // it took long
    left_ = false;
    return mute;
}

/// The next request is often there before a sleep would have begun. Whoever looks last sees to it
/// that the bell is heard again. Where others want the processor, to yield it costs one's turn:
/// who sleeps instead is preferred to them when he is woken.
int Attendance::Turn::look_on() {
    int got = -EAGAIN;
    const unsigned others = attendance_.looking_.fetch_add(1);
    std::int64_t now = now_ns();
    if (others < attendance_.most_ && now >= attendance_.crowded_until_) {
        if (others == 0) attendance_.doorbell_.mute();
        const std::int64_t end = now + in_ns(tuning::kSpin);
        while (got == -EAGAIN && !stop_ && now < end) {
            const std::int64_t before = now;
            ::sched_yield();
            now = now_ns();
            if (now - before > in_ns(tuning::kSlowYield)) {
                attendance_.crowded_until_ = now + in_ns(tuning::kCrowded);
                alone_ = 0;
            }
            got = look_();
        }
    }
    const bool last = attendance_.looking_.fetch_sub(1) == 1;
    if (got > 0 && last && ++alone_ > tuning::kAlone) {
        left_ = true;
        attendance_.leave();
    } else if (last) {
        attendance_.doorbell_.listen();
    }
    return got;
}

int Attendance::Turn::next() {
    const bool mute = take_back();
    const int got = look_();
    const bool was_waiting = mute && got != -EAGAIN;
    if (was_waiting) alone_ = 0;
    if (rung_ || was_waiting) attendance_.doorbell_.listen();
    rung_ = false;
    return got == -EAGAIN ? look_on() : got;
}

void Attendance::Turn::sleep() {
    alone_ = 0;
    for (;;) {
        const Doorbell::Rang rang = attendance_.doorbell_.wait();
        rung_ = rang == Doorbell::Rang::kDevice;
        if (rang != Doorbell::Rang::kClock) return;
        attendance_.look_after();
    }
}

/// The order of the first two and of the last two in look_after(): one of both sees the other.
void Attendance::leave() {
    left_ = now_ns();
    if (!clock_runs_) {
        const std::scoped_lock lock(clock_mutex_);
        doorbell_.set_clock(tuning::kLookAfter);
        clock_runs_ = true;
    }
    times_left_.fetch_add(1, std::memory_order_relaxed);
}

void Attendance::look_after() {
    std::int64_t since = left_;
    if (since != 0 && now_ns() - since >= in_ns(tuning::kLookAfter) / 2 &&
        left_.compare_exchange_strong(since, 0))
        doorbell_.listen();
    const std::scoped_lock lock(clock_mutex_);
    if (seen_ != times_left_) {
        seen_ = times_left_;
        return;
    }
    // Nobody left it since the clock went off last.
    doorbell_.set_clock(std::chrono::microseconds(0));
    clock_runs_ = false;
    if (left_ == 0) return;
    doorbell_.set_clock(tuning::kLookAfter);
    clock_runs_ = true;
}

}  // namespace unwrite::fs
