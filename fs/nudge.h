// Nudges: how watchers (inotify) learn what a restore brought back or took away. A restore happens
// below the mount, where the kernel sees nothing; only calls through the mount make events. So a
// helper thread "creates" a name that is there again, or "unlinks" one that is gone, and the daemon
// answers these requests without touching the tree: the kernel believes the change and tells the
// watchers. At most one nudge is under way; only the helper's own requests meet it.
#pragma once

#include <sys/stat.h>

#include <atomic>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "overlay/tree.h"

namespace unwrite::fs {

struct Nudge {
    overlay::NodeId parent = 0;
    std::string name;
    bool appears = false;  ///< the name is to be created; else to be removed
    bool directory = false;
};

class Nudges {
 public:
    void begin(Nudge nudge);
    void end();
    /// The nudge under way, when it is about this name.
    std::optional<Nudge> about(overlay::NodeId parent, std::string_view name) const;

    /// While names are waiting to be announced the kernel may not keep any: it must ask again at
    /// the nudge.
    bool waiting() const { return waiting_.load(std::memory_order_relaxed) != 0; }
    /// A restore's names are to be announced; take_expected() tells how many restores, settled()
    /// that they were.
    void expect();
    unsigned take_expected();
    void settled(unsigned restores);

 private:
    mutable std::mutex mutex_;
    std::optional<Nudge> current_;
    std::atomic<unsigned> waiting_{0};
    std::atomic<unsigned> untaken_{0};
};

/// A phantom stands for a removed object during its nudge. Its ids are none of the tree's.
overlay::NodeId next_phantom(bool directory);
bool is_phantom(overlay::NodeId id);
struct stat phantom_attributes(overlay::NodeId id);

}  // namespace unwrite::fs
