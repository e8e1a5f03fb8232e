// The terminal of `run`, lent to its command and taken back when that has ended.
#pragma once

#include <sys/types.h>
#include <termios.h>

namespace unwrite::cli {

/// Remembers how the terminal on stdin is, and whether this process is in its foreground.
class HeldTerminal {
 public:
    HeldTerminal();
    /// A shell with job control takes the foreground, and may end without giving it back: whoever
    /// reads next is stopped (SIGTTIN). It is taken only from a process group that is gone; while
    /// somebody is there, this process is in the background because the user put it there. What
    /// a killed program left of its settings (no echo, no lines) goes as well.
    void take_back() const;

 private:
    bool is_terminal_ = false;
    bool in_front_ = false;
    struct termios settings_ = {};
};

}  // namespace unwrite::cli
