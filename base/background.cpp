#include "base/background.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace unwrite {

namespace {

constexpr int kLeastPriority = 19;
// linux/ioprio.h, which is younger than the oldest system supported.
constexpr int kOfProcess = 1;
constexpr int kIdleClass = 3;
constexpr int kClassShift = 13;

}  // namespace

// Not SCHED_IDLE: a thread of that class that is inside the filesystem may hold what others need,
// for as long as anybody at all wants the processor.
void become_background() {
    static_cast<void>(::setpriority(PRIO_PROCESS, 0, kLeastPriority));
    static_cast<void>(::syscall(SYS_ioprio_set, kOfProcess, 0, kIdleClass << kClassShift));
}

}  // namespace unwrite
