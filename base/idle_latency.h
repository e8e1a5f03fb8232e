// IdleLatency: keeps idle processors awake, so that a thread is woken on one at once (a request of
// the kernel's PM QoS, through /dev/cpu_dma_latency). They wait in a loop instead of sleeping, all
// of them in the machine; who runs is not held up. It ends with this object, and with the process.
#pragma once

#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace unwrite::sys {

/// One thread at a time.
class IdleLatency {
 public:
    static constexpr const char* kDevice = "/dev/cpu_dma_latency";

    /// Nothing is asked for yet. EACCES for who may not (the device is root's, unless a rule of
    /// udev gives it to others), ENOENT where there is none, as in many containers. Tests name
    /// another file.
    static Result<IdleLatency> open(const std::string& device = kDevice);

    Result<> hold();
    Result<> release();

 private:
    explicit IdleLatency(UniqueFd device) : device_(std::move(device)) {}
    UniqueFd device_;
};

/// What puts this machine's idle processors to sleep: "intel_idle", or "haltpoll" in a guest of
/// KVM, where falling asleep and waking up are the host's work. Empty when the kernel says nothing.
std::string idle_driver();

}  // namespace unwrite::sys
