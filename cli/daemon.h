// The daemon: opens the session, mounts it, answers the socket, until it is told to stop or the
// mount goes away.
#pragma once

#include <functional>
#include <string>

#include "base/unique_fd.h"
#include "cli/config.h"
#include "control/wire.h"
#include "fs/mount.h"

namespace unwrite::cli {

struct DaemonOptions {
    UniqueFd workspace;          ///< the raw directory, opened before the mount
    std::string directory;       ///< where that is, for people
    std::string mount_point;     ///< absolute, no symlinks
    bool allow_other = false;    ///< for other users than the one who mounts
    bool with_sessions = false;  ///< unmounts when the last adopted process has ended
    fs::DataPathKind data_path = fs::DataPathKind::kObserved;
    bool keep_long = true;  ///< fs::MountOptions
    bool spin = true;       ///< fs::MountOptions
    Config config;
};

/// Called once, when the mount is about to be served or has failed.
using Report = std::function<void(const Result<control::DaemonInfo>& outcome)>;

/// Serves in this process until the end. Signals TERM, INT and HUP unmount.
Result<> serve(DaemonOptions options, const Report& report);

/// Serves in a process of its own, away from the terminal; returns when the mount is served or has
/// failed.
Result<control::DaemonInfo> start_daemon(DaemonOptions options);

}  // namespace unwrite::cli
