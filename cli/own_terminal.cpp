#include "cli/own_terminal.h"

#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <csignal>

#include "base/pseudo_terminal.h"
#include "base/syscalls.h"

namespace unwrite::cli {

OwnTerminal::OwnTerminal(UniqueFd relay) : relay_(std::move(relay)) {
    const pid_t front = ::tcgetpgrp(STDIN_FILENO);
    was_in_front_ = front < 0 || front == ::getpgrp();
}

Result<> OwnTerminal::take() {
    if (!is_wanted()) return {};
    TRY_ASSIGN(sys::PseudoTerminal terminal, sys::open_pseudo_terminal("/dev/ptmx"));
    const int slave = terminal.slave.get();
    struct termios settings = {};
    struct winsize size = {};
    // In the background it is set up for the keys of a shell.
    if (was_in_front_ && ::tcgetattr(STDIN_FILENO, &settings) == 0)
        ::tcsetattr(slave, TCSANOW, &settings);
    if (::ioctl(STDIN_FILENO, TIOCGWINSZ, &size) == 0) ::ioctl(slave, TIOCSWINSZ, &size);
    if (::setsid() < 0 || ::ioctl(slave, TIOCSCTTY, 0) != 0) return sys::last_error();
    // This process writes and arranges from the background of its own terminal.
    sigset_t set;
    ::sigemptyset(&set);
    ::sigaddset(&set, SIGTTOU);
    ::sigprocmask(SIG_BLOCK, &set, nullptr);
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        if (::isatty(stream) == 1 && ::dup2(slave, stream) < 0) return sys::last_error();
    }
    master_ = std::move(terminal.master);
    taken_ = true;
    return {};
}

void OwnTerminal::enter() const {
    if (!taken_) return;
    ::setpgid(0, 0);
    ::tcsetpgrp(STDIN_FILENO, ::getpid());
}

void OwnTerminal::hand_over(pid_t child) {
    if (!taken_) return;
    ::setpgid(child, child);
    ::tcsetpgrp(STDIN_FILENO, child);
    ignore(sys::send_descriptor(relay_.get(), kMade, master_.get()),
           "without the relay the run is at its end");
    master_.reset();
}

void OwnTerminal::stopped(pid_t child) const {
    if (!taken_) return;
    // If the relay is gone, nobody is left who could say that it is to go on.
    if (sys::send_descriptor(relay_.get(), kStopped))
        ignore(sys::receive_descriptor(relay_.get()), "at its end the command goes on, too");
    ::kill(-child, SIGCONT);
}

void OwnTerminal::ended() const {
    if (taken_) ::tcsetpgrp(STDIN_FILENO, ::getpgrp());
}

}  // namespace unwrite::cli
