#include "cli/network/endpoint.h"

#include <algorithm>
#include <cerrno>

#include "base/tcp.h"
#include "cli/text.h"

namespace unwrite::cli {

namespace {

constexpr std::size_t kLongestName = 253;
constexpr std::size_t kLongestLabel = 63;

std::string in_small_letters(std::string_view text) {
    std::string small(text);
    for (char& c : small)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return small;
}

bool is_name(std::string_view name) {
    if (name.empty() || name.size() > kLongestName) return false;
    std::size_t label = 0;
    for (const char c : name) {
        if (c == '.') {
            if (label == 0) return false;
            label = 0;
            continue;
        }
        const bool is_good =
            (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
        if (!is_good || ++label > kLongestLabel) return false;
    }
    return label > 0;
}

/// "" where it is neither a name nor an address.
std::string host_of(std::string_view text) {
    std::string host = in_small_letters(text);
    if (host.ends_with('.')) host.pop_back();
    if (!is_name(host)) return {};
    return host;
}

std::optional<std::uint16_t> parse_port(std::string_view digits) {
    if (digits.empty() || digits.size() > 5) return std::nullopt;
    std::uint32_t port = 0;
    for (const char c : digits) {
        if (c < '0' || c > '9') return std::nullopt;
        port = port * 10 + static_cast<std::uint32_t>(c - '0');
    }
    if (port == 0 || port > 65535) return std::nullopt;
    return static_cast<std::uint16_t>(port);
}

Error not_an_endpoint(const std::string& what, const std::string& text) {
    return Error(ErrorKind::kUsage, EINVAL, "run: " + what + " cannot be " + quote_name(text),
                 "an endpoint is a name such as \"api.example.com\" or \"api.example.com:8443\"");
}

}  // namespace

std::optional<Endpoint> parse_endpoint(std::string_view text, std::uint16_t usual) {
    Endpoint endpoint;
    std::string_view rest;
    if (text.starts_with('[')) {
        const std::size_t end = text.find(']');
        if (end == std::string_view::npos) return std::nullopt;
        const std::string inner(text.substr(1, end - 1));
        if (inner.find(':') == std::string::npos) return std::nullopt;
        endpoint.host = sys::canonical_address(inner);
        rest = text.substr(end + 1);
    } else {
        const std::size_t colon = text.find(':');
        endpoint.host = host_of(text.substr(0, colon));
        rest = colon == std::string_view::npos ? std::string_view() : text.substr(colon);
    }
    if (endpoint.host.empty()) return std::nullopt;
    endpoint.port = usual;
    if (!rest.empty()) {
        const std::optional<std::uint16_t> port =
            rest.front() == ':' ? parse_port(rest.substr(1)) : std::nullopt;
        if (!port) return std::nullopt;
        endpoint.port = *port;
    }
    if (endpoint.port == 0) return std::nullopt;
    return endpoint;
}

std::optional<Endpoint> endpoint_of_url(std::string_view url) {
    const std::size_t colon = url.find("://");
    if (colon == std::string_view::npos) return std::nullopt;
    const std::string scheme = in_small_letters(url.substr(0, colon));
    if (scheme != "http" && scheme != "https") return std::nullopt;
    const std::string_view rest = url.substr(colon + 3);
    return parse_endpoint(rest.substr(0, rest.find_first_of("/?#")),
                          scheme == "http" ? kHttp : kHttps);
}

std::string words_of(const Endpoint& endpoint) {
    const bool is_six = endpoint.host.find(':') != std::string::npos;
    std::string words = is_six ? "[" + endpoint.host + "]" : endpoint.host;
    if (endpoint.port != kHttps) words += ":" + std::to_string(endpoint.port);
    return words;
}

std::optional<Endpoint> allowed(const std::vector<Endpoint>& endpoints, const std::string& host,
                                std::uint16_t port) {
    std::optional<Endpoint> found;
    for (const Endpoint& one : endpoints) {
        if (one.host != host || one.port != port) continue;
        if (!found || one.is_own) found = one;
    }
    return found;
}

bool is_on_this_machine(const Endpoint& endpoint) {
    return endpoint.host == "localhost" || sys::is_loopback(endpoint.host);
}

Result<std::vector<Endpoint>> endpoints_of(const KnownAgent* agent,
                                           const std::vector<std::string>& named,
                                           VariableOf value_of) {
    std::vector<Endpoint> endpoints;
    const auto add = [&](std::optional<Endpoint> one, bool is_own) {
        if (!one) return false;
        one->is_own = is_own;
        if (std::find(endpoints.begin(), endpoints.end(), *one) == endpoints.end())
            endpoints.push_back(*std::move(one));
        return true;
    };
    if (agent != nullptr) {
        for (const std::string& text : agent->endpoints)
            add(parse_endpoint(text, kHttps), false);
        for (const std::string& variable : agent->endpoint_variables) {
            const std::string value = value_of(variable);
            if (!value.empty() && !add(endpoint_of_url(value), true)) {
                return Error(ErrorKind::kUsage, EINVAL,
                             "run: " + variable +
                                 " is not an address on the web, so --network "
                                 "model cannot allow it: " +
                                 quote_name(value),
                             "it begins with http:// or https://; or unset it");
            }
        }
        for (const std::string& text : agent->own_endpoints)
            if (!add(parse_endpoint(text, kHttps), true))
                return not_an_endpoint("an endpoint of [agents." + agent->name + "]", text);
    }
    for (const std::string& text : named)
        if (!add(parse_endpoint(text, kHttps), true)) return not_an_endpoint("--endpoint", text);
    if (endpoints.size() > kMostEndpoints) {
        return Error(
            ErrorKind::kUsage, E2BIG,
            "run: --network model takes at most " + std::to_string(kMostEndpoints) + " endpoints",
            "`unwrite run --network host` runs it with the network");
    }
    if (!endpoints.empty()) return endpoints;
    return Error(ErrorKind::kUsage, EINVAL,
                 agent == nullptr
                     ? "run: --network model is for agents that unwrite knows, and this is none"
                     : "run: no endpoints of " + agent->name + " are known for --network model",
                 agent == nullptr
                     ? "`unwrite run --network model --endpoint api.example.com -- COMMAND` names "
                       "what it may reach; --agent NAME says which agent it is"
                     : "name them in the configuration: endpoints = [\"api.example.com\"] under "
                       "[agents." +
                           agent->name + "]; or with --endpoint");
}

}  // namespace unwrite::cli
