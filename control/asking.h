// Asking: requests to a daemon.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "control/channel.h"
#include "control/mounts.h"
#include "control/protocol.h"

namespace unwrite::control {

/// What is done while an answer does not come: called some times in a second with how long it has
/// been waited for, and without when it is there, or will never be.
using Patience = std::function<void(std::optional<std::chrono::milliseconds> waited)>;

/// "restoring", and how many of how many steps are done.
struct Busy {
    std::string what{};
    std::uint64_t done = 0;
    std::uint64_t total = 0;
};

/// Requests to the daemon of one mount, each on a connection of its own unless keep() says
/// otherwise; so one may be held for long. Used by one thread at a time.
class Conversation {
 public:
    explicit Conversation(MountPoint mount) : mount_(std::move(mount)) {}

    /// Whether the connection of the next request serves the one after it as well, when that comes
    /// soon. It is held meanwhile, and a daemon has few: for who asks several things in a row.
    void keep(bool yes) { keep_ = yes; }

    /// The result of the answer. Errors: kNoWorkspace when the daemon is gone; kUsage for a request
    /// of more than 1 MiB; the daemon's own.
    /// `patience`: see there; null: nothing is done meanwhile.
    Result<Json> ask(const std::string& command, Json arguments, const Patience& patience = {});

 private:
    Result<> connect();
    Result<std::string> exchange(const std::string& request, const Patience& patience);

    MountPoint mount_;
    bool keep_ = false;
    std::uint64_t next_id_ = 1;
    std::optional<Channel> channel_;
    std::chrono::steady_clock::time_point last_{};  ///< when it had its last answer
};

/// What the daemon is busy with for whoever; nothing where it is not, or does not say so at once.
std::optional<Busy> ask_progress(const MountPoint& mount);

}  // namespace unwrite::control
