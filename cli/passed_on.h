// Which signals the processes between `run` and its command hand on to it, and how long they wait
// for what it leaves behind.
#pragma once

#include <array>
#include <chrono>
#include <csignal>

namespace unwrite::cli {

inline constexpr std::array<int, 6> kPassedOn = {SIGINT, SIGQUIT, SIGTERM,
                                                 SIGHUP, SIGUSR1, SIGUSR2};
/// From asking processes to end to making them.
inline constexpr std::chrono::milliseconds kGrace(2000);
/// For process 1 of the namespaces to copy what was written in the home directory.
inline constexpr std::chrono::milliseconds kHandingOver(10000);

/// Those, and the end of a child.
inline sigset_t watched_signals() {
    sigset_t set;
    ::sigemptyset(&set);
    for (const int signal : kPassedOn)
        ::sigaddset(&set, signal);
    ::sigaddset(&set, SIGCHLD);
    return set;
}

}  // namespace unwrite::cli
