// Endpoints: the names that the command of `unwrite run --network model` may reach. Pure functions;
// what they read is hostile.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/known_agents.h"

namespace unwrite::cli {

struct Endpoint {
    std::string
        host;  ///< small letters without a dot at the end, or an address as the kernel has it
    std::uint16_t port = 0;
    /// The user named it: it may lead to this machine or into a private network.
    bool is_own = false;

    bool operator==(const Endpoint&) const = default;
};

constexpr std::uint16_t kHttps = 443;
constexpr std::uint16_t kHttp = 80;
/// More would make a list that nobody reads.
constexpr std::size_t kMostEndpoints = 100;

/// "host", "host:port", "[::1]:port". Nothing for what is not exactly that. `usual`: the port where
/// none is named; 0: one must be.
std::optional<Endpoint> parse_endpoint(std::string_view text, std::uint16_t usual);
/// The server of "http://host:port/path" or "https://...".
std::optional<Endpoint> endpoint_of_url(std::string_view url);

/// The same, for people and for parse_endpoint(): without the port where that is 443.
std::string words_of(const Endpoint& endpoint);

/// The entry for this host and port; nothing: it must not be reached. One that the user named comes
/// before one that he did not.
std::optional<Endpoint> allowed(const std::vector<Endpoint>& endpoints, const std::string& host,
                                std::uint16_t port);

/// "localhost" and loopback addresses: clients reach these past a proxy.
bool is_on_this_machine(const Endpoint& endpoint);

/// What this agent (null: none is known) may reach: what the table has, what its variables name
/// (`value_of` gives a variable, or ""), what the configuration adds, and `named`. kUsage for what
/// is no endpoint, and where there is none at all.
using VariableOf = std::string (*)(const std::string&);
Result<std::vector<Endpoint>> endpoints_of(const KnownAgent* agent,
                                           const std::vector<std::string>& named,
                                           VariableOf value_of);

}  // namespace unwrite::cli
