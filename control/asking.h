// Asking: one request to a daemon, on a connection of its own.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

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

/// The result of the answer to request `id`. Errors: kNoWorkspace when the daemon is gone; kUsage
/// for a request of more than 1 MiB; the daemon's own.
/// `patience`: see there; null: nothing is done meanwhile.
Result<Json> ask_daemon(const MountPoint& mount, std::uint64_t id, const std::string& command,
                        Json arguments, const Patience& patience = {});

/// What the daemon is busy with for whoever; nothing where it is not, or does not say so at once.
std::optional<Busy> ask_progress(const MountPoint& mount);

}  // namespace unwrite::control
