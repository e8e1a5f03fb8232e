#include "control/asking.h"

#include <poll.h>

#include <cerrno>
#include <utility>

#include "base/syscalls.h"
#include "control/fields.h"
#include "control/rendezvous.h"

namespace unwrite::control {

namespace {

constexpr std::chrono::milliseconds kTransfer{10'000};
constexpr std::chrono::milliseconds kLook{200};
/// Far less than a daemon waits for the next request of a connection.
constexpr std::chrono::seconds kKept{2};

/// An answer that does not come is the daemon's end, whichever call noticed it.
Error gone(const Error& error) {
    return Error(
        ErrorKind::kNoWorkspace, error.number(),
        "the daemon of this mount has ended (" + error.message() + ")",
        "`unwrite mount` starts it again; daemon.log in the state directory says why it ended");
}

void wait_patiently(const Channel& channel, const Patience& patience) {
    const auto start = std::chrono::steady_clock::now();
    struct pollfd poller = {channel.fd(), POLLIN, 0};
    for (;;) {
        const int ready = ::poll(&poller, 1, static_cast<int>(kLook.count()));
        if (ready > 0 || (ready < 0 && sys::last_error().number() != EINTR)) break;
        patience(std::chrono::duration_cast<std::chrono::milliseconds>(
            std::chrono::steady_clock::now() - start));
    }
    patience(std::nullopt);
}

}  // namespace

std::optional<Busy> ask_progress(const MountPoint& mount) {
    auto socket = connect_to(mount.id, mount.owner);
    if (!socket) return std::nullopt;
    Channel channel(*std::move(socket));
    if (!channel.write_line(format_request(Request{1, "progress", Json::object()}), kLook))
        return std::nullopt;
    const auto line = channel.read_line(kMaxRequest, kLook, kLook);
    if (!line) return std::nullopt;
    const Result<Json> answer = parse_answer(*line, 1);
    Busy busy;
    if (!answer || !Fields(*answer)
                        .get("what", busy.what)
                        .get("done", busy.done)
                        .get("total", busy.total)
                        .done())
        return std::nullopt;
    return busy.what.empty() ? std::nullopt : std::optional(std::move(busy));
}

// One that the daemon is about to close, or has closed, is not used again.
Result<> Conversation::connect() {
    const bool recent = channel_ && std::chrono::steady_clock::now() - last_ < kKept;
    struct pollfd poller = {recent ? channel_->fd() : -1, POLLIN, 0};
    if (recent && ::poll(&poller, 1, 0) == 0) return {};
    channel_.reset();
    TRY_ASSIGN(UniqueFd socket, connect_to(mount_.id, mount_.owner));
    channel_.emplace(std::move(socket));
    return {};
}

Result<std::string> Conversation::exchange(const std::string& request, const Patience& patience) {
    TRY(connect());
    // A daemon that sends this client away may do so before it has read the request.
    const Result<> sent = channel_->write_line(request, kTransfer);
    // The operation takes as long as it takes; a daemon that dies closes the connection.
    if (patience && sent) wait_patiently(*channel_, patience);
    Result<std::string> line =
        channel_->read_line(kMaxAnswer, Channel::kForever, Channel::kForever);
    if (!keep_ || !sent || !line) channel_.reset();
    if (!line) return gone(sent ? line.error() : sent.error());
    last_ = std::chrono::steady_clock::now();
    return line;
}

Result<Json> Conversation::ask(const std::string& command, Json arguments,
                               const Patience& patience) {
    const std::uint64_t id = next_id_++;
    const std::string request = format_request(Request{id, command, std::move(arguments)});
    if (request.size() > kMaxRequest) {
        return Error(ErrorKind::kUsage, E2BIG, command + ": the request has more than 1 MiB",
                     "name fewer paths");
    }
    TRY_ASSIGN(const std::string line, exchange(request, patience));
    Result<Json> answer = parse_answer(line, id);
    if (!answer) channel_.reset();  // it may be that the two do not understand each other
    return answer;
}

}  // namespace unwrite::control
