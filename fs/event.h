// Event: a flag that threads can sleep on together with other descriptors. Once set it stays set
// until it is cleared.
#pragma once

#include "base/result.h"
#include "base/unique_fd.h"

namespace unwrite::fs {

class Event {
 public:
    static Result<Event> make();
    void set();  ///< async-signal-safe
    void clear();
    bool is_set() const;
    int fd() const { return fd_.get(); }  ///< readable when set

 private:
    explicit Event(UniqueFd fd) : fd_(std::move(fd)) {}
    UniqueFd fd_;
};

}  // namespace unwrite::fs
