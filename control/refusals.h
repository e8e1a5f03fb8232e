// What was refused in a workspace that a daemon serves: asked for over its socket, and as JSON.
#pragma once

#include "control/mounts.h"
#include "control/wire.h"
#include "overlay/refused.h"

namespace unwrite::control {

Json encode(const overlay::RefusedTo& refused);
Result<> decode(const Json& json, overlay::RefusedTo& refused);

/// As overlay::refused_in(); an agent is told of its own session, whatever it asks for.
Result<overlay::RefusedTo> ask_refused(const MountPoint& mount, std::int64_t since_ns,
                                       const std::string& session);

}  // namespace unwrite::control
