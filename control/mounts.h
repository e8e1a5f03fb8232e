// Which workspaces are mounted, as the kernel lists it for this process.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace unwrite::control {

inline constexpr const char* kMountType = "fuse.unwrite";

struct MountPoint {
    std::uint64_t mount = 0;  ///< the kernel's number of the mount
    std::string path;         ///< bytes, absolute, no symlinks
    std::string type;         ///< "fuse.unwrite", "ext4"...
    std::string id;           ///< of the session, from the source "unwrite:<id>"
    uid_t owner = 0;          ///< who mounted it: the daemon's uid
};

/// Lines that cannot be read are left out.
std::vector<MountPoint> parse_mountinfo(std::string_view text);
/// Only the mounts of this program, in the order of mounting.
Result<std::vector<MountPoint>> unwrite_mounts();

/// Whether `path` is `directory` or lies below it (both absolute and without symlinks).
bool is_within(std::string_view path, std::string_view directory);
/// The innermost mount at or above `path`.
std::optional<MountPoint> mount_above(const std::vector<MountPoint>& mounts, std::string_view path);

}  // namespace unwrite::control
