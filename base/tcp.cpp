#include "base/tcp.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>

#include "base/retry.h"
#include "base/syscalls.h"

namespace unwrite::sys {

namespace {

struct Block {
    std::uint32_t network;  ///< in host order
    int bits;
};
/// IANA's registry of special-purpose addresses: none of them is a server on the internet.
constexpr std::array<Block, 16> kSpecial = {{
    {0x00000000, 8},   // this network
    {0x0a000000, 8},   // private
    {0x64400000, 10},  // shared by a provider's customers
    {0x7f000000, 8},   // loopback
    {0xa9fe0000, 16},  // link-local; the metadata of clouds
    {0xac100000, 12},  // private
    {0xc0000000, 24},  // protocols
    {0xc0000200, 24},  // documentation
    {0xc0586300, 24},  // relays of 6to4
    {0xc0a80000, 16},  // private
    {0xc6120000, 15},  // benchmarks
    {0xc6336400, 24},  // documentation
    {0xcb007100, 24},  // documentation
    {0xe0000000, 4},   // groups
    {0xf0000000, 4},   // reserved, broadcast
    {0xa83f8110, 32},  // Azure's platform: its machines reach it, nobody else does
}};

bool is_public_4(std::uint32_t address) {
    return std::none_of(kSpecial.begin(), kSpecial.end(), [&](const Block& block) {
        const std::uint32_t mask = ~std::uint32_t{0} << (32 - block.bits);
        return (address & mask) == block.network;
    });
}

bool is_public_6(const std::uint8_t* bytes) {
    const auto begins = [&](std::initializer_list<std::uint8_t> with) {
        return std::equal(with.begin(), with.end(), bytes);
    };
    const auto embedded = [&](int at) {
        return is_public_4(std::uint32_t{bytes[at]} << 24 | std::uint32_t{bytes[at + 1]} << 16 |
                           std::uint32_t{bytes[at + 2]} << 8 | bytes[at + 3]);
    };
    if (begins({0x00, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0})) return embedded(12);  // NAT64
    if (begins({0x20, 0x02})) return false;                                             // 6to4
    if (begins({0x20, 0x01, 0x00}) || begins({0x20, 0x01, 0x01})) return false;  // Teredo, others
    if (begins({0x20, 0x01, 0x0d, 0xb8}) || begins({0x3f, 0xff})) return false;  // documentation
    return (bytes[0] & 0xe0U) == 0x20;
}

Result<TcpAddress> literal(const std::string& text, std::uint16_t port) {
    TcpAddress address;
    auto* const four = reinterpret_cast<struct sockaddr_in*>(&address.at);
    auto* const six = reinterpret_cast<struct sockaddr_in6*>(&address.at);
    if (::inet_pton(AF_INET, text.c_str(), &four->sin_addr) == 1) {
        four->sin_family = AF_INET;
        four->sin_port = htons(port);
        address.size = sizeof *four;
        return address;
    }
    if (::inet_pton(AF_INET6, text.c_str(), &six->sin6_addr) == 1) {
        six->sin6_family = AF_INET6;
        six->sin6_port = htons(port);
        address.size = sizeof *six;
        return address;
    }
    return Error(EINVAL);
}

const struct sockaddr* generic(const TcpAddress& address) {
    return reinterpret_cast<const struct sockaddr*>(&address.at);
}

}  // namespace

std::string canonical_address(const std::string& text) {
    const Result<TcpAddress> address =
        text.find('\0') == std::string::npos ? literal(text, 0) : Result<TcpAddress>(Error(EINVAL));
    if (!address) return {};
    const void* const bytes =
        address->at.ss_family == AF_INET
            ? static_cast<const void*>(
                  &reinterpret_cast<const struct sockaddr_in*>(&address->at)->sin_addr)
            : &reinterpret_cast<const struct sockaddr_in6*>(&address->at)->sin6_addr;
    std::array<char, INET6_ADDRSTRLEN> room = {};
    const char* const name =
        ::inet_ntop(address->at.ss_family, bytes, room.data(), static_cast<socklen_t>(room.size()));
    return name != nullptr ? name : "";
}

bool is_loopback(const std::string& address) {
    return address == "::1" ||
           (address.starts_with("127.") && canonical_address(address) == address);
}

bool is_public(const TcpAddress& address) {
    if (address.at.ss_family == AF_INET) {
        const auto* const four = reinterpret_cast<const struct sockaddr_in*>(&address.at);
        return is_public_4(ntohl(four->sin_addr.s_addr));
    }
    if (address.at.ss_family != AF_INET6) return false;
    return is_public_6(
        reinterpret_cast<const struct sockaddr_in6*>(&address.at)->sin6_addr.s6_addr);
}

Result<UniqueFd> listen_on(const std::string& address, std::uint16_t port) {
    TRY_ASSIGN(const TcpAddress at, literal(address, port));
    UniqueFd listener(
        ::socket(at.at.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP));
    if (!listener) return last_error();
    const int yes = 1;
    ::setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (::bind(listener.get(), generic(at), at.size) != 0) return last_error();
    if (::listen(listener.get(), SOMAXCONN) != 0) return last_error();
    return listener;
}

Result<std::uint16_t> port_of(int socket) {
    TcpAddress own;
    own.size = sizeof own.at;
    if (::getsockname(socket, reinterpret_cast<struct sockaddr*>(&own.at), &own.size) != 0)
        return last_error();
    // Both families have it in the same place.
    return ntohs(reinterpret_cast<const struct sockaddr_in*>(&own.at)->sin_port);
}

Result<UniqueFd> accept_from(int listener) {
    UniqueFd connection(
        retry([&] { return ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK); }));
    if (!connection) return last_error();
    return connection;
}

