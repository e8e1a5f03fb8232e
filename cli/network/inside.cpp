#include "cli/network/inside.h"

#include <cerrno>

#include "base/pseudo_terminal.h"
#include "base/tcp.h"
#include "cli/network/endpoint.h"
#include "cli/network/proxy.h"

namespace unwrite::cli {

namespace {

Result<> offer(int channel, char kind, const std::string& address, std::uint16_t port) {
    TRY_ASSIGN(const UniqueFd listener, sys::listen_on(address, port));
    return sys::send_descriptor(channel, kind, listener.get());
}

}  // namespace

Result<std::vector<std::pair<std::string, std::string>>> offer_network(
    int channel, const std::vector<std::string>& forwards) {
    // These first: their ports are given, the proxy takes any.
    for (std::size_t i = 0; i < forwards.size(); ++i) {
        const std::optional<Endpoint> to = parse_endpoint(forwards[i], kHttps);
        if (!to) return Error(ErrorKind::kUsage, EINVAL, "bad endpoint");
        const bool is_name = to->host == "localhost";
        const auto number = static_cast<char>(i);
        const Result<> offered = offer(channel, number, is_name ? "127.0.0.1" : to->host, to->port);
        // "localhost" and 127.0.0.1 with one port are one listener.
        if (!offered && offered.error().number() != EADDRINUSE) return offered.error();
        if (is_name)
            ignore(offer(channel, number, "::1", to->port), "a machine may be without IPv6");
    }
    TRY_ASSIGN(const UniqueFd listener, sys::listen_on("127.0.0.1", 0));
    TRY_ASSIGN(const std::uint16_t port, sys::port_of(listener.get()));
    TRY(sys::send_descriptor(channel, kProxyListener, listener.get()));
    const std::string url = "http://127.0.0.1:" + std::to_string(port);
    std::vector<std::pair<std::string, std::string>> variables;
    for (const char* name :
         {"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"})
        variables.emplace_back(name, url);
    for (const char* name : {"NO_PROXY", "no_proxy"})
        variables.emplace_back(name, "localhost,127.0.0.1,::1");
    // Node 24 and 22.21 use a proxy only if they are told to.
    variables.emplace_back("NODE_USE_ENV_PROXY", "1");
    return variables;
}

}  // namespace unwrite::cli
