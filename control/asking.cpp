#include "control/asking.h"

#include <cerrno>
#include <utility>

#include "control/channel.h"
#include "control/rendezvous.h"

namespace unwrite::control {

namespace {

constexpr std::chrono::milliseconds kTransfer{10'000};

/// An answer that does not come is the daemon's end, whichever call noticed it.
Error gone(const Error& error) {
    return Error(ErrorKind::kNoWorkspace, error.number(),
                 "ask the daemon: it went away (" + error.message() + ")",
                 "see daemon.log in the state directory; `unwrite mount` starts it again");
}

}  // namespace

Result<Json> ask_daemon(const MountPoint& mount, std::uint64_t id, const std::string& command,
                        Json arguments) {
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
    const Result<std::string> line =
        channel.read_line(kMaxAnswer, Channel::kForever, Channel::kForever);
    if (!line) return gone(sent ? line.error() : sent.error());
    return parse_answer(*line, id);
}

}  // namespace unwrite::control
