#include "cli/confine.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <thread>

#include "base/confinement.h"
#include "base/syscalls.h"
#include "cli/confine_view.h"
#include "cli/failure.h"
#include "cli/guard.h"
#include "cli/left_behind.h"
#include "cli/network/inside.h"
#include "cli/own_terminal.h"
#include "cli/passed_on.h"
#include "cli/text.h"

namespace unwrite::cli {

namespace {

constexpr std::chrono::milliseconds kLookAgain(200);
/// Nobody sees a program that goes on without its terminal, nor can end it.
constexpr std::chrono::seconds kAfterHangUp(5);
constexpr unsigned kNamespaces = CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC;
/// What root needs to unpack archives and to become somebody else. Not: going past permission bits.
constexpr std::uint64_t kKept = 1 << 0 /* CHOWN */ | 1 << 3 /* FOWNER */ | 1 << 4 /* FSETID */ |
                                1 << 5 /* KILL */ | 1 << 6 /* SETGID */ | 1 << 7 /* SETUID */;
/// Process 1 could not make the view; nothing has run.
constexpr int kNoView = -1;

int code_of(int status) {
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/// True when no child is left.
bool reap(unsigned& count) {
    for (;;) {
        const pid_t ended = ::waitpid(-1, nullptr, WNOHANG);
        if (ended == 0) return false;
        if (ended < 0 && sys::last_error().number() != EINTR) return true;
        if (ended > 0) ++count;
    }
}

/// Whatever is left in the pid namespace: asked to end, then made to by the end of its process 1.
unsigned end_all() {
    unsigned count = 0;
    unsigned before = 0;
    // "All" must mean those of the namespace, whatever else may be wrong.
    if (reap(before) || ::getpid() != 1) return 0;
    ::kill(-1, SIGTERM);
    const auto end = std::chrono::steady_clock::now() + kGrace;
    while (!reap(count) && std::chrono::steady_clock::now() < end)
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    if (!reap(count)) {
        ::kill(-1, SIGKILL);
        while (!reap(count))
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return count;
}

void say(const std::string& line) {
    fmt::print(stderr, "unwrite: {}\n", line);
}

std::string joined(const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words)
        text += (text.empty() ? "" : ", ") + word;
    return text;
}

/// The walls that a process carries itself, whatever it can see.
Result<> enter_walls(const Confinement& confinement, std::vector<std::string>& missing) {
    const std::uint64_t kept = ::geteuid() == 0 ? kKept : 0;
    if (!sys::keep_capabilities(kept)) missing.emplace_back("fewer capabilities");
    TRY(sys::forbid_new_privileges());
    if (!sys::forbid_typing()) missing.emplace_back("a terminal that it cannot type on");
    if (!sys::leave_keyrings()) missing.emplace_back("keyrings of its own");
    const Result<sys::WriteWall> wall = sys::WriteWall::create();
    if (!wall) {
        missing.emplace_back("Landlock (" + wall.error().message() + ")");
        return {};
    }
    // A network namespace of its own has none of others.
    if (confinement.network && !wall->covers_abstract_sockets())
        missing.emplace_back("abstract sockets out of reach (Landlock of Linux 6.12)");
    for (const GrantedPlace& place : writable_places(confinement)) {
        const Result<UniqueFd> opened = open_granted(place);
        const Result<> allowed = opened ? wall->allow(opened->get()) : opened.error();
        if (!allowed) {
            return allowed.error().with_context("cannot make " + quote_name(place.path) +
                                                " writable");
        }
    }
    return wall->enforce();
}

/// Never returns unless the command cannot be started: the exit code for that.
int execute(const std::vector<std::string>& command) {
    std::vector<char*> arguments;
    for (const std::string& word : command)
        arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::signal(SIGPIPE, SIG_DFL);
    ignore(sys::close_from(STDERR_FILENO + 1), "they are closed on exec as well");
    ::execvp(arguments[0], arguments.data());
    const Error failure = sys::last_error();
    fmt::print(stderr, "{}", failure_lines("run", not_started(command[0], failure.number())));
    return failure.number() == ENOENT ? 127 : 126;
}

/// Names what is missing; true when the command may run all the same.
bool may_run(const Confinement& confinement, const std::vector<std::string>& missing) {
    if (missing.empty()) return true;
    say((confinement.required ? "run: this machine lacks "
                              : "the command is confined less than it could be; missing: ") +
        joined(missing));
    if (confinement.required) say("nothing was run, because of --require-confinement");
    return !confinement.required;
}

[[noreturn]] void be_command(const Confinement& confinement, std::vector<std::string> missing,
                             const std::vector<std::string>& command) {
    const Result<> walls = enter_walls(confinement, missing);
    if (!walls) missing.push_back("walls (" + walls.error().message() + ")");
    if (!may_run(confinement, missing)) ::_exit(4);
    ::_exit(execute(command));
}

/// True when the process at the other end of the pipe has gone.
bool is_alone(int report) {
    struct pollfd watched = {report, 0, 0};
    return report >= 0 && ::poll(&watched, 1, 0) == 1 && (watched.revents & POLLERR) != 0;
}

/// Whether the process was started so that it outlives its terminal, as nohup(1) does it.
bool ignores_hang_up(pid_t pid) {
    const Result<std::string> status =
        sys::read_file_at(AT_FDCWD, fmt::format("/proc/{}/status", pid));
    const std::size_t at = status ? status->find("\nSigIgn:") : std::string::npos;
    if (at == std::string::npos) return true;
    const std::uint64_t ignored = std::strtoull(status->c_str() + at + 8, nullptr, 16);
    return (ignored & (std::uint64_t{1} << (SIGHUP - 1))) != 0;
}

/// Waits for `child`, collecting all others that end, and hands it the signals that were sent to
/// this process; those of the terminal reach it without help, but for the end of its terminal,
/// which the kernel tells the leader of the session. Does not wait any longer when nobody reads
/// `report` (-1: there is none), and not for long when the terminal has gone.
int wait_passing_signals(pid_t child, const OwnTerminal& terminal, int report) {
    const sigset_t set = watched_signals();
    const int changes = WNOHANG | (terminal.is_wanted() ? WUNTRACED : 0);
    std::optional<std::chrono::steady_clock::time_point> end;
    for (;;) {
        int status = 0;
        for (pid_t changed = 1; changed > 0;) {
            changed = ::waitpid(-1, &status, changes);
            if (changed != child) continue;
            if (!WIFSTOPPED(status)) return code_of(status);
            terminal.stopped(child);
        }
        if (end && std::chrono::steady_clock::now() >= *end) return 128 + SIGHUP;
        siginfo_t info = {};
        const struct timespec some_time = {1, 0};
        const int signal =
            end ? ::sigtimedwait(&set, &info, &some_time) : ::sigwaitinfo(&set, &info);
        if (signal <= 0 || signal == SIGCHLD) continue;
        if (signal == SIGTERM && is_alone(report)) return 128 + SIGKILL;
        if (signal == SIGTERM && report >= 0 && ::getpid() == 1) {
            // Whoever wants a run to end means all of it. An agent is often started by a program
            // that heeds no signal and waits for it.
            ::kill(-1, signal);
            continue;
        }
        const bool is_hang_up = signal == SIGHUP && terminal.is_wanted();
        if (info.si_code <= 0 || is_hang_up) ::kill(child, signal);
        if (is_hang_up && info.si_code > 0 && !ignores_hang_up(child))
            end = std::chrono::steady_clock::now() + kAfterHangUp;
    }
}

/// Starts the command on its terminal and waits for it: its exit code. `report`: as above.
int run_and_wait(const Confinement& confinement, std::vector<std::string> missing,
                 OwnTerminal& terminal, const std::vector<std::string>& command, int report = -1) {
    const Result<> taken = terminal.take();
    if (!taken) missing.push_back("a terminal of its own (" + taken.error().message() + ")");
    const pid_t child = ::fork();
    if (child < 0) return 126;
    if (child == 0) {
        terminal.enter();
        be_command(confinement, std::move(missing), command);
    }
    terminal.hand_over(child);
    const int code = wait_passing_signals(child, terminal, report);
    terminal.ended();
    return code;
}

/// From process 1 to the one that waits outside: an exit code, or kNoView and why.
void report_code(int report, int code, const std::string& why = {}) {
    std::string text(reinterpret_cast<const char*>(&code), sizeof code);
    text += why;
    // A pipe takes so little at once; who no longer listens needs no answer.
    if (::write(report, text.data(), text.size()) < 0) ::_exit(1);
}

std::string read_report(int report) {
    std::string text;
    char piece[512];
    for (;;) {
        const ssize_t got = ::read(report, piece, sizeof piece);
        if (got < 0 && sys::last_error().number() == EINTR) continue;
        if (got <= 0) return text;
        text.append(piece, static_cast<std::size_t>(got));
    }
}

struct Pipe {
    UniqueFd out;
    UniqueFd in;
};

Result<Pipe> make_pipe() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return sys::last_error();
    return Pipe{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

/// In the namespaces: the machine itself, and the proxy of the run where there is one.
Result<> enter_network(const Confinement& confinement) {
    if (confinement.network) return {};
    TRY(sys::bring_up_loopback());
    if (confinement.channel < 0) return {};
    const UniqueFd channel(confinement.channel);
    TRY_ASSIGN(const auto variables, offer_network(channel.get(), confinement.forwards));
    for (const auto& [name, value] : variables)
        ::setenv(name.c_str(), value.c_str(), 1);
    return {};
}

/// Process 1 of the namespaces.
[[noreturn]] void be_first(const Confinement& confinement, OwnTerminal& terminal,
                           const std::vector<std::string>& command, int go, int report) {
    char ready = 0;
    if (::read(go, &ready, 1) != 1) ::_exit(1);
    // What runs inside looks into nobody who still has capabilities.
    ::prctl(PR_SET_DUMPABLE, 0);
    // Not SIGKILL: what the command has written in the home directory is to be handed over first.
    if (!confinement.leave_running) ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    const std::string here = std::filesystem::current_path().string();
    std::vector<std::string> missing;
    const Result<HomeLayer> home = make_view(confinement, missing);
    Result<> view = home ? Result<>() : home.error();
    if (view) view = enter_network(confinement);
    if (view && ::chdir(here.c_str()) != 0)
        view = sys::last_error().with_context("cannot enter " + here);
    if (!view) {
        report_code(report, kNoView, view.error().message());
        ::_exit(1);
    }
    ::setenv("TMPDIR", "/tmp", 1);
    Confinement inside = confinement;
    inside.home = home->view();
    const int code = run_and_wait(inside, std::move(missing), terminal, command,
                                  confinement.leave_running ? -1 : report);
    if (!confinement.leave_running) {
        const unsigned left = end_all();
        if (left > 0) {
            say("ended " + counted(left, "process", "processes") +
                " that the command had left running");
        }
    }
    const std::string left =
        confinement.leave_running ? "" : left_behind_words({"/tmp", "/var/tmp", "/dev/shm"});
    if (!left.empty()) say(left);
    const Result<> handed = home->hand_over();
    if (!handed) say("what was written in the home directory is lost: " + handed.error().message());
    report_code(report, code);
    UniqueFd(report).reset();
    // Those that may go on need a process 1 for as long as they live.
    unsigned ended = 0;
    while (!reap(ended))
        std::this_thread::sleep_for(kLookAgain);
    ::_exit(0);
}

/// Waits for the report of process 1 and hands it the signals that were sent to this process.
std::string wait_for_report(pid_t first, int report) {
    const sigset_t set = watched_signals();
    const UniqueFd signals(::signalfd(-1, &set, SFD_CLOEXEC));
    for (;;) {
        struct pollfd watched[2] = {{report, POLLIN, 0}, {signals.get(), POLLIN, 0}};
        if (::poll(watched, 2, -1) < 0) continue;
        if (watched[0].revents != 0) return read_report(report);
        struct signalfd_siginfo info = {};
        if (::read(signals.get(), &info, sizeof info) != sizeof info) continue;
        if (info.ssi_signo != SIGCHLD && info.ssi_code <= 0) {
            ::kill(first, static_cast<int>(info.ssi_signo));
        }
    }
}

struct Attempt {
    bool ran = false;
    int code = 0;
    std::string why;  ///< nothing ran: for what reason
};

Result<Attempt> in_namespaces(const Confinement& confinement, OwnTerminal& terminal,
                              const std::vector<std::string>& command) {
    TRY_ASSIGN(Pipe go, make_pipe());
    TRY_ASSIGN(Pipe report, make_pipe());
    const unsigned wanted = kNamespaces | (confinement.network ? 0 : CLONE_NEWNET);
    Result<pid_t> first = sys::fork_into(wanted);
    bool has_users = true;
    if (!first && ::geteuid() == 0) {
        has_users = false;
        first = sys::fork_into(wanted & ~static_cast<unsigned>(CLONE_NEWUSER));
    }
    if (!first) return Attempt{false, 0, "namespaces (" + first.error().message() + ")"};
    if (*first == 0) {
        go.in.reset();
        report.out.reset();
        be_first(confinement, terminal, command, go.out.get(), report.in.release());
    }
    report.in.reset();
    UniqueFd(confinement.channel).reset();
    const Result<> mapped = has_users ? sys::map_users(*first) : Result<>();
    // Without the word to go process 1 ends.
    if (mapped && ::write(go.in.get(), "g", 1) != 1) return sys::last_error();
    go.in.reset();
    const std::string text = wait_for_report(*first, report.out.get());
    int code = 128 + SIGKILL;
    if (text.size() >= sizeof code) std::memcpy(&code, text.data(), sizeof code);
    if (!confinement.leave_running || code == kNoView) ::waitpid(*first, nullptr, 0);
    if (!mapped) return Attempt{false, 0, "users (" + mapped.error().message() + ")"};
    if (code == kNoView) return Attempt{false, 0, "mounts (" + text.substr(sizeof code) + ")"};
    return Attempt{true, code, {}};
}

}  // namespace

Result<int> run_confined(const Confinement& confinement, const std::vector<std::string>& command) {
    const sigset_t set = watched_signals();
    ::sigprocmask(SIG_BLOCK, &set, nullptr);
    if (confinement.relay >= 0) {
        ::fcntl(confinement.relay, F_SETFD, FD_CLOEXEC);
        // Ctrl-Z is for the command; this process waits for it.
        sigset_t stop;
        ::sigemptyset(&stop);
        ::sigaddset(&stop, SIGTSTP);
        ::sigprocmask(SIG_BLOCK, &stop, nullptr);
    }
    if (confinement.channel >= 0) ::fcntl(confinement.channel, F_SETFD, FD_CLOEXEC);
    OwnTerminal terminal{UniqueFd(confinement.relay)};
    TRY_ASSIGN(const Attempt attempt, in_namespaces(confinement, terminal, command));
    if (attempt.ran) return attempt.code;
    if (!confinement.home.shown.empty()) {
        return Error(ErrorKind::kRefused, EPERM,
                     "run: the home directory cannot be hidden on this machine: " + attempt.why,
                     "leave out --hide-home, and the command can read it");
    }
    if (!confinement.network) {
        return Error(ErrorKind::kRefused, EPERM,
                     "run: the network cannot be taken away on this machine: " + attempt.why,
                     "`unwrite run --network host` runs it with the network");
    }
    Confinement inside = confinement;
    inside.home = without_layer(inside.home);
    return run_and_wait(inside, {attempt.why}, terminal, command);
}

}  // namespace unwrite::cli
