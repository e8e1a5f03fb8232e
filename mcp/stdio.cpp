#include "mcp/stdio.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <mutex>
#include <optional>
#include <utility>

#include "base/syscalls.h"

namespace unwrite::mcp {

namespace {

/// Requests that wait; more of them stay in the pipe.
constexpr std::size_t kMostWaiting = 256;
/// How often what could not be done yet is tried again while nothing arrives.
constexpr int kSettleMs = 250;

class Lines {
 public:
    Lines(int fd, Server& server) : fd_(fd), server_(server) {}

    bool is_ended() const { return ended_; }
    bool is_ready(int wait_ms = 0) const {
        pollfd entry{fd_, POLLIN, 0};
        return ::poll(&entry, 1, wait_ms) > 0;
    }

    /// Waits for some bytes and hands over the lines that they complete.
    Result<> read() {
        char bytes[65536];
        const ssize_t got = ::read(fd_, bytes, sizeof bytes);
        if (got < 0) {
            const Error error = sys::last_error();
            return error.number() == EINTR ? Result<>{} : Result<>{error};
        }
        if (got == 0) {
            ended_ = true;
            if (!line_.empty() || too_long_) hand_over();
            return {};
        }
        for (const char c : std::string_view(bytes, static_cast<std::size_t>(got))) {
            if (c == '\n') {
                hand_over();
            } else {
                take(c);
            }
        }
        return {};
    }

 private:
    void take(char c) {
        if (!too_long_ && line_.size() < kMaxLine) {
            line_ += c;
            return;
        }
        if (!too_long_) {
            too_long_.emplace();
            for (const char earlier : std::exchange(line_, {}))
                too_long_->pass(earlier);
        }
        too_long_->pass(c);
    }

    void hand_over() {
        if (too_long_) {
            server_.take_too_large(too_long_->id());
        } else {
            server_.take(line_);
        }
        line_.clear();
        too_long_.reset();
    }

    const int fd_;
    Server& server_;
    std::string line_;
    std::optional<IdSearch> too_long_;  // then line_ is empty
    bool ended_ = false;
};

Result<> write_line(int out, const std::string& line) {
    const std::string text = line + "\n";
    std::string_view rest = text;
    while (!rest.empty()) {
        const ssize_t put = ::write(out, rest.data(), rest.size());
        if (put >= 0) {
            rest.remove_prefix(static_cast<std::size_t>(put));
        } else if (const Error error = sys::last_error(); error.number() != EINTR) {
            return error;
        }
    }
    return {};
}

}  // namespace

Result<> serve(int in, int out, ServerOptions options) {
    Result<> written;
    std::mutex writing;
    Server server(std::move(options), [&](const std::string& line) {
        const std::lock_guard lock(writing);
        if (written) written = write_line(out, line);
    });
    Lines lines(in, server);
    server.listen_with([&] {
        while (!lines.is_ended() && server.waiting() < kMostWaiting && lines.is_ready())
            if (!lines.read()) return false;
        return !lines.is_ended();
    });
    while (written) {
        if (server.waiting() == 0 && lines.is_ended()) break;
        if (server.waiting() == 0 && !lines.is_ready()) {
            while (server.settle() && !lines.is_ready(kSettleMs)) {
            }
        }
        if (server.waiting() == 0) TRY(lines.read());
        while (!lines.is_ended() && server.waiting() < kMostWaiting && lines.is_ready())
            TRY(lines.read());
        server.step();
    }
    server.settle();
    if (!written && written.error().number() == EPIPE) return {};
    return written;
}

}  // namespace unwrite::mcp
