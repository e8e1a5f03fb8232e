// Behind: tells the kernel what others changed behind the mount (Tree::changed_behind), so that it
// may keep long what it knows. A thread of its own fetches it. Attributes are dropped at once,
// names where the directory is not locked by a request; where one is for long, all names are.
#pragma once

#include <chrono>
#include <memory>
#include <thread>

#include "fs/event.h"
#include "fs/helper.h"
#include "fs/server.h"

namespace unwrite::fs {

class Behind {
 public:
    /// `source`: readable when there may be something (Tree::notice_behind).
    static Result<std::unique_ptr<Behind>> start(Server& server, int source);
    ~Behind();
    Behind(const Behind&) = delete;
    Behind& operator=(const Behind&) = delete;

    /// The kernel was told to forget all names: it is told once more a moment later, for the
    /// answer to a listing may have been under way.
    void names_forgotten();

 private:
    using Clock = std::chrono::steady_clock;
    Behind(Server& server, int source, Event stopping, Event names_forgotten,
           std::unique_ptr<Helper> expirer)
        : server_(server),
          source_(source),
          stopping_(std::move(stopping)),
          names_forgotten_(std::move(names_forgotten)),
          expirer_(std::move(expirer)) {}
    void live();
    void fetch();
    void tell(const overlay::ChangedBehind& changed);
    void tell_names(const overlay::ChangedBehind& changed);
    void tell_again_later(overlay::ChangedBehind changed);
    void tell_again();
    bool waits() const { return !again_.empty() || !later_.empty(); }
    bool is_due() const;
    int milliseconds_left() const;

    Server& server_;
    const int source_;
    Event stopping_;
    Event names_forgotten_;
    overlay::ChangedBehind again_;  // told again when it is due
    overlay::ChangedBehind later_;  // the time after that
    Clock::time_point due_;
    std::unique_ptr<Helper> expirer_;  // waits for the locks of directories
    std::thread thread_;
};

}  // namespace unwrite::fs
