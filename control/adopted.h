// Adopted: the processes that were made agents while they were running. A thread waits for their
// ends; then what they changed last becomes a step. Thread-safe.
#pragma once

#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "base/unique_fd.h"
#include "control/peer.h"

namespace unwrite::control {

class Adopted {
 public:
    /// Called in the thread, with no lock held, once for each process that has ended; `last`: no
    /// other one is left.
    using Gone = std::function<void(const Process& process, bool last)>;

    explicit Adopted(Gone gone) : gone_(std::move(gone)) {}
    /// Waits for a call that is under way.
    ~Adopted();
    Adopted(const Adopted&) = delete;
    Adopted& operator=(const Adopted&) = delete;

    /// Starts the thread with the first one. Errors: kSystem.
    Result<> watch(Held held);

 private:
    void wait();
    void wake() const;

    const Gone gone_;
    std::mutex mutex_;
    std::vector<Held> watched_;  ///< guarded by mutex_
    bool ends_ = false;          ///< guarded by mutex_
    UniqueFd wake_;              ///< an eventfd: look again; made before the thread
    std::thread thread_;
};

}  // namespace unwrite::control
