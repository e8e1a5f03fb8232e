// Mounting and unmounting: the way into the kernel and out of it.
#pragma once

#include <memory>
#include <string>

#include "fs/mount.h"
#include "fs/server.h"

namespace unwrite::fs {

struct SessionDeleter {
    void operator()(fuse_session* session) const { fuse_session_destroy(session); }
};
using SessionPointer = std::unique_ptr<fuse_session, SessionDeleter>;

/// Where a mount is, and which: another may be put over it, or it may be gone.
class MountPlace {
 public:
    MountPlace() = default;
    /// Of the mount that is at `path` now. Sends no request.
    static Result<MountPlace> at(std::string path);

    const std::string& path() const { return path_; }
    bool is_there() const;
    /// The root, for a guest of the mount; ESTALE when the path leads elsewhere now.
    Result<UniqueFd> open() const;
    /// EBUSY when in use, unless `lazily`; ESTALE when it is not there any more.
    Result<> unmount(bool lazily) const;

 private:
    std::string path_;
    dev_t device_ = 0;
};

/// The absolute path of a directory to mount on.
Result<std::string> resolve_mountpoint(const std::string& path);
/// A session of the server's callbacks, mounted at the (absolute) `mountpoint`.
Result<SessionPointer> open_session(Server& server, const MountOptions& options,
                                    const std::string& mountpoint);
/// Takes the topmost mount at `path` away.
Result<> unmount_path(const std::string& path, bool lazily, bool force);

}  // namespace unwrite::fs
