#include "base/write_hold.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/fanotify.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/log.h"
#include "base/syscalls.h"

namespace unwrite::sys {

#ifdef FAN_CLASS_PRE_CONTENT

namespace {

// Of newer kernels than the headers may be.
constexpr std::uint64_t kPreAccess = 0x0010'0000;  // FAN_PRE_ACCESS
constexpr unsigned kIgnore = 0x0000'0400;          // FAN_MARK_IGNORE
constexpr std::size_t kBuffer = 64U << 10;

Result<> mark(int group, unsigned flags, int fd) {
    if (::fanotify_mark(group, flags, kPreAccess, AT_FDCWD, fd_path(fd).c_str()) == 0) return {};
    return last_error();
}

constexpr unsigned kIgnoring = kIgnore | FAN_MARK_IGNORED_SURV_MODIFY;

}  // namespace

Result<std::unique_ptr<WriteHold>> WriteHold::start(int directory) {
    std::unique_ptr<WriteHold> hold(new WriteHold);
    hold->group_.reset(::fanotify_init(FAN_CLASS_PRE_CONTENT | FAN_CLOEXEC | FAN_NONBLOCK |
                                           FAN_UNLIMITED_QUEUE | FAN_UNLIMITED_MARKS,
                                       O_RDONLY | O_LARGEFILE | O_CLOEXEC));
    if (!hold->group_) return last_error();
    // Of this mark only the answer is wanted.
    TRY(mark(hold->group_.get(), FAN_MARK_ADD, directory));
    ignore(mark(hold->group_.get(), FAN_MARK_REMOVE, directory), "it is there");
    hold->stop_.reset(::eventfd(0, EFD_CLOEXEC));
    if (!hold->stop_) return last_error();
    return Result<std::unique_ptr<WriteHold>>(std::move(hold));
}

// To close the group would do, if it were certain that no other process has a copy of it.
WriteHold::~WriteHold() {
    if (!thread_.joinable()) return;
    {
        const std::lock_guard lock(mutex_);
        holding_ = false;
    }
    ::fanotify_mark(group_.get(), FAN_MARK_FLUSH, 0, AT_FDCWD, nullptr);
    ::eventfd_write(stop_.get(), 1);
    thread_.join();
    answer_all();
}

// The ignored one goes first: without it, whoever opened the file would have to wait for an answer
// to each access.
Result<> WriteHold::watch(int fd) {
    std::call_once(started_, [this] { thread_ = std::thread([this] { live(); }); });
    TRY(mark(group_.get(), FAN_MARK_ADD | kIgnoring, fd));
    return mark(group_.get(), FAN_MARK_ADD, fd);
}

void WriteHold::unwatch(int fd) {
    ignore(mark(group_.get(), FAN_MARK_REMOVE, fd), "it goes with the file");
    ignore(mark(group_.get(), FAN_MARK_REMOVE | kIgnoring, fd), "it goes with the file");
}

void WriteHold::hold(const std::vector<int>& fds) {
    {
        const std::lock_guard lock(mutex_);
        holding_ = true;
    }
    for (const int fd : fds) {
        const auto held = mark(group_.get(), FAN_MARK_REMOVE | kIgnoring, fd);
        if (!held) log::warning("hold who writes: " + held.error().message());
    }
}

void WriteHold::release(const std::vector<int>& fds) {
    for (const int fd : fds)
        ignore(mark(group_.get(), FAN_MARK_ADD | kIgnoring, fd), "each access is answered, then");
    answer_all();
}

void WriteHold::answer_all() {
    const std::lock_guard lock(mutex_);
    holding_ = false;
    for (const UniqueFd& wait : waits_)
        answer(wait.get());
    waits_.clear();
}

void WriteHold::answer(int event_fd) {
    const struct fanotify_response response = {event_fd, FAN_ALLOW};
    if (::write(group_.get(), &response, sizeof response) < 0) return;  // who asked is gone, then
}

void WriteHold::live() {
    for (bool over = false; !over;) {
        std::array<struct pollfd, 2> sources{{{group_.get(), POLLIN, 0}, {stop_.get(), POLLIN, 0}}};
        if (::poll(sources.data(), sources.size(), -1) < 0 && errno != EINTR) return;
        over = sources[1].revents != 0;
        while (take_events()) {
        }
    }
}

/// False when there was none.
bool WriteHold::take_events() {
    alignas(struct fanotify_event_metadata) std::array<std::byte, kBuffer> buffer;
    const ssize_t size = ::read(group_.get(), buffer.data(), buffer.size());
    std::size_t left = size > 0 ? static_cast<std::size_t>(size) : 0;
    const std::byte* at = buffer.data();
    while (left >= sizeof(struct fanotify_event_metadata)) {
        struct fanotify_event_metadata event = {};
        std::memcpy(&event, at, sizeof event);
        if (event.event_len < sizeof event || event.event_len > left) break;
        at += event.event_len;
        left -= event.event_len;
        if (event.fd < 0) continue;
        UniqueFd fd(event.fd);
        const std::lock_guard lock(mutex_);
        if (holding_ && event.pid != ::getpid()) {
            waits_.push_back(std::move(fd));
        } else {
            answer(fd.get());
        }
    }
    return size > 0;
}

#else

Result<std::unique_ptr<WriteHold>> WriteHold::start(int) {
    return Error(ENOTSUP);
}
WriteHold::~WriteHold() = default;
Result<> WriteHold::watch(int) {
    return Error(ENOTSUP);
}
void WriteHold::unwatch(int) {}
void WriteHold::hold(const std::vector<int>&) {}
void WriteHold::release(const std::vector<int>&) {}

#endif

}  // namespace unwrite::sys
