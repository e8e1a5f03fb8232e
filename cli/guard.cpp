#include "cli/guard.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <set>
#include <thread>

#include "base/syscalls.h"
#include "cli/held_terminal.h"
#include "cli/passed_on.h"
#include "cli/text.h"
#include "control/peer.h"

namespace unwrite::cli {

namespace {

/// Waits for the child `pid` and hands it the signals that were sent to this process alone. Those
/// that the terminal sends reach the child without help. SIGKILL when `parent` has ended before
/// (0: nobody looks).
int wait_passing_signals(pid_t pid, pid_t parent,
                         const std::function<void(int)>& from_terminal = {}) {
    const sigset_t set = watched_signals();
    for (;;) {
        int status = 0;
        const pid_t ended = ::waitpid(pid, &status, WNOHANG);
        if (ended == pid) return status;
        if (parent != 0 && ::getppid() != parent) return SIGKILL;
        if (ended < 0 && sys::last_error().number() != EINTR) return 0;
        siginfo_t info = {};
        const int signal = ::sigwaitinfo(&set, &info);
        if (signal <= 0 || signal == SIGCHLD) continue;
        if (info.si_code <= 0) ::kill(pid, signal);
        if (info.si_code > 0 && from_terminal) from_terminal(signal);
    }
}

/// What the terminal sent while the command ran was for the command; from here on it is for this
/// process again.
void restore_signals(const sigset_t& before) {
    const sigset_t set = watched_signals();
    const struct timespec now = {0, 0};
    while (::sigtimedwait(&set, nullptr, &now) > 0) {
    }
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
}

bool read_exactly(int fd, void* into, std::size_t size) {
    char* at = static_cast<char*>(into);
    while (size > 0) {
        const ssize_t got = ::read(fd, at, size);
        if (got < 0 && sys::last_error().number() == EINTR) continue;
        if (got <= 0) return false;
        at += got;
        size -= static_cast<std::size_t>(got);
    }
    return true;
}

bool write_exactly(int fd, const void* from, std::size_t size) {
    return ::write(fd, from, size) == static_cast<ssize_t>(size);
}

std::optional<std::string> read_text(int fd) {
    std::uint32_t size = 0;
    if (!read_exactly(fd, &size, sizeof size) || size > 65536) return std::nullopt;
    std::string text(size, '\0');
    if (!read_exactly(fd, text.data(), size)) return std::nullopt;
    return text;
}

bool write_text(int fd, const std::string& text) {
    const std::uint32_t size = static_cast<std::uint32_t>(text.size());
    return write_exactly(fd, &size, sizeof size) && write_exactly(fd, text.data(), text.size());
}

[[noreturn]] void execute(const GuardOptions& options, const std::string& directory, pid_t guard,
                          int failure) {
    std::vector<char*> arguments;
    for (const std::string& word : options.command)
        arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    // With process 1 of its namespaces everything in them ends.
    if (!options.leave_running) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (::getppid() != guard) ::_exit(1);
    }
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::signal(SIGPIPE, SIG_DFL);
    // Nothing is inherited but the standard streams: a descriptor of the raw directory would get
    // past the mount.
    ::close_range(STDERR_FILENO + 1, ~0u, CLOSE_RANGE_CLOEXEC);
    for (const int kept : options.kept)
        ::fcntl(kept, F_SETFD, 0);
    int number = 0;
    if (::chdir(directory.c_str()) == 0) ::execvp(arguments[0], arguments.data());
    number = sys::last_error().number();
    ignore(Result<>(write_exactly(failure, &number, sizeof number) ? Result<>() : Error(EIO)),
           "it is gone");
    ::_exit(127);
}

/// Process 1 of the namespaces of a run ends by itself when nothing runs in them any more, and
/// before that hands over what was written in the home directory.
bool is_first_of_namespace(pid_t pid) {
    const Result<std::string> status =
        sys::read_file_at(AT_FDCWD, fmt::format("/proc/{}/status", pid));
    const std::size_t at = status ? status->find("\nNSpid:") : std::string::npos;
    return at != std::string::npos &&
           std::string_view(*status).substr(0, status->find('\n', at + 1)).ends_with("\t1");
}

std::set<pid_t> descendants() {
    std::set<pid_t> found;
    const Result<UniqueFd> proc = sys::open_at(AT_FDCWD, "/proc", O_RDONLY | O_DIRECTORY);
    if (!proc) return found;
    const Result<std::vector<sys::DirectoryEntry>> entries = sys::read_directory(proc->get());
    for (std::size_t before = ~std::size_t{0}; entries && before != found.size();) {
        before = found.size();
        for (const sys::DirectoryEntry& entry : *entries) {
            const Result<control::Process> process =
                control::read_process(std::atoi(entry.name.c_str()));
            const bool below =
                process && (process->parent == ::getpid() || found.contains(process->parent));
            if (below) found.insert(process->pid);
        }
    }
    return found;
}

/// True when no child is left; collects those that have ended.
bool reap() {
    for (;;) {
        const pid_t ended = ::waitpid(-1, nullptr, WNOHANG);
        if (ended == 0) return false;
        if (ended < 0 && sys::last_error().number() != EINTR) return true;
    }
}

/// An agent that outlives its run would count as the user.
unsigned end_leftovers() {
    struct Attempt {
        int signal;
        bool spares_first;
        std::chrono::milliseconds grace;
    };
    unsigned ended = 0;
    for (const Attempt attempt : {Attempt{SIGTERM, false, kGrace},
                                  {SIGKILL, true, kGrace + kHandingOver},
                                  {SIGKILL, false, kGrace}}) {
        const auto begin = std::chrono::steady_clock::now();
        if (reap()) break;
        const std::set<pid_t> all = descendants();
        ended = std::max(ended, static_cast<unsigned>(all.size()));
        for (const pid_t pid : all)
            if (!attempt.spares_first || !is_first_of_namespace(pid)) ::kill(pid, attempt.signal);
        while (!reap() && std::chrono::steady_clock::now() - begin < attempt.grace) {
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
    }
    return ended;
}

// Nobody would end the command, nor ask what becomes of its changes: so it ends when the process
// that typed it is killed, and that process ends what is left when the guard is (Guard::run).
[[noreturn]] void guard(const GuardOptions& options, pid_t parent, int orders, int outcome) {
    const HeldTerminal terminal;
    if (!options.leave_running) ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    const std::optional<std::string> directory = read_text(orders);
    const std::optional<std::string> session = read_text(orders);
    if (!directory || !session) ::_exit(1);
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    ::setenv("UNWRITE_SESSION", session->c_str(), 1);
    ::setenv("PWD", directory->c_str(), 1);
    for (const auto& [name, value] : options.environment)
        ::setenv(name.c_str(), value.c_str(), 0);
    for (const auto& [name, value] : options.replaced)
        ::setenv(name.c_str(), value.c_str(), 1);
    Ended ended;
    int failure[2];
    if (::pipe2(failure, O_CLOEXEC) != 0) ::_exit(1);
    const pid_t self = ::getpid();
    const pid_t command = ::fork();
    if (command == 0) execute(options, *directory, self, failure[1]);
    if (command < 0) ended.exec_failure = sys::last_error().number();
    // Without this end of its own the pipe ends when the command has begun.
    UniqueFd(failure[1]).reset();
    for (const int kept : options.kept)
        UniqueFd(kept).reset();
    if (command > 0) {
        if (!read_exactly(failure[0], &ended.exec_failure, sizeof ended.exec_failure))
            ended.exec_failure = 0;
        ended.status = wait_passing_signals(command, options.leave_running ? 0 : parent);
    }
    // Who copied keys to the command can no longer set the terminal right.
    if (::getppid() != parent) terminal.take_back();
    if (!options.leave_running) ended.leftovers = end_leftovers();
    if (::getppid() != parent && options.orphaned) options.orphaned();
    ::_exit(write_exactly(outcome, &ended, sizeof ended) ? 0 : 1);
}

}  // namespace

int exit_code_of(const Ended& ended) {
    if (ended.exec_failure == ENOENT) return 127;
    if (ended.exec_failure != 0) return 126;
    if (WIFSIGNALED(ended.status)) return 128 + WTERMSIG(ended.status);
    return WEXITSTATUS(ended.status);
}

Error not_started(const std::string& command, int number) {
    std::string advice = "`unwrite run -- sh -c COMMAND` runs what a shell understands";
    if (number == ENOENT) advice = "check the spelling; only your shell knows your aliases";
    if (number == EACCES) advice = "if it is a program, `chmod +x` makes it executable";
    if (number == ENOEXEC) advice = "a script begins with a line such as #!/bin/sh";
    return Error(ErrorKind::kSystem, number,
                 "run " + quote_name(command) + ": " + Error(number).message(), advice);
}

Result<Guard> Guard::fork(GuardOptions options) {
    int orders[2];
    int outcome[2];
    if (::pipe2(orders, O_CLOEXEC) != 0) return sys::last_error();
    const UniqueFd reading(orders[0]);
    Guard guarded;
    guarded.orders_ = UniqueFd(orders[1]);
    if (::pipe2(outcome, O_CLOEXEC) != 0) return sys::last_error();
    guarded.outcome_ = UniqueFd(outcome[0]);
    const UniqueFd writing(outcome[1]);
    guarded.leave_running_ = options.leave_running;
    const sigset_t set = watched_signals();
    ::sigprocmask(SIG_BLOCK, &set, &guarded.before_);
    const pid_t self = ::getpid();
    // What a guard leaves that is killed comes to this process.
    if (!options.leave_running) ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    guarded.pid_ = ::fork();
    if (guarded.pid_ < 0) return sys::last_error().with_context("run");
    if (guarded.pid_ == 0) {
        guarded.orders_.reset();
        guarded.outcome_.reset();
        guard(options, self, reading.get(), writing.get());
    }
    return guarded;
}

Guard::~Guard() {
    if (!orders_) return;
    orders_.reset();
    if (pid_ > 0) ::waitpid(pid_, nullptr, 0);
}

Result<Ended> Guard::run(const std::string& directory, const std::string& session,
                         const std::function<void(int)>& from_terminal) {
    if (!write_text(orders_.get(), directory) || !write_text(orders_.get(), session)) {
        return Error(ErrorKind::kSystem, EPIPE, "run: the guard process is gone");
    }
    const int status = wait_passing_signals(pid_, 0, from_terminal);
    orders_.reset();
    Ended ended;
    const bool told = read_exactly(outcome_.get(), &ended, sizeof ended);
    if (!told && !leave_running_) end_leftovers();
    restore_signals(before_);
    if (told) return ended;
    return Error(ErrorKind::kSystem, EIO,
                 fmt::format("run: the guard process was ended (status {})", status));
}

}  // namespace unwrite::cli
