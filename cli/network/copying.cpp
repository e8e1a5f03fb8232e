#include "cli/network/copying.h"

#include <poll.h>

#include <array>
#include <cerrno>
#include <string_view>

#include "base/tcp.h"

namespace unwrite::cli {

namespace {

constexpr int kAnswerMs = 5000;
constexpr int kDrainMs = 1000;
constexpr int kMostDrained = 256;  ///< pieces of 4 KiB
constexpr std::size_t kPiece = 65536;

bool is_later(const Error& why) {
    return why.number() == EAGAIN || why.number() == EWOULDBLOCK;
}

/// One way.
class Direction {
 public:
    Direction(int from, int to, std::string first, std::atomic<std::uint64_t>& bytes)
        : from_(from), to_(to), pending_(std::move(first)), bytes_(bytes) {}

    bool has_ended() const { return has_ended_ && pending_.empty(); }
    bool wants_to_read() const { return !has_ended_ && pending_.empty(); }
    bool wants_to_write() const { return !pending_.empty(); }

    /// False: the connection is broken.
    bool read() {
        pending_.resize(kPiece);
        const Result<std::size_t> got = sys::receive(from_, pending_.data(), pending_.size());
        pending_.resize(got ? *got : 0);
        if (!got) return is_later(got.error());
        if (*got > 0) return write();
        has_ended_ = true;
        sys::end_writing(to_);
        return true;
    }
    bool write() {
        const Result<std::size_t> put = sys::send_some(to_, pending_.data(), pending_.size());
        if (!put) return is_later(put.error());
        bytes_ += *put;
        pending_.erase(0, *put);
        return true;
    }

 private:
    const int from_;
    const int to_;
    std::string pending_;
    std::atomic<std::uint64_t>& bytes_;
    bool has_ended_ = false;
};

short events_of(const Direction& reads, const Direction& writes) {
    return static_cast<short>((reads.wants_to_read() ? POLLIN : 0) |
                              (writes.wants_to_write() ? POLLOUT : 0));
}

}  // namespace

void copy_both_ways(int client, int server, std::string first, Bytes& bytes) {
    Direction up(client, server, std::move(first), bytes.sent);
    Direction down(server, client, {}, bytes.received);
    if (up.wants_to_write() && !up.write()) return;
    while (!up.has_ended() || !down.has_ended()) {
        std::array<struct pollfd, 2> watched = {
            {{client, events_of(up, down), 0}, {server, events_of(down, up), 0}}};
        // What nobody waits for must not wake us again and again, as an end does.
        for (struct pollfd& one : watched)
            if (one.events == 0) one.fd = -1;
        if (::poll(watched.data(), watched.size(), -1) < 0) continue;
        constexpr int kCanRead = POLLIN | POLLHUP | POLLERR;
        constexpr int kCanWrite = POLLOUT | POLLHUP | POLLERR;
        if (up.wants_to_write() && (watched[1].revents & kCanWrite) != 0 && !up.write()) return;
        if (down.wants_to_write() && (watched[0].revents & kCanWrite) != 0 && !down.write()) return;
        if (up.wants_to_read() && (watched[0].revents & kCanRead) != 0 && !up.read()) return;
        if (down.wants_to_read() && (watched[1].revents & kCanRead) != 0 && !down.read()) return;
    }
}

void send_answer(int socket, const std::string& text) {
    std::string_view rest = text;
    while (!rest.empty()) {
        const Result<std::size_t> put = sys::send_some(socket, rest.data(), rest.size());
        if (put) rest.remove_prefix(*put);
        struct pollfd watched = {socket, POLLOUT, 0};
        if (!put && (!is_later(put.error()) || ::poll(&watched, 1, kAnswerMs) <= 0)) return;
    }
}

void finish_with(int socket, const std::string& text) {
    send_answer(socket, text);
    sys::end_writing(socket);
    // To close with something unread would take the answer back.
    std::array<char, 4096> room;
    for (int pieces = 0; pieces < kMostDrained; ++pieces) {
        struct pollfd watched = {socket, POLLIN, 0};
        if (::poll(&watched, 1, kDrainMs) <= 0) return;
        const Result<std::size_t> got = sys::receive(socket, room.data(), room.size());
        if (!got || *got == 0) return;
    }
}

}  // namespace unwrite::cli
