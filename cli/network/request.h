// What a client asks of the proxy of a run: the head of an HTTP request. A pure function; what it
// reads is hostile.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cli/network/endpoint.h"

namespace unwrite::cli {

/// A longer head is refused.
constexpr std::size_t kLongestHead = 65536;

struct ProxyRequest {
    Endpoint to;
    bool is_tunnel = false;  ///< CONNECT: what follows is copied as it is
    /// Otherwise: the head for the server itself. It names that server and no other, and ends the
    /// connection after one answer.
    std::string head{};
};

/// How many bytes of `text` are the head of a request, with its empty line; 0: it is not whole yet.
std::size_t length_of_head(std::string_view text);

/// Reads a head: CONNECT host:port, or a request for http://host/... Nothing where it is anything
/// else.
std::optional<ProxyRequest> parse_request(std::string_view head);

}  // namespace unwrite::cli
