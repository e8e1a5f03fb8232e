#include "fs/doorbell.h"

#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/log.h"
#include "base/syscalls.h"

namespace unwrite::fs {

namespace {

Result<> add(int queue, int fd, unsigned events, Doorbell::Rang rang) {
    struct epoll_event event = {};
    event.events = events;
    event.data.u32 = static_cast<std::uint32_t>(rang);
    if (::epoll_ctl(queue, EPOLL_CTL_ADD, fd, &event) != 0) return sys::last_error();
    return {};
}

}  // namespace

Result<Doorbell> Doorbell::make(int device, int end) {
    UniqueFd inner(::epoll_create1(EPOLL_CLOEXEC));
    if (!inner) return sys::last_error();
    UniqueFd outer(::epoll_create1(EPOLL_CLOEXEC));
    if (!outer) return sys::last_error();
    UniqueFd clock(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
    if (!clock) return sys::last_error();
    TRY(add(inner.get(), device, EPOLLIN, Rang::kDevice));
    TRY(add(outer.get(), inner.get(), EPOLLIN | EPOLLONESHOT, Rang::kDevice));
    // Each time that it goes off is an edge, and one is woken for it.
    TRY(add(outer.get(), clock.get(), EPOLLIN | EPOLLET, Rang::kClock));
    TRY(add(outer.get(), end, EPOLLIN, Rang::kNothing));
    return Doorbell(std::move(inner), std::move(outer), std::move(clock));
}

Doorbell::Rang Doorbell::wait() const {
    struct epoll_event event = {};
    if (::epoll_wait(outer_.get(), &event, 1, -1) != 1) return Rang::kNothing;
    const auto rang = static_cast<Rang>(event.data.u32);
    if (rang == Rang::kClock) {
        std::uint64_t times = 0;
        // It goes on when it was read; the only failure is that another one did that.
        [[maybe_unused]] const auto got = ::read(clock_.get(), &times, sizeof times);
    }
    return rang;
}

void Doorbell::set(unsigned events) const {
    struct epoll_event ring = {};
    ring.events = events;
    ring.data.u32 = static_cast<std::uint32_t>(Rang::kDevice);
    // Both descriptors are there as long as this is, and nothing is allocated.
    if (::epoll_ctl(outer_.get(), EPOLL_CTL_MOD, inner_.get(), &ring) != 0)
        log::error("mount: waiting for requests: " + sys::last_error().message());
}

void Doorbell::listen() const {
    *mute_ = false;
    set(EPOLLIN | EPOLLONESHOT);
}

void Doorbell::mute() const {
    if (!mute_->exchange(true)) set(0);
}

void Doorbell::set_clock(std::chrono::microseconds period) const {
    struct itimerspec times = {};
    times.it_interval.tv_nsec = std::chrono::nanoseconds(period).count();
    times.it_value = times.it_interval;
    if (::timerfd_settime(clock_.get(), 0, &times, nullptr) != 0)
        log::error("mount: a clock for requests: " + sys::last_error().message());
}

}  // namespace unwrite::fs
