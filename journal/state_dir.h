// The state directory, .unwrite/ at the workspace's root: made, checked, locked.
//   .gitignore ("*"), VERSION ("unwrite state 1"), lock, journal.db, places.log, root, stamps,
//   ballast, attic/, deltas/, config.toml, daemon.log, audit.log
// Mode 0700, files 0600, same filesystem as the workspace.
#pragma once

#include "base/syscalls.h"

namespace unwrite::journal {

class StateDir {
 public:
    static constexpr const char* kName = ".unwrite";

    /// Opens it under the workspace, makes what is missing (`create`), checks owner, type (never
    /// through a symlink), version and filesystem, repairs its mode. Errors: kNotFound when absent
    /// and !create; kRecovery for a newer version; kRefused when it belongs to someone else or lies
    /// on another filesystem; EROFS for a read-only workspace.
    static Result<StateDir> open(int workspace, bool create);
    /// Takes the writer's lock (flock on `lock`, with the pid inside for messages), held until
    /// destruction. Waits up to 3 s for a holder that ends; then kConflict with its pid.
    Result<> lock();

    int fd() const { return fd_.get(); }
    int deltas() const { return deltas_.get(); }
    /// A fresh descriptor of attic/, for Attic::open.
    Result<UniqueFd> open_attic() const;

 private:
    StateDir() = default;
    UniqueFd fd_;
    UniqueFd deltas_;
    UniqueFd lock_;
};

}  // namespace unwrite::journal
