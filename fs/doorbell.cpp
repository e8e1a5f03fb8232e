#include "fs/doorbell.h"

#include <sys/epoll.h>

#include "base/log.h"
#include "base/syscalls.h"

namespace unwrite::fs {

namespace {

Result<> add(int queue, int fd, unsigned events) {
    struct epoll_event event = {};
    event.events = events;
    if (::epoll_ctl(queue, EPOLL_CTL_ADD, fd, &event) != 0) return sys::last_error();
    return {};
}

}  // namespace

Result<Doorbell> Doorbell::make(int device, int end) {
    UniqueFd inner(::epoll_create1(EPOLL_CLOEXEC));
    if (!inner) return sys::last_error();
    UniqueFd outer(::epoll_create1(EPOLL_CLOEXEC));
    if (!outer) return sys::last_error();
    TRY(add(inner.get(), device, EPOLLIN));
    TRY(add(outer.get(), inner.get(), EPOLLIN | EPOLLONESHOT));
    TRY(add(outer.get(), end, EPOLLIN));
    return Doorbell(std::move(inner), std::move(outer));
}

void Doorbell::wait() const {
    struct epoll_event event = {};
    ::epoll_wait(outer_.get(), &event, 1, -1);
}

void Doorbell::set(unsigned events) const {
    struct epoll_event ring = {};
    ring.events = events;
    // Both descriptors are there as long as this is, and nothing is allocated.
    if (::epoll_ctl(outer_.get(), EPOLL_CTL_MOD, inner_.get(), &ring) != 0)
        log::error("mount: waiting for requests: " + sys::last_error().message());
}

void Doorbell::listen() const {
    set(EPOLLIN | EPOLLONESHOT);
}

void Doorbell::mute() const {
    set(0);
}

}  // namespace unwrite::fs
