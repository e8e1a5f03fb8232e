// Where the daemon's socket lies, so that a client that knows only the mount finds it: the state
// directory is not visible through the mount, so it is <runtime directory>/<session id>.sock.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace unwrite::control {

/// 16 random hexadecimal digits.
Result<std::string> new_session_id();
/// 16 hexadecimal digits that are the same whenever this directory is mounted at this place, for
/// programs that know a mount by its source. Random ones when a daemon answers by that id: then the
/// directory is one that only looks the same. The caller holds the lock of the state directory.
Result<std::string> session_id_of(int workspace, const std::string& mount_point);

/// The directories in which a daemon of `owner` may have put its socket, best first:
/// $XDG_RUNTIME_DIR/unwrite and /run/user/<uid>/unwrite, /run/unwrite-<uid> (only root can make
/// it), /tmp/unwrite-<uid>.
std::vector<std::string> runtime_directories(uid_t owner);

/// A descriptor of `path` after checking that it is a directory of `owner` that nobody else may
/// enter; never through a symlink at its end. kRefused otherwise, ENOENT when it is absent.
Result<UniqueFd> open_private_directory(const std::string& path, uid_t owner);

struct Listening {
    UniqueFd socket;
    UniqueFd directory;
    std::string path;
    std::string name;  ///< in `directory`
};
/// Makes the runtime directory (0700) where needed and a listening socket (0600) in it. Directories
/// at or below `avoid` (the mount point, which the daemon must not reach through) are passed over.
Result<Listening> listen_at(const std::string& id, const std::string& avoid);

/// Connects to the daemon of session `id`, which must run as `owner`. kNoWorkspace when none
/// answers.
Result<UniqueFd> connect_to(const std::string& id, uid_t owner);

}  // namespace unwrite::control
