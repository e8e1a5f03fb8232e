// Who is at the other end of the socket: the kernel's word for it, and whether it descends from an
// agent.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace unwrite::control {

struct Peer {
    pid_t pid = 0;  ///< 0: in a process namespace that this process does not see
    uid_t uid = 0;
};

/// SO_PEERCRED of a connected Unix socket.
Result<Peer> peer_of(int socket);
/// Whether the process that connected has ended (SO_PEERPIDFD): then its number may be somebody
/// else's. Where the kernel cannot tell it has not.
bool has_peer_ended(int socket);

/// A process for as long as it lives: its number, and when it began (numbers are used again).
struct Process {
    pid_t pid = 0;
    pid_t parent = 0;
    std::uint64_t start = 0;  ///< in clock ticks since boot
    bool ended = false;       ///< its parent has only not asked for its status yet
};
/// From /proc; ENOENT when there is no such process.
Result<Process> read_process(pid_t pid);

/// A process that can be made an agent, held by a descriptor that no later process answers to.
struct Held {
    Process process;
    UniqueFd pidfd;  ///< readable when the process has ended
};
/// Errors: kNotFound when there is no such process; kRefused when it is not `user`'s (root may hold
/// any), cannot be one (this process, the first one), or when `asker` counts processes differently.
Result<Held> hold(pid_t pid, const Peer& asker);

/// The processes that runs were begun for. They and all their descendants are agents. Thread-safe.
class Agents {
 public:
    /// `guard` is the process below which the agent lives; `starter` the one that began the run and
    /// may end it. kRefused unless `guard` is a child of `starter`, and was not adopted. Refused to
    /// a starter in a pid namespace of its own, which can only have guessed the number of `guard`.
    Result<> check_new(pid_t guard, pid_t starter);
    Result<> add(std::uint64_t run, pid_t guard, pid_t starter);
    /// The same for a process that exists already; nobody but the user may end the run, and the
    /// process stays an agent until remove().
    void adopt(std::uint64_t run, const Process& process);
    /// The run for which exactly this process was adopted.
    std::optional<std::uint64_t> adopted(const Process& process);
    /// True when `asker` began this run. Forgets the run.
    bool remove(std::uint64_t run, pid_t asker, bool is_user);
    /// Whether `pid` is or descends from an agent. While any run has not been ended, a process
    /// whose ancestry cannot be told counts as one, and so does what a guard has left that ended
    /// before its run: the other children of the starter, and everything in a pid namespace.
    bool is_agent(pid_t pid);
    /// Whether there is a run that has not been ended.
    bool any();
    /// The runs whose guard is alive.
    std::vector<std::uint64_t> living();
    /// Those that nobody ends any more, for guard and starter are gone; each once. Not adopted
    /// ones.
    std::vector<std::uint64_t> take_abandoned();
    /// The run that `pid` belongs to; nothing when it is none's, or cannot be told.
    std::optional<std::uint64_t> run_of(pid_t pid);

 private:
    struct Run {
        std::uint64_t number = 0;
        Process guard;
        Process starter;  ///< pid 0: the process was adopted
    };
    std::mutex mutex_;
    std::vector<Run> runs_;  ///< guarded by mutex_
};

}  // namespace unwrite::control
