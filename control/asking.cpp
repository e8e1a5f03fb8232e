#include "control/asking.h"

#include <poll.h>

#include <cerrno>
#include <utility>

#include "base/syscalls.h"
#include "control/channel.h"
#include "control/fields.h"
#include "control/rendezvous.h"

namespace unwrite::control {

namespace {

constexpr std::chrono::milliseconds kTransfer{10'000};
constexpr std::chrono::milliseconds kLook{200};

/// An answer that does not come is the daemon's end, whichever call noticed it.
Error gone(const Error& error) {
    return Error(ErrorKind::kNoWorkspace, error.number(),
                 "ask the daemon: it went away (" + error.message() + ")",
                 "see daemon.log in the state directory; `unwrite mount` starts it again");
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

Result<Json> ask_daemon(const MountPoint& mount, std::uint64_t id, const std::string& command,
                        Json arguments, const Patience& patience) {
    TRY_ASSIGN(UniqueFd socket, connect_to(mount.id, mount.owner));
    Channel channel(std::move(socket));
    const std::string request = format_request(Request{id, command, std::move(arguments)});
    if (request.size() > kMaxRequest) {
        return Error(ErrorKind::kUsage, E2BIG, command + ": the request has more than 1 MiB",
                     "name fewer paths");
    }
    // A daemon that sends this client away may do so before it has read the request.
    const Result<> sent = channel.write_line(request, kTransfer);
    // The operation takes as long as it takes; a daemon that dies closes the connection.
    if (patience && sent) wait_patiently(channel, patience);
    const Result<std::string> line =
        channel.read_line(kMaxAnswer, Channel::kForever, Channel::kForever);
    if (!line) return gone(sent ? line.error() : sent.error());
    return parse_answer(*line, id);
}

}  // namespace unwrite::control
