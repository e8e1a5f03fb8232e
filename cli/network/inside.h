// The inner side of `unwrite run --network model`: listeners on the loopback of the run's own
// network namespace, which the proxy outside serves.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace unwrite::cli {

/// Listens, and sends the sockets over `channel` (proxy.h); keeps none of them. `forwards`: the
/// endpoints on this machine, in their order. Returns the variables that bring the command's
/// clients to the proxy. For a process in a network namespace of its own.
Result<std::vector<std::pair<std::string, std::string>>> offer_network(
    int channel, const std::vector<std::string>& forwards);

}  // namespace unwrite::cli
