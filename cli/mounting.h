// Mounting a directory from the command line: the checks before it, what is said about it, and how
// it ends.
#pragma once

#include <string>

#include "cli/context.h"
#include "cli/workspace.h"

namespace unwrite::cli {

struct MountRequest {
    std::string directory;  ///< from the context's base
    std::string at;         ///< another mount point; empty: over the directory itself
    bool foreground = false;
    bool allow_other = false;
    bool with_sessions = false;      ///< it ends with the last adopted process, unless it is in use
    std::string data_path = "auto";  ///< "auto", "observed" or "passthrough"; else kUsage
};

/// Clears a dead daemon's mount away, checks, starts the daemon, and tells on context.notes who
/// still uses the raw view. kNothing when the directory is mounted already; kUsage for a place
/// where no mount can be. In the foreground it returns when the mount has ended.
Result<control::DaemonInfo> mount_directory(Context& context, const MountRequest& request);

/// Takes away the mount at or above a directory if its daemon is gone, and says so.
Result<> clear_dead_mount(Context& context, const std::string& directory);

/// Asks the daemon to end and waits until it has. EBUSY while a run goes on there, or processes
/// have files open, unless `force`.
Result<> unmount_workspace(Context& context, Workspace& workspace, bool force);

}  // namespace unwrite::cli
