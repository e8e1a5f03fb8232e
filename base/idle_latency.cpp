#include "base/idle_latency.h"

#include <fcntl.h>

#include <cstdint>

#include "base/syscalls.h"

namespace unwrite::sys {

namespace {

// In microseconds; the second is what stands for no wish at all (linux/pm_qos.h).
constexpr std::int32_t kNone = 0;
constexpr std::int32_t kAny = 2'000'000'000;

Result<> ask(int device, std::int32_t latency) {
    return write_all_at(device, std::as_bytes(std::span(&latency, 1)), 0);
}

}  // namespace

Result<IdleLatency> IdleLatency::open(const std::string& device) {
    TRY_ASSIGN(UniqueFd fd, open_at(AT_FDCWD, device, O_WRONLY));
    return IdleLatency(std::move(fd));
}

Result<> IdleLatency::hold() {
    return ask(device_.get(), kNone);
}

Result<> IdleLatency::release() {
    return ask(device_.get(), kAny);
}

std::string idle_driver() {
    std::string name =
        read_file_at(AT_FDCWD, "/sys/devices/system/cpu/cpuidle/current_driver").value_or("");
    while (!name.empty() && name.back() == '\n')
        name.pop_back();
    return name == "none" ? std::string() : name;
}

}  // namespace unwrite::sys
