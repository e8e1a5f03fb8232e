// Spare files: made ahead, without a name, in the directory of the deltas. To make a file takes a
// filesystem much longer than to name one, and the first write of an interval waits for two. They
// hold nothing, and are gone with their descriptors, also after a kill.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "base/syscalls.h"

namespace unwrite::journal {

/// Thread-safe.
class SpareFiles {
 public:
    /// `deltas` is the open directory, and outlives this.
    explicit SpareFiles(int deltas) : deltas_(deltas) {}

    /// Makes what is missing, for an interval and for a restore: in the background. Not being able
    /// to (no room, a filesystem that cannot) is no failure.
    void refill();
    bool is_full() const;
    /// The file `name`, open for reading and writing: what is there, or else a new one, which was
    /// a spare one where there is any.
    Result<UniqueFd> open(const std::string& name);

 private:
    UniqueFd take();

    const int deltas_;
    mutable std::mutex mutex_;     // guards all that follows
    std::vector<UniqueFd> spare_;  // open files
    bool cannot_ = false;          // the filesystem knows none without a name
};

}  // namespace unwrite::journal
