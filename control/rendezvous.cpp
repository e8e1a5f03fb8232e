#include "control/rendezvous.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/digest.h"
#include "base/syscalls.h"
#include "control/mounts.h"
#include "control/peer.h"

namespace unwrite::control {

namespace {

constexpr int kBacklog = 32;

/// A session's id comes out of mountinfo, where others may have written: only what
/// session_id_of() makes.
bool is_id(const std::string& id) {
    return !id.empty() && id.size() <= 32 &&
           id.find_first_not_of("0123456789abcdef") == std::string::npos;
}

/// Through /proc, because a socket's path may have 107 bytes only, and so that a directory that was
/// checked cannot be exchanged for another before it is used.
sockaddr_un address_of(int directory, const std::string& name) {
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    const std::string path = "/proc/self/fd/" + std::to_string(directory) + "/" + name;
    std::memcpy(address.sun_path, path.data(), std::min(path.size(), sizeof address.sun_path - 1));
    return address;
}

const sockaddr* generic(const sockaddr_un& address) {
    return reinterpret_cast<const sockaddr*>(&address);
}

Result<UniqueFd> new_socket(int flags = 0) {
    UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | flags, 0));
    if (!socket) return sys::last_error();
    return socket;
}

/// Removes the sockets of daemons that were killed.
void sweep(int directory) {
    const Result<std::vector<sys::DirectoryEntry>> entries = sys::read_directory(directory);
    if (!entries) return;
    for (const sys::DirectoryEntry& entry : *entries) {
        // Not to wait for a daemon that takes no more.
        Result<UniqueFd> socket = new_socket(SOCK_NONBLOCK);
        if (!socket || !entry.name.ends_with(".sock")) continue;
        const sockaddr_un address = address_of(directory, entry.name);
        if (::connect(socket->get(), generic(address), sizeof address) == 0) continue;
        if (sys::last_error().number() == ECONNREFUSED) {
            ignore(sys::unlink(directory, entry.name), "it does no harm where it is");
        }
    }
}

Result<Listening> listen_in(const std::string& directory, const std::string& id) {
    const Result<> made = sys::make_directory(AT_FDCWD, directory, 0700);
    if (!made && made.error().number() != EEXIST) return made.error();
    Listening listening;
    TRY_ASSIGN(listening.directory, open_private_directory(directory, ::geteuid()));
    sweep(listening.directory.get());
    listening.name = id + ".sock";
    listening.path = directory + "/" + listening.name;
    TRY_ASSIGN(listening.socket, new_socket());
    // Nobody is told of it, and nobody sweeps it away, before it listens. The directory admits
    // nobody else, so the moment before the mode is set harms nobody.
    const std::string unheard = id + ".new";
    const sockaddr_un address = address_of(listening.directory.get(), unheard);
    if (::bind(listening.socket.get(), generic(address), sizeof address) != 0)
        return sys::last_error();
    const auto announced = [&]() -> Result<> {
        if (::fchmodat(listening.directory.get(), unheard.c_str(), 0600, 0) != 0 ||
            ::listen(listening.socket.get(), kBacklog) != 0) {
            return sys::last_error();
        }
        return sys::rename(listening.directory.get(), unheard, listening.directory.get(),
                           listening.name);
    }();
    if (!announced) {
        ignore(sys::unlink(listening.directory.get(), unheard), "the first failure is reported");
        return announced.error();
    }
    return listening;
}

Result<UniqueFd> connect_in(const std::string& directory, const std::string& id, uid_t owner) {
    TRY_ASSIGN(const UniqueFd fd, open_private_directory(directory, owner));
    TRY_ASSIGN(UniqueFd socket, new_socket());
    const sockaddr_un address = address_of(fd.get(), id + ".sock");
    if (::connect(socket.get(), generic(address), sizeof address) != 0) return sys::last_error();
    TRY_ASSIGN(const Peer peer, peer_of(socket.get()));
    if (peer.uid != owner) {
        return Error(ErrorKind::kRefused, EPERM,
                     "cannot connect to " + directory + ": the socket belongs to another user");
    }
    return socket;
}

}  // namespace

Result<std::string> new_session_id() {
    std::array<unsigned char, 8> bytes;
    if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
        return sys::last_error();
    }
    std::string id;
    for (const unsigned char byte : bytes) {
        id += "0123456789abcdef"[byte >> 4];
        id += "0123456789abcdef"[byte & 15];
    }
    return id;
}

Result<std::string> session_id_of(int workspace, const std::string& mount_point) {
    TRY_ASSIGN(const struct stat st, sys::stat_fd(workspace));
    TRY_ASSIGN(const struct statvfs filesystem, sys::statvfs_fd(workspace));
    // Not the device's number, which may be another one after a restart.
    const std::string identity = std::to_string(filesystem.f_fsid) + ' ' +
                                 std::to_string(st.st_ino) + ' ' + std::to_string(::geteuid()) +
                                 ' ' + mount_point;
    std::string id = to_hex(digest_of(identity)).substr(0, 16);
    if (connect_to(id, ::geteuid())) return new_session_id();
    return id;
}

std::vector<std::string> runtime_directories(uid_t owner) {
    const std::string uid = std::to_string(owner);
    std::vector<std::string> directories;
    const char* runtime = std::getenv("XDG_RUNTIME_DIR");
    if (runtime != nullptr && runtime[0] == '/' && owner == ::geteuid()) {
        directories.push_back(std::string(runtime) + "/unwrite");
    }
    directories.push_back("/run/user/" + uid + "/unwrite");
    directories.push_back("/run/unwrite-" + uid);
    directories.push_back("/tmp/unwrite-" + uid);
    return directories;
}

Result<UniqueFd> open_private_directory(const std::string& path, uid_t owner) {
    TRY_ASSIGN(UniqueFd fd, sys::open_at(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
    TRY_ASSIGN(const struct stat st, sys::stat_fd(fd.get()));
    if (st.st_uid != owner || (st.st_mode & 077) != 0) {
        return Error(ErrorKind::kRefused, EPERM,
                     "cannot use " + path + ": it is open to other users",
                     "`chmod 700` closes it, or set XDG_RUNTIME_DIR to a directory of your own");
    }
    return fd;
}

Result<Listening> listen_at(const std::string& id, const std::string& avoid) {
    Error last(ENOENT);
    for (const std::string& directory : runtime_directories(::geteuid())) {
        if (!avoid.empty() && is_within(directory, avoid)) continue;
        Result<Listening> listening = listen_in(directory, id);
        if (listening) return listening;
        last = listening.error();
    }
    return last.with_context("cannot make the control socket");
}

Result<UniqueFd> connect_to(const std::string& id, uid_t owner) {
    Error closed(ErrorKind::kNoWorkspace, ENOTCONN,
                 "cannot connect to the daemon: it does not answer",
                 "if it was killed, `unwrite mount` starts it again; what was written is there");
    if (is_id(id)) {
        for (const std::string& directory : runtime_directories(owner)) {
            Result<UniqueFd> socket = connect_in(directory, id, owner);
            if (socket) return socket;
            // A directory or a socket that is closed to us is the answer when there is no other: an
            // inherited XDG_RUNTIME_DIR may be somebody else's.
            if (socket.error().number() == EACCES)
                closed = socket.error().with_context("cannot connect to the daemon");
        }
    }
    return closed;
}

}  // namespace unwrite::control
