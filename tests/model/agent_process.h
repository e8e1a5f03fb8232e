// AgentProcess: a child that only waits, so that its pid can be registered as an agent's.
#pragma once

#include <sys/types.h>

namespace unwrite::tests {

class AgentProcess {
 public:
    AgentProcess();
    ~AgentProcess();
    AgentProcess(const AgentProcess&) = delete;
    AgentProcess& operator=(const AgentProcess&) = delete;
    pid_t pid() const { return pid_; }

 private:
    pid_t pid_;
};

}  // namespace unwrite::tests
