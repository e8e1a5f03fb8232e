#include "cli/network/request.h"

#include <algorithm>
#include <array>

namespace unwrite::cli {

namespace {

constexpr std::string_view kLineEnd = "\r\n";
constexpr std::string_view kHeadEnd = "\r\n\r\n";
constexpr std::string_view kScheme = "http://";

/// They are between the client and the proxy, or are written anew.
constexpr std::array<std::string_view, 8> kDropped = {"host",
                                                      "connection",
                                                      "proxy-connection",
                                                      "proxy-authorization",
                                                      "proxy-authenticate",
                                                      "keep-alive",
                                                      "upgrade",
                                                      "te"};

std::string in_small_letters(std::string_view text) {
    std::string small(text);
    for (char& c : small)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return small;
}

/// A method or the name of a header (RFC 9110, "token").
bool is_token(std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
    });
}

bool is_clean(std::string_view line) {
    return std::none_of(line.begin(), line.end(),
                        [](char c) { return c == '\0' || c == '\r' || c == '\n'; });
}

struct RequestLine {
    std::string_view method;
    std::string_view target;
    std::string_view version;
};

std::optional<RequestLine> parse_line(std::string_view line) {
    const std::size_t first = line.find(' ');
    const std::size_t last = line.rfind(' ');
    if (first == std::string_view::npos || first == last) return std::nullopt;
    const RequestLine parts{line.substr(0, first), line.substr(first + 1, last - first - 1),
                            line.substr(last + 1)};
    const bool is_printable = std::all_of(parts.target.begin(), parts.target.end(), [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return byte > 0x20 && byte != 0x7f;
    });
    const bool is_known = parts.version == "HTTP/1.1" || parts.version == "HTTP/1.0";
    if (!is_token(parts.method) || !is_printable || parts.target.empty() || !is_known)
        return std::nullopt;
    return parts;
}

/// The headers that the server gets; nothing where one of them is no header.
std::optional<std::string> headers_for_server(std::string_view headers) {
    std::string kept;
    while (!headers.empty()) {
        const std::size_t end = std::min(headers.find(kLineEnd), headers.size());
        const std::string_view line = headers.substr(0, end);
        headers.remove_prefix(std::min(end + kLineEnd.size(), headers.size()));
        const std::size_t colon = line.find(':');
        // A line that begins with a space would go on with the one before.
        if (!is_clean(line) || colon == std::string_view::npos || !is_token(line.substr(0, colon)))
            return std::nullopt;
        const std::string name = in_small_letters(line.substr(0, colon));
        if (std::find(kDropped.begin(), kDropped.end(), name) != kDropped.end()) continue;
        kept += line;
        kept += kLineEnd;
    }
    return kept;
}

}  // namespace

std::size_t length_of_head(std::string_view text) {
    const std::size_t at = text.find(kHeadEnd);
    return at == std::string_view::npos ? 0 : at + kHeadEnd.size();
}

std::optional<ProxyRequest> parse_request(std::string_view head) {
    if (head.size() > kLongestHead || head.empty() || length_of_head(head) != head.size())
        return std::nullopt;
    head.remove_suffix(kLineEnd.size());
    const std::size_t end = head.find(kLineEnd);
    const std::string_view first = head.substr(0, end);
    const std::optional<RequestLine> line = is_clean(first) ? parse_line(first) : std::nullopt;
    const std::optional<std::string> headers =
        headers_for_server(head.substr(end + kLineEnd.size()));
    if (!line || !headers) return std::nullopt;
    ProxyRequest request;
    if (line->method == "CONNECT") {
        const std::optional<Endpoint> to = parse_endpoint(line->target, 0);
        if (!to) return std::nullopt;
        request.to = *to;
        request.is_tunnel = true;
        return request;
    }
    if (in_small_letters(line->target.substr(0, kScheme.size())) != kScheme) return std::nullopt;
    const std::string_view rest = line->target.substr(kScheme.size());
    const std::size_t path = std::min(rest.find_first_of("/?#"), rest.size());
    const std::optional<Endpoint> to = parse_endpoint(rest.substr(0, path), kHttp);
    if (!to) return std::nullopt;
    request.to = *to;
    std::string wanted(rest.substr(path, rest.find('#') - path));
    if (!wanted.starts_with('/')) wanted.insert(0, "/");
    std::string authority =
        to->host.find(':') == std::string::npos ? to->host : "[" + to->host + "]";
    if (to->port != kHttp) authority += ":" + std::to_string(to->port);
    request.head = std::string(line->method) + " " + wanted + " " + std::string(line->version) +
                   "\r\nHost: " + authority + "\r\n" + *headers + "Connection: close\r\n\r\n";
    return request;
}

}  // namespace unwrite::cli
