// Workspace: the one a command is about, found from a directory upwards: a mount of ours, or a
// directory that has a state directory. Its operations go to the daemon where it is mounted and to
// a session of our own where not.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/config.h"
#include "cli/context.h"
#include "cli/waiting_line.h"
#include "control/remote.h"

namespace unwrite::cli {

class Workspace {
 public:
    /// Errors: kNoWorkspace when there is none at or above `directory` (absolute), or its daemon is
    /// gone.
    static Result<Workspace> open(const std::string& directory);
    /// Only a mounted one.
    static Result<Workspace> open_mounted(const std::string& directory);
    /// What its operations count(), in one request where it is mounted.
    static Result<overlay::Counted> count(const std::string& directory);
    /// The one of this mount.
    static Result<Workspace> of_mount(const control::MountPoint& mount);

    overlay::Operations& operations();
    overlay::Oversight& oversight();
    /// Null when it is not mounted.
    control::Remote* remote() const { return remote_.get(); }
    const std::optional<control::MountPoint>& mount() const { return mount_; }
    const std::string& root() const { return root_; }
    const overlay::Found* found() const { return session_ ? &session_->found() : nullptr; }
    /// The user has answered what becomes of an interrupted task.
    Result<> note_answered();
    /// Whether a line on the terminal says how far long work is.
    void show_waiting(bool shown);
    const overlay::Retention& retention() const { return retention_; }

    /// What `path` (from `base`) is called in the workspace; "" for the root. kUsage when it lies
    /// outside.
    Result<std::string> inside(const std::string& base, const std::string& path) const;

 private:
    Workspace() = default;
    static Result<Workspace> open_unmounted(const std::string& root);

    std::string root_;  ///< the mount point, or the directory itself
    std::string raw_;   ///< where the raw directory is
    std::optional<control::MountPoint> mount_;
    std::unique_ptr<control::Remote> remote_;
    std::unique_ptr<WorkingLine> working_;  ///< where it is not mounted
    std::unique_ptr<overlay::Session> session_;
    overlay::Retention retention_;
};

/// The nearest directory at or above `directory` with a state directory that was begun; "" when
/// there is none.
std::string state_above(const std::string& directory);

}  // namespace unwrite::cli
