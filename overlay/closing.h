// Closing: one operation that moves the live state. Before: dirty mappings are written back, with
// no lock held, for a write may have to wait for the operation's lock (turns.h). While it lives: no
// other operation, the gate closed. At its end: the kernel forgets what changed while
// the gate is still closed, then the gate opens, then watchers are told.
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
          caches_(tree.caches()),
          restorer_(restorer) {
        if (caches_ != nullptr) caches_->write_back();
        operation_.lock();
        closed_.emplace(gate.close());
    }
    /// kRecovery when a restore failed half-way and nothing may be changed before it is finished.
    Result<> refuse_if_wounded(const std::string& verb) const {
        if (!gate_.wounded()) return {};
        return Error(ErrorKind::kRecovery, EROFS, verb + ": an earlier restore was interrupted",
                     "run `unwrite recover`");
    }
    Closing(const Closing&) = delete;
    Closing& operator=(const Closing&) = delete;
    ~Closing() {
        const Restored restored = restorer_.take_restored();
        const bool any = restored.names || !restored.objects.empty();
        if (any && caches_ != nullptr) caches_->forget(restored);
        closed_.reset();
        if (any && caches_ != nullptr) caches_->announce(restored);
    }

 private:
    std::unique_lock<std::mutex> operation_;
    const Gate& gate_;
    KernelCaches* const caches_;
    Restorer& restorer_;
    std::optional<Gate::Closed> closed_;
};

}  // namespace unwrite::overlay
