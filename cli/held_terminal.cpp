#include "cli/held_terminal.h"

#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "base/syscalls.h"

namespace unwrite::cli {

namespace {

/// While it lives, the terminal may be set up from the background.
class Unstopped {
 public:
    Unstopped() {
        sigset_t set;
        ::sigemptyset(&set);
        ::sigaddset(&set, SIGTTOU);
        ::sigprocmask(SIG_BLOCK, &set, &before_);
    }
    ~Unstopped() { ::sigprocmask(SIG_SETMASK, &before_, nullptr); }
    Unstopped(const Unstopped&) = delete;
    Unstopped& operator=(const Unstopped&) = delete;

 private:
    sigset_t before_ = {};
};

bool is_gone(pid_t group) {
    return ::kill(-group, 0) != 0 && sys::last_error().number() == ESRCH;
}

}  // namespace

HeldTerminal::HeldTerminal() {
    is_terminal_ = ::tcgetattr(STDIN_FILENO, &settings_) == 0;
    in_front_ = is_terminal_ && ::tcgetpgrp(STDIN_FILENO) == ::getpgrp();
}

void HeldTerminal::take_back() const {
    if (!in_front_) return;
    const Unstopped unstopped;
    const pid_t now = ::tcgetpgrp(STDIN_FILENO);
    if (now != ::getpgrp() &&
        (now <= 0 || !is_gone(now) || ::tcsetpgrp(STDIN_FILENO, ::getpgrp()) != 0))
        return;
    constexpr tcflag_t kLines = ICANON | ECHO | ISIG;
    struct termios left = {};
    if ((settings_.c_lflag & kLines) == kLines && ::tcgetattr(STDIN_FILENO, &left) == 0 &&
        (left.c_lflag & kLines) != kLines)
        ::tcsetattr(STDIN_FILENO, TCSADRAIN, &settings_);
}

}  // namespace unwrite::cli