Result<std::vector<TcpAddress>> addresses_of(const std::string& host, std::uint16_t port) {
    struct addrinfo wanted = {};
    wanted.ai_socktype = SOCK_STREAM;
    struct addrinfo* list = nullptr;
    const int failed = ::getaddrinfo(host.c_str(), nullptr, &wanted, &list);
    if (failed != 0) return Error(ErrorKind::kNotFound, EHOSTUNREACH, ::gai_strerror(failed));
    const std::unique_ptr<struct addrinfo, decltype(&::freeaddrinfo)> owner(list, ::freeaddrinfo);
    std::vector<TcpAddress> addresses;
    for (const struct addrinfo* one = list; one != nullptr; one = one->ai_next) {
        TcpAddress address;
        if (one->ai_family != AF_INET && one->ai_family != AF_INET6) continue;
        address.size = one->ai_addrlen;
        std::memcpy(&address.at, one->ai_addr, one->ai_addrlen);
        reinterpret_cast<struct sockaddr_in*>(&address.at)->sin_port = htons(port);
        addresses.push_back(address);
    }
    if (addresses.empty()) return Error(ErrorKind::kNotFound, EHOSTUNREACH, "it has no address");
    return addresses;
}

Result<UniqueFd> connect_to(const TcpAddress& address, std::chrono::milliseconds limit) {
    UniqueFd connection(
        ::socket(address.at.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP));
    if (!connection) return last_error();
    if (::connect(connection.get(), generic(address), address.size) != 0) {
        if (errno != EINPROGRESS && errno != EINTR) return last_error();
        struct pollfd watched = {connection.get(), POLLOUT, 0};
        const int ready =
            retry([&] { return ::poll(&watched, 1, static_cast<int>(limit.count())); });
        if (ready == 0) return Error(ETIMEDOUT);
        int number = 0;
        socklen_t size = sizeof number;
        if (::getsockopt(connection.get(), SOL_SOCKET, SO_ERROR, &number, &size) != 0)
            return last_error();
        if (number != 0) return Error(number);
    }
    const int yes = 1;
    ::setsockopt(connection.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    return connection;
}

void end_writing(int socket) {
    ::shutdown(socket, SHUT_WR);
}

Result<std::size_t> receive(int socket, char* into, std::size_t size) {
    const ssize_t got = retry([&] { return ::recv(socket, into, size, 0); });
    if (got < 0) return last_error();
    return static_cast<std::size_t>(got);
}

Result<std::size_t> send_some(int socket, const char* from, std::size_t size) {
    const ssize_t put = retry([&] { return ::send(socket, from, size, MSG_NOSIGNAL); });
    if (put < 0) return last_error();
    return static_cast<std::size_t>(put);
}

}  // namespace unwrite::sys
