// Asking: one request to a daemon, on a connection of its own.
#pragma once

#include <cstdint>
#include <string>

#include "control/mounts.h"
#include "control/protocol.h"

namespace unwrite::control {

/// The result of the answer to request `id`. Errors: kNoWorkspace when the daemon is gone; kUsage
/// for a request of more than 1 MiB; the daemon's own.
Result<Json> ask_daemon(const MountPoint& mount, std::uint64_t id, const std::string& command,
                        Json arguments);

}  // namespace unwrite::control
