// Channel: lines over a connected socket, with limits of size and time. Used by one thread at a
// time.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"

namespace unwrite::control {

class Channel {
 public:
    using Milliseconds = std::chrono::milliseconds;
    static constexpr Milliseconds kForever{-1};

    explicit Channel(UniqueFd socket) : socket_(std::move(socket)) {}

    /// The next line, without its newline. Waits at most `idle` for the first byte and `rest` from
    /// there to the newline. Errors: kNothing when the peer closed between two lines, EMSGSIZE,
    /// ETIMEDOUT, EPIPE.
    Result<std::string> read_line(std::size_t limit, Milliseconds idle, Milliseconds rest);
    /// The line and a newline, within `limit` of time.
    Result<> write_line(std::string_view line, Milliseconds limit);

    int fd() const { return socket_.get(); }

 private:
    Result<> wait(short events, Milliseconds limit);

    UniqueFd socket_;
    std::string buffer_;  ///< what was received after the last line
};

}  // namespace unwrite::control
