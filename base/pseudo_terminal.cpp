#include "base/pseudo_terminal.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <array>
#include <cstring>

#include "base/retry.h"
#include "base/syscalls.h"

namespace unwrite::sys {

namespace {

/// Room for one descriptor beside a message.
struct Beside {
    alignas(struct cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> room = {};
};

}  // namespace

Result<PseudoTerminal> open_pseudo_terminal(const std::string& multiplexer) {
    constexpr int kFlags = O_RDWR | O_NOCTTY | O_CLOEXEC;
    PseudoTerminal terminal;
    // Its usual name is a link.
    terminal.master = UniqueFd(retry([&] { return ::open(multiplexer.c_str(), kFlags); }));
    if (!terminal.master) return last_error();
    const int unlocked = 0;
    if (::ioctl(terminal.master.get(), TIOCSPTLCK, &unlocked) != 0) return last_error();
    // Not by its name: in another mount namespace that may be another terminal.
    terminal.slave = UniqueFd(::ioctl(terminal.master.get(), TIOCGPTPEER, kFlags));
    if (!terminal.slave) return last_error();
    return terminal;
}

Result<DescriptorPipe> make_descriptor_pipe() {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return last_error();
    return DescriptorPipe{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

Result<> send_descriptor(int pipe, char kind, int fd) {
    struct iovec text = {&kind, 1};
    struct msghdr message = {};
    message.msg_iov = &text;
    message.msg_iovlen = 1;
    Beside beside;
    if (fd >= 0) {
        message.msg_control = beside.room.data();
        message.msg_controllen = beside.room.size();
        struct cmsghdr* const header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof fd);
        std::memcpy(CMSG_DATA(header), &fd, sizeof fd);
    }
    if (retry([&] { return ::sendmsg(pipe, &message, MSG_NOSIGNAL); }) < 0) return last_error();
    return {};
}

Result<Received> receive_descriptor(int pipe) {
    Received received;
    struct iovec text = {&received.kind, 1};
    struct msghdr message = {};
    message.msg_iov = &text;
    message.msg_iovlen = 1;
    Beside beside;
    message.msg_control = beside.room.data();
    message.msg_controllen = beside.room.size();
    const ssize_t got = retry([&] { return ::recvmsg(pipe, &message, MSG_CMSG_CLOEXEC); });
    if (got < 0) return last_error();
    if (got == 0) return Error(ENODATA);
    const struct cmsghdr* const header = CMSG_FIRSTHDR(&message);
    if (header != nullptr && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS) {
        int fd = -1;
        std::memcpy(&fd, CMSG_DATA(header), sizeof fd);
        received.fd = UniqueFd(fd);
    }
    return received;
}

}  // namespace unwrite::sys
