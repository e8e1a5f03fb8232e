// OwnTerminal: the terminal that the command of a confined run gets in place of the user's. Process
// 1 makes it, leads its session, and hands the other end to TerminalRelay, which copies.
#pragma once

#include <sys/types.h>

#include "base/result.h"
#include "base/unique_fd.h"

namespace unwrite::cli {

/// What the two say to each other. To the relay: kMade with the master, kStopped. From it: kGoOn.
inline constexpr char kMade = 'm';
inline constexpr char kStopped = 's';
inline constexpr char kGoOn = 'g';

class OwnTerminal {
 public:
    /// `relay`: the socket to it. Without one the command keeps the streams that it has, and
    /// nothing here does anything. Made outside of the pid namespace of the run, where groups of
    /// processes have numbers to compare.
    explicit OwnTerminal(UniqueFd relay);

    bool is_wanted() const { return static_cast<bool>(relay_); }
    /// A new session for this process, with a new terminal (of the devpts that is in sight) that
    /// has the modes and the size of the old one. The standard streams that were a terminal are
    /// this one then.
    Result<> take();
    /// In a child of this process: it becomes a job of its own, in front.
    void enter() const;
    /// After the fork of that child. From here on the relay copies.
    void hand_over(pid_t child);
    /// The child was stopped. Returns when the user wants it to go on, and it goes on.
    void stopped(pid_t child) const;
    /// The child has ended. What is left of its jobs is not hung up on when this process ends.
    void ended() const;

 private:
    UniqueFd relay_;
    UniqueFd master_;
    bool was_in_front_ = true;
    bool taken_ = false;
};

}  // namespace unwrite::cli
