// Copying between two connections, both ways, until both have ended.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

namespace unwrite::cli {

/// Bytes that have arrived at the other side. Another thread may read them meanwhile.
struct Bytes {
    std::atomic<std::uint64_t> sent{0};      ///< from `client`
    std::atomic<std::uint64_t> received{0};  ///< from `server`
};

/// `first`: is sent to the server before anything else, and counts as from the client. Neither
/// socket blocks. An end of one side is passed on; an error ends both.
void copy_both_ways(int client, int server, std::string first, Bytes& bytes);

/// Sends all of it, waiting at most some seconds for a slow reader.
void send_answer(int socket, const std::string& text);
/// The same, and ends the connection so that the answer arrives even if the other side still sends.
void finish_with(int socket, const std::string& text);

}  // namespace unwrite::cli
