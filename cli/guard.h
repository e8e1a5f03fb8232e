// Guard: the process between `unwrite run` and its command. It is what the daemon knows as the
// agent's: a subreaper, so that whatever the command leaves behind stays below it, and counts as
// the agent's for as long as it lives.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace unwrite::cli {

struct GuardOptions {
    std::vector<std::string> command;
    bool leave_running = false;  ///< let processes that outlive the command go on, as the user's
    std::vector<int> kept{};     ///< descriptors that the command inherits, and nobody else keeps
    /// Variables that the command gets, where they are not set.
    std::vector<std::pair<std::string, std::string>> environment{};
    /// Called in the guard when everything has ended and this process, which would do it, is gone.
    std::function<void()> orphaned{};
    /// Variables that the command gets in place of those that are set.
    std::vector<std::pair<std::string, std::string>> replaced{};
};

/// How the command ended.
struct Ended {
    int exec_failure = 0;    ///< errno when it could not be started (then nothing else counts)
    int status = 0;          ///< as waitpid(2) has it
    unsigned leftovers = 0;  ///< processes that it left behind and that were ended
};

/// What a shell would return: the exit code, 128 + signal, 126 or 127.
int exit_code_of(const Ended& ended);

/// Why a command could not be started, and what to do.
Error not_started(const std::string& command, int number);

class Guard {
 public:
    /// Forks the guard, which waits until start(). This process must have one thread.
    static Result<Guard> fork(GuardOptions options);
    Guard(Guard&&) = default;
    Guard& operator=(Guard&&) = default;
    /// A guard that was not started ends without having run anything.
    ~Guard();

    pid_t pid() const { return pid_; }
    /// Runs the command in `directory` with UNWRITE_SESSION=`session`, passes signals on to it, and
    /// waits for it. `from_terminal` is told of those that the terminal sent to this process.
    Result<Ended> run(const std::string& directory, const std::string& session,
                      const std::function<void(int)>& from_terminal = {});

 private:
    Guard() = default;
    pid_t pid_ = -1;
    bool leave_running_ = false;
    sigset_t before_ = {};  ///< the signals that were blocked before the fork
    UniqueFd orders_;       ///< to the guard: directory and session
    UniqueFd outcome_;      ///< from the guard: an Ended
};

}  // namespace unwrite::cli
