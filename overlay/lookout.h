// Lookout: notices what other processes change behind the mount, so that the kernel may remember
// long what it was told. A directory is watched from its first look-up on (base/change_watch.h).
// What is answered may be remembered when the directory was watched before the answer was looked
// for. Thread-safe.
#pragma once

#include <memory>
#include <mutex>

#include "base/change_watch.h"
#include "overlay/objects.h"

namespace unwrite::overlay {

class Lookout {
 public:
    /// Errors as ChangeWatch::start(). Both outlive it; `scratch` is the state directory.
    static Result<std::unique_ptr<Lookout>> start(Objects& objects, int scratch);

    int fd() const { return watch_->fd(); }
    /// True when the directory is watched, from now on at the latest. False for what has no place
    /// in the workspace, and when there are too many watches.
    bool watch(const ObjectPtr& directory);
    /// Whether changes of the object's attributes are noticed. A file that has several names
    /// may be changed by one that is not: that is for the caller to know.
    bool notices(const ObjectPtr& object);
    /// The kernel forgot it, and it has left the table.
    void forget(const ObjectPtr& gone);
    ChangedBehind take();

 private:
    Lookout(Objects& objects, std::unique_ptr<sys::ChangeWatch> watch)
        : objects_(objects), watch_(std::move(watch)) {}
    void tell(const sys::ChangeWatch::Change& change, ChangedBehind& changed);

    Objects& objects_;
    std::unique_ptr<sys::ChangeWatch> watch_;
    std::mutex watching_;            // a directory is not watched again while it is given up
    std::atomic<bool> full_{false};  // there are as many watches as may be
};

}  // namespace unwrite::overlay
