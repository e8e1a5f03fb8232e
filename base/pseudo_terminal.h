// Pseudo terminals, and handing a descriptor from one process to another.
#pragma once

#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace unwrite::sys {

/// A new terminal: what is written to `master` is typed on `slave`. Neither becomes the controlling
/// terminal of anybody; both are closed on exec.
struct PseudoTerminal {
    UniqueFd master;
    UniqueFd slave;
};
/// `multiplexer`: /dev/ptmx, or that of another instance of devpts.
Result<PseudoTerminal> open_pseudo_terminal(const std::string& multiplexer);

/// Two ends over which messages of one byte go, each with a descriptor or without.
struct DescriptorPipe {
    UniqueFd near;
    UniqueFd far;
};
Result<DescriptorPipe> make_descriptor_pipe();
/// `fd` -1: the byte alone.
Result<> send_descriptor(int pipe, char kind, int fd = -1);
struct Received {
    char kind = 0;
    UniqueFd fd;
};
/// Waits for a message. ENODATA when the other end is closed.
Result<Received> receive_descriptor(int pipe);

}  // namespace unwrite::sys
