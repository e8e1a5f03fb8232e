// Behind: tells the kernel what others changed behind the mount (Tree::changed_behind), so that it
// may keep what it knows. A thread of its own fetches it.
//
// Attributes are dropped object by object, names all at once: neither waits for a lock that a
// request may hold. A thread that waited for one would hold the connection when this process dies,
// and with it whoever waits for an answer.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "fs/event.h"
#include "fs/server.h"

namespace unwrite::fs {

class Behind {
 public:
    /// `source`: readable when there may be something (Tree::notice_behind).
    static Result<std::unique_ptr<Behind>> start(Server& server, int source);
    ~Behind();
    Behind(const Behind&) = delete;
    Behind& operator=(const Behind&) = delete;

    /// A restore changed these, and perhaps names, and the kernel was told. It is told once more a
    /// moment later, for an answer from before may have been under way.
    void restored(const std::vector<overlay::NodeId>& objects);

 private:
    using Clock = std::chrono::steady_clock;
    Behind(Server& server, int source, Event wanted)
        : server_(server), source_(source), wanted_(std::move(wanted)) {}
    void live();
    void take_restored();
    void fetch();
    void tell(const overlay::ChangedBehind& changed);
    void drop_names();
    void tell_again();
    int milliseconds_left() const;

    Server& server_;
    const int source_;
    Event wanted_;  // stop_ or restored_ has changed
    std::mutex mutex_;
    bool stop_ = false;                      // guarded by mutex_
    bool any_restored_ = false;              // likewise
    std::vector<overlay::NodeId> restored_;  // likewise
    // The thread's own:
    overlay::ChangedBehind again_;  // is told again at due_
    overlay::ChangedBehind later_;  // the time after that
    Clock::time_point due_ = Clock::time_point::max();
    bool names_ = false;  // are to be dropped, not before names_due_
    Clock::time_point names_due_{};
    std::thread thread_;
};

}  // namespace unwrite::fs
