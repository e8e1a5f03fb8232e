// The proxy of `unwrite run --network model`: a process outside the sandbox that takes connections
// from listeners inside it, and connects them to endpoints on a list and to nothing else. It
// resolves names itself and writes down every connection. It does not look into what it copies.
#pragma once

#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "cli/network/endpoint.h"

namespace unwrite::cli {

struct ProxyOptions {
    std::vector<Endpoint> endpoints;
    std::string log;  ///< the file to be made with the first connection; "": none
};

/// What comes over the channel with a listening socket: this for the proxy's own, and for one
/// whose connections all go to one endpoint, the number of that in is_on_this_machine() order.
constexpr char kProxyListener = '\xff';

/// Those endpoints whose ports are listened on inside, because clients reach them past a proxy.
std::vector<Endpoint> forwarded(const std::vector<Endpoint>& endpoints);

/// Serves what comes over `channel` until nobody holds the other end of `lifeline`, or it is shut
/// down; then writes a Traffic to that and ends. In a process of its own with one thread, which
/// keeps no other descriptor.
[[noreturn]] void be_proxy(ProxyOptions options, UniqueFd channel, UniqueFd lifeline);

}  // namespace unwrite::cli
