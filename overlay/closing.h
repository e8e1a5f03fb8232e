// Closing: one operation that moves the live state. Before: dirty mappings are written back, with
// no lock held, for a write may have to wait for the operation's lock (turns.h). While it lives: no
// other operation, the gate closed, and who writes unseen is held. At its end: what is changed
// unseen is captured for the interval that begins, the kernel forgets what changed while the gate
// is still closed, then the gate opens, then watchers are told.
#pragma once

#include <cerrno>
#include <optional>
#include <string>

#include "overlay/live_tree.h"
#include "overlay/restorer.h"

namespace unwrite::overlay {

class Closing {
 public:
    Closing(std::mutex& operation, Gate& gate, LiveTree& tree, Restorer& restorer)
        : operation_(operation, std::defer_lock),
          gate_(gate),
          tree_(tree),
          caches_(tree.caches()),
          restorer_(restorer) {
        if (caches_ != nullptr) caches_->write_back();
        operation_.lock();
        closed_.emplace(gate.close());
        held_.emplace(tree);
    }
    /// kRecovery when a restore failed half-way and nothing may be changed before it is finished;
    /// ENOSPC when there is no room to copy, so many times, what may be changed unseen.
    Result<> refuse_if_unable(const std::string& verb, unsigned copies = 1) const {
        if (!gate_.wounded()) return tree_.room_for_unseen(verb, copies);
        return Error(ErrorKind::kRecovery, EROFS,
                     verb + ": an earlier restore was interrupted and must be finished first",
                     "`unwrite recover` finishes it");
    }
    Closing(const Closing&) = delete;
    Closing& operator=(const Closing&) = delete;
    ~Closing() {
        tree_.capture_unseen();
        const Restored restored = restorer_.take_restored();
        const bool any = restored.names || !restored.objects.empty();
        // Who is held in a write has locks of the kernel that to forget may need.
        held_.reset();
        if (any && caches_ != nullptr) caches_->forget(restored);
        closed_.reset();
        if (any && caches_ != nullptr) caches_->announce(restored);
    }

 private:
    std::unique_lock<std::mutex> operation_;
    const Gate& gate_;
    LiveTree& tree_;
    KernelCaches* const caches_;
    Restorer& restorer_;
    std::optional<Gate::Closed> closed_;
    std::optional<LiveTree::Held> held_;
};

}  // namespace unwrite::overlay
