// Caches: what the kernel keeps of the tree, and how it is made to write it back, forget it, and
// tell its watchers.
#pragma once

#include <algorithm>
#include <chrono>
#include <memory>

#include "fs/behind.h"
#include "fs/helper.h"
#include "fs/mounting.h"
#include "fs/server.h"

namespace unwrite::fs {

/// What is left until then; nothing when it is over.
inline std::chrono::milliseconds until(std::chrono::steady_clock::time_point end) {
    const auto left = end - std::chrono::steady_clock::now();
    return std::max(std::chrono::duration_cast<std::chrono::milliseconds>(left),
                    std::chrono::milliseconds(0));
}

/// Lives while requests are served. Thread-safe.
class Caches {
 public:
    /// Helpers that cannot be had (an old kernel) are done without; the log says so.
    Caches(Server& server, MountPlace place);
    ~Caches();

    /// As far as it can be done in that time; the log says when it could not. Also where the mount
    /// is not at its place any more. Nothing when nobody answers requests any more.
    void write_back(std::chrono::milliseconds patience);
    void forget(const overlay::Restored& restored);
    void announce(const overlay::Restored& restored);
    /// Does not wait.
    void exchanged(const overlay::Restored& changed);
    bool settle(std::chrono::milliseconds patience);
    /// Unmounts from a guest, since the kernel may write back meanwhile. It takes as long as that.
    /// ESTALE when the mount is not at its place.
    Result<> unmount(bool lazily);
    /// Ends the helpers. They may wait for a request of their own or for somebody's who holds what
    /// they need: while requests are still answered. No helper does anything after it.
    void end();

 private:
    void start_behind();
    Result<> write_back_all(std::chrono::steady_clock::time_point begin,
                            std::chrono::steady_clock::time_point end);
    Result<> write_back_each(std::chrono::steady_clock::time_point end);
    Result<> ask_syncer(Result<> (*job)(const MountPlace&),
                        std::chrono::steady_clock::time_point end);
    void forget_objects(const overlay::Restored& restored);
    void forget_names(const overlay::Restored& restored);
    void tell_watchers(std::shared_ptr<const overlay::Restored> restored);

    Server& server_;
    MountPlace place_;
    std::unique_ptr<Helper> syncer_;
    std::unique_ptr<Helper> announcer_;
    std::unique_ptr<Helper> notifier_;
    std::unique_ptr<Helper> sweeper_;  // no restore waits for its jobs
    std::unique_ptr<Behind> behind_;   // null: nothing is kept long
};

}  // namespace unwrite::fs
