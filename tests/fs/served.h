// Served: a workspace with a session, mounted over itself by a process of its own, as in real life.
// The test is a client: it changes files through the mount, looks at the raw directory behind it,
// and gives the daemon orders.
#pragma once

#include <gtest/gtest.h>
#include <sys/types.h>

#include <filesystem>
#include <string>

#include "fs/mount.h"
#include "overlay/session.h"
#include "tests/base/scratch.h"

namespace unwrite::tests {

class Served {
 public:
    /// Mounts. `failure()` tells why not, for SKIP_WITHOUT_MOUNT.
    explicit Served(uid_t uid = 0, overlay::SessionOptions options = {},
                    fs::MountOptions mounting = {});
    ~Served();  ///< stops the daemon and unmounts whatever is left
    Served(const Served&) = delete;
    Served& operator=(const Served&) = delete;

    const std::string& failure() const { return failure_; }
    std::filesystem::path path(const std::string& name = {}) const;  ///< through the mount
    int raw() const { return raw_.get(); }                           ///< behind it
    std::string read(const std::string& name) const;
    std::string read_raw(const std::string& name) const;
    void write(const std::string& name, std::string_view text) const;
    pid_t daemon() const { return daemon_; }

    /// One of: "task" (begins a new one), "checkpoint", "rollback", "discard", "write_back",
    /// "settle", "open PATH" (in the daemon, through the mount), "hold" and "release" (no removal
    /// is done between; with "hold writes" no write, with "hold reads" no read, with "hold sizes"
    /// no change of attributes), "held" (so many wait for that), "announce", "run PID" (is an agent
    /// from now on), "records" (in the journal), "asked" (how often for names and attributes). The
    /// answer is "ok" or the reason; empty when the daemon died.
    std::string order(const std::string& words);
    /// After "hold": until so many wait.
    void wait_until_held(int requests);

    void kill_daemon() const;
    /// SIGTERM, and the daemon's exit status; -1 when it did not end in time (then it is killed).
    int stop();
    /// Waits for an end that has another cause.
    int wait_for_exit(int seconds = 60);

 private:
    void serve(int orders) const;

    Scratch scratch_;
    UniqueFd raw_;
    overlay::SessionOptions options_;
    fs::MountOptions mounting_;
    UniqueFd orders_;
    pid_t daemon_ = -1;
    std::string failure_;
};

/// Whether that user may open /dev/fuse; only root can tell.
bool may_mount(uid_t uid);

}  // namespace unwrite::tests

#define SKIP_UNLESS_MAY_MOUNT(uid) \
    if (!::unwrite::tests::may_mount(uid)) GTEST_SKIP() << "users may not open /dev/fuse here"

#define SKIP_WITHOUT_MOUNT(served)                                                    \
    do {                                                                              \
        if (!::unwrite::fs::is_fuse_available()) GTEST_SKIP() << "no /dev/fuse here"; \
        ASSERT_EQ((served).failure(), "");                                            \
    } while (false)
