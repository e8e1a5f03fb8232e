// What a process is called, and which of its ancestors is an agent.
#pragma once

#include <sys/types.h>

#include <string>

namespace unwrite::cli {

/// The known agent that the process is ("claude"), else the name of its program; "process" when
/// there is no such process.
std::string process_name(pid_t pid);

/// The agent that started this process: the nearest ancestor that is the known agent `agent`, else
/// the nearest one that is not a shell. 0: there is none.
pid_t agent_above(const std::string& agent);

}  // namespace unwrite::cli
