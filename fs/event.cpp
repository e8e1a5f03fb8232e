#include "fs/event.h"

#include <poll.h>
#include <sys/eventfd.h>

#include "base/syscalls.h"

namespace unwrite::fs {

Result<Event> Event::make() {
    UniqueFd fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!fd) return sys::last_error();
    return Event(std::move(fd));
}

void Event::set() {
    const eventfd_t one = 1;
    // The only failure is a full counter, and then it is set.
    [[maybe_unused]] const auto written = ::write(fd_.get(), &one, sizeof one);
}

void Event::clear() {
    eventfd_t count = 0;
    // The only failure is that it was not set.
    [[maybe_unused]] const auto got = ::read(fd_.get(), &count, sizeof count);
}

bool Event::is_set() const {
    struct pollfd poll = {fd_.get(), POLLIN, 0};
    return ::poll(&poll, 1, 0) == 1;
}

}  // namespace unwrite::fs
