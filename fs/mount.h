// Mount: serves an overlay::Tree to the kernel at a directory, through FUSE. The only folder that
// knows libfuse.
//
// Nobody may be in a call of the caches when the mount is destroyed: end what operates on the
// session first.
//
// Order of use: create() mounts (from then on requests wait in the kernel), serve() answers them
// until stop(), an unmount from outside, or the destructor; the destructor unmounts. Signals:
// worker threads block all of them, so they reach the caller's own threads; a handler or signal
// thread may call stop().
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "base/result.h"
#include "overlay/tree.h"

namespace unwrite::fs {

/// How the bytes of open files travel (data_path.h).
enum class DataPathKind { kObserved, kPassthrough };

/// Whether idle processors are kept awake while requests are coming (awake.h): by what the machine
/// is, always where it is allowed, or never.
enum class Idle { kChoose, kAwake, kAsleep };

struct MountOptions {
    std::string mountpoint;
    std::string source_name;  ///< the mount's source as mountinfo shows it, e.g. "unwrite:<id>"
    bool allow_other =
        false;  ///< for others than the mounting user (root, or user_allow_other in fuse.conf)
    unsigned workers = 0;  ///< the most threads that answer requests; 0: choose
    DataPathKind data_path = DataPathKind::kObserved;
    /// Whether the kernel keeps long what it knows, where changes behind the mount can be noticed;
    /// else for a second. On the path passthrough it never does.
    bool keep_long = true;
    Idle idle = Idle::kChoose;
    bool spin = true;  ///< whether an idle worker looks for the next request before it sleeps
    /// How long write_back() waits for dirty pages before a checkpoint goes on without them. The
    /// end of the mount waits ten minutes.
    std::chrono::milliseconds patience{10'000};
    /// Where requests wait for a person's answer; null: none does. Outlives the mount.
    overlay::Waiting* waiting = nullptr;
};

class Mount final : public overlay::KernelCaches {
 public:
    /// Mounts, and makes itself the tree's KernelCaches. As root with mount(2), else with
    /// fusermount3. The mount's type is "fuse.unwrite". `tree` outlives the mount. Errors: kSystem
    /// with ENOENT/EACCES for /dev/fuse, ENOENT for fusermount3, EPERM, each with advice;
    /// EPERM or ENOTSUP when the data path cannot be had. Threads are started by serve() only, so
    /// a daemon may fork between.
    static Result<std::unique_ptr<Mount>> create(overlay::Tree& tree, MountOptions options);

    Mount(const Mount&) = delete;
    Mount& operator=(const Mount&) = delete;
    ~Mount() override;  ///< stops, waits for a serve() that still runs, unmounts (lazily when busy)

    /// Answers requests until the filesystem is unmounted or stop() was called. Once per Mount. The
    /// kernel's writeback of dirty mappings and the unmount itself happen before it returns.
    Result<> serve();
    /// Makes serve() unmount and return. Async-signal-safe, from any thread, any number of times.
    void stop();
    /// Whether stop() was called.
    bool is_ending() const;

    void write_back() override;
    void forget(const overlay::Restored& restored) override;
    void exchanged(const overlay::Restored& changed) override;
    void announce(const overlay::Restored& restored) override;

    /// Waits (at most about `milliseconds`) until the announcements handed over so far were made;
    /// for tests and shutdown.
    bool settle(unsigned milliseconds);

 private:
    class Impl;
    explicit Mount(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

/// Whether this process could open /dev/fuse (a mount may still be refused).
bool is_fuse_available();

/// Whether DataPathKind::kPassthrough can be asked for, as far as can be told without a mount:
/// EPERM for who may not have it, ENOTSUP when this libfuse or this kernel has no such thing, and
/// EOPNOTSUPP when the filesystem of `directory` has not (a tmpfs): each with advice.
Result<> can_pass_through(int directory);

/// Whether Idle::kChoose keeps processors awake here: ENOTSUP where it would gain nothing, EACCES
/// for who may not, each with advice.
Result<> can_keep_awake();

/// Unmounts `path` unless anything uses it: EBUSY then, and nothing is done.
Result<> unmount_unused(const std::string& path);

/// Takes away the mount at `path` that a dead daemon left (lazily). kNothing when there is none of
/// ours there.
Result<> unmount_stale(const std::string& path);

}  // namespace unwrite::fs
