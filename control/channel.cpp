#include "control/channel.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/syscalls.h"

namespace unwrite::control {

namespace {

using Clock = std::chrono::steady_clock;

Channel::Milliseconds left(Clock::time_point start, Channel::Milliseconds limit) {
    if (limit == Channel::kForever) return limit;
    const auto gone = std::chrono::duration_cast<Channel::Milliseconds>(Clock::now() - start);
    return std::max(limit - gone, Channel::Milliseconds(0));
}

}  // namespace

Result<> Channel::wait(short events, Milliseconds limit) {
    const auto start = Clock::now();
    for (;;) {
        struct pollfd poller = {socket_.get(), events, 0};
        const auto rest = left(start, limit).count();
        const int ready = ::poll(&poller, 1, static_cast<int>(std::min<long long>(rest, 1 << 30)));
        if (ready > 0) return {};
        if (ready == 0) return Error(ETIMEDOUT);
        if (Error error = sys::last_error(); error.number() != EINTR) return error;
    }
}

Result<std::string> Channel::read_line(std::size_t limit, Milliseconds idle, Milliseconds rest) {
    auto start = Clock::now();
    std::size_t looked = 0;
    for (;;) {
        const std::size_t end = buffer_.find('\n', looked);
        if (end != std::string::npos && end <= limit) {
            std::string line = buffer_.substr(0, end);
            buffer_.erase(0, end + 1);
            return line;
        }
        looked = buffer_.size();
        if (looked > limit) return Error(EMSGSIZE);
        TRY(wait(POLLIN, buffer_.empty() ? left(start, idle) : left(start, rest)));
        std::array<char, 65536> room;
        const ssize_t got = ::recv(socket_.get(), room.data(), room.size(), MSG_DONTWAIT);
        if (got < 0) {
            const Error error = sys::last_error();
            if (error.number() == EINTR || error.number() == EAGAIN) continue;
            return error;
        }
        if (got == 0 && buffer_.empty())
            return Error(ErrorKind::kNothing, ENODATA, "read line: closed");
        if (got == 0) return Error(EPIPE);
        if (buffer_.empty()) start = Clock::now();
        buffer_.append(room.data(), static_cast<std::size_t>(got));
    }
}

Result<> Channel::write_line(std::string_view line, Milliseconds limit) {
    const auto start = Clock::now();
    std::string text(line);
    text += '\n';
    std::string_view remaining = text;
    while (!remaining.empty()) {
        const ssize_t put =
            ::send(socket_.get(), remaining.data(), remaining.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
        if (put < 0) {
            const Error error = sys::last_error();
            if (error.number() == EINTR) continue;
            if (error.number() != EAGAIN) return error;
            TRY(wait(POLLOUT, left(start, limit)));
            continue;
        }
        remaining.remove_prefix(static_cast<std::size_t>(put));
    }
    return {};
}

}  // namespace unwrite::control
