// TCP: the one place that opens sockets of a network. The proxy of `unwrite run --network model`
// needs them; nothing else here talks to a network. All descriptors are closed on exec and do not
// block, unless their line says otherwise.
#pragma once

#include <sys/socket.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace unwrite::sys {

struct TcpAddress {
    struct sockaddr_storage at = {};
    socklen_t size = 0;
};

/// An IPv4 or IPv6 address as the kernel writes it ("127.0.0.1", "::1"); "" where `text` is none.
std::string canonical_address(const std::string& text);
/// Of such an address: whether it is this machine's own loopback.
bool is_loopback(const std::string& address);
/// Whether it is an address of the whole internet: not of this machine, not of a private or local
/// network, no group, and nothing that carries such an address inside (mapped, NAT64, 6to4).
bool is_public(const TcpAddress& address);

/// Listens on a literal address; port 0: any that is free.
Result<UniqueFd> listen_on(const std::string& address, std::uint16_t port);
Result<std::uint16_t> port_of(int socket);
/// A new connection. EAGAIN where there is none.
Result<UniqueFd> accept_from(int listener);

/// The addresses of a name or literal, as the system resolves it. May wait for seconds.
Result<std::vector<TcpAddress>> addresses_of(const std::string& host, std::uint16_t port);
/// Waits at most `limit`.
Result<UniqueFd> connect_to(const TcpAddress& address, std::chrono::milliseconds limit);

/// Nothing more will be written to it.
void end_writing(int socket);
/// At most `size` bytes; 0: the other end has ended. EAGAIN where there is nothing.
Result<std::size_t> receive(int socket, char* into, std::size_t size);
Result<std::size_t> send_some(int socket, const char* from, std::size_t size);

}  // namespace unwrite::sys
