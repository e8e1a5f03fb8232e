// WriteHold: keeps other processes from reading and writing some files for a moment, also those
// that have them open already. The kernel asks before each access (fanotify(7), pre-content
// events; since Linux 6.14, for root), and gets no answer until the moment is over. What it does
// not ask for: loads and stores through a mapping that is there (it asks when one is made).
//
// Between two holds a watched file costs its writers some 0.1 us an access. When this process
// dies, whoever waits goes on.
//
// Thread-safe.
#pragma once

#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace unwrite::sys {

class WriteHold {
 public:
    /// `directory`: on the filesystem of the files. ENOTSUP on a kernel without it, EPERM for who
    /// may not ask for it, EOPNOTSUPP on a filesystem that has it not (tmpfs). A process may fork
    /// between this and the first watch().
    static Result<std::unique_ptr<WriteHold>> start(int directory);
    ~WriteHold();
    WriteHold(const WriteHold&) = delete;
    WriteHold& operator=(const WriteHold&) = delete;

    /// `fd` may be a path. Who opens the regular file from now on can be held. EOPNOTSUPP on
    /// another filesystem that has it not. A second call for the same file changes nothing.
    Result<> watch(int fd);
    void unwatch(int fd);

    /// Who accesses one of these, all watched, waits from now on until release(). This process
    /// never does. An access that has begun may still end.
    void hold(const std::vector<int>& fds);
    void release(const std::vector<int>& fds);

 private:
    WriteHold() = default;
    void live();
    bool take_events();
    void answer_all();
    void answer(int event_fd);

    UniqueFd group_;
    UniqueFd stop_;  // an eventfd
    std::once_flag started_;
    std::thread thread_;
    std::mutex mutex_;
    bool holding_ = false;         // guarded by mutex_
    std::vector<UniqueFd> waits_;  // guarded by mutex_; of events without an answer
};

}  // namespace unwrite::sys
