#include "control/peer.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <string>

#include "base/syscalls.h"

namespace unwrite::control {

namespace {

/// More generations than any process has.
constexpr int kMaxAncestors = 4096;

template <class Number>
Number number_at(std::string_view text, std::size_t field) {
    for (; field > 0; --field) {
        const std::size_t space = text.find(' ');
        if (space == std::string_view::npos) return 0;
        text.remove_prefix(space + 1);
    }
    Number value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

bool is_same(const Process& one, const Process& other) {
    return one.pid == other.pid && one.start == other.start;
}

/// One number for each namespace that the process is in.
bool is_nested(pid_t pid) {
    const auto text = sys::read_file_at(AT_FDCWD, "/proc/" + std::to_string(pid) + "/status");
    constexpr std::string_view kLabel = "\nNSpid:\t";
    const std::size_t at = text ? text->find(kLabel) : std::string::npos;
    if (at == std::string::npos) return false;
    const std::string_view rest = std::string_view(*text).substr(at + kLabel.size());
    return rest.substr(0, rest.find('\n')).find('\t') != std::string_view::npos;
}

bool is_alive(const Process& process) {
    const Result<Process> now = read_process(process.pid);
    return now && !now->ended && is_same(*now, process);
}

}  // namespace

Result<Peer> peer_of(int socket) {
    struct ucred credentials = {};
    socklen_t length = sizeof credentials;
    if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0) {
        return sys::last_error();
    }
    return Peer{credentials.pid, credentials.uid};
}

bool has_peer_ended(int socket) {
    int number = -1;
    socklen_t length = sizeof number;
    constexpr int kPeerPidfd = 77;  // SO_PEERPIDFD, newer than the oldest headers supported
    if (::getsockopt(socket, SOL_SOCKET, kPeerPidfd, &number, &length) != 0)
        return sys::last_error().number() == ESRCH;
    const UniqueFd pidfd(number);
    struct pollfd ended = {pidfd.get(), POLLIN, 0};
    return ::poll(&ended, 1, 0) != 0;
}

Result<Process> read_process(pid_t pid) {
    if (pid <= 0) return Error(ENOENT);
    TRY_ASSIGN(const std::string text,
               sys::read_file_at(AT_FDCWD, "/proc/" + std::to_string(pid) + "/stat"));
    // The second field is the name in brackets and may hold brackets and blanks itself.
    const std::size_t end = text.rfind(')');
    if (end == std::string::npos || end + 2 >= text.size()) return Error(ENOENT);
    const std::string_view rest = std::string_view(text).substr(end + 2);
    const bool ended = rest.starts_with('Z') || rest.starts_with('X');
    return Process{pid, number_at<pid_t>(rest, 1), number_at<std::uint64_t>(rest, 19), ended};
}

Result<Held> hold(pid_t pid, const Peer& asker) {
    const auto refused = [&](const std::string& why) {
        return Error(ErrorKind::kRefused, EPERM, "adopt " + std::to_string(pid) + ": " + why);
    };
    // A number means the same process here and there, or nothing.
    const std::string space = "/ns/pid";
    const auto theirs = sys::read_link(AT_FDCWD, "/proc/" + std::to_string(asker.pid) + space);
    const auto ours = sys::read_link(AT_FDCWD, "/proc/self" + space);
    if (asker.pid <= 0 || !theirs || !ours || *theirs != *ours)
        return refused("you and the daemon of this mount number processes differently");
    if (pid <= 1 || pid == ::getpid()) return refused("this process cannot be an agent");
    Held held;
    // Through the raw system call: the C library's header of it is newer than the oldest system
    // supported.
    held.pidfd = UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
    if (!held.pidfd) {
        return Error(ErrorKind::kNotFound, ESRCH,
                     "adopt " + std::to_string(pid) + ": there is no such process",
                     "`ps -u $USER` lists yours");
    }
    const auto directory = sys::stat_at(AT_FDCWD, "/proc/" + std::to_string(pid));
    const Result<Process> process = read_process(pid);
    struct pollfd ended = {held.pidfd.get(), POLLIN, 0};
    // What was read is about the process that is held only if that has not ended by now.
    if (!directory || !process || ::poll(&ended, 1, 0) != 0) {
        return Error(ErrorKind::kNotFound, ESRCH,
                     "adopt " + std::to_string(pid) + ": this process has ended");
    }
    if (asker.uid != 0 && directory->st_uid != asker.uid)
        return refused("it belongs to another user");
    held.process = *process;
    return held;
}

void Agents::adopt(std::uint64_t run, const Process& process) {
    const std::lock_guard lock(mutex_);
    runs_.push_back(Run{run, process, Process{}});
}

std::optional<std::uint64_t> Agents::adopted(const Process& process) {
    const std::lock_guard lock(mutex_);
    for (const Run& run : runs_)
        if (run.starter.pid == 0 && is_same(run.guard, process)) return run.number;
    return std::nullopt;
}

Result<> Agents::check_new(pid_t guard, pid_t starter) {
    if (is_nested(starter)) {
        return Error(ErrorKind::kRefused, EPERM, "begin run: this is the sandbox of a run already",
                     "run the command without `unwrite run`");
    }
    const Result<Process> process = read_process(guard);
    if (process && process->parent == starter && !adopted(*process)) return {};
    return Error(ErrorKind::kRefused, EPERM,
                 "begin run: the process is not a child of the one that asks");
}

Result<> Agents::add(std::uint64_t run, pid_t guard, pid_t starter) {
    TRY_ASSIGN(const Process guarded, read_process(guard));
    TRY_ASSIGN(const Process starting, read_process(starter));
    const std::lock_guard lock(mutex_);
    runs_.push_back(Run{run, guarded, starting});
    return {};
}

bool Agents::remove(std::uint64_t run, pid_t asker, bool is_user) {
    const Result<Process> process = read_process(asker);
    const std::lock_guard lock(mutex_);
    const auto found = std::find_if(runs_.begin(), runs_.end(), [&](const Run& one) {
        return one.number == run &&
               (is_user || (one.starter.pid != 0 && process && is_same(one.starter, *process)));
    });
    if (found == runs_.end()) return is_user;
    runs_.erase(found);
    return true;
}

std::optional<std::uint64_t> Agents::run_of(pid_t pid) {
    const std::lock_guard lock(mutex_);
    for (int generation = 0; generation < kMaxAncestors && pid > 1; ++generation) {
        const Result<Process> process = read_process(pid);
        if (!process) return std::nullopt;
        for (const Run& run : runs_)
            if (is_same(run.guard, *process)) return run.number;
        pid = process->parent;
    }
    return std::nullopt;
}

bool Agents::any() {
    const std::lock_guard lock(mutex_);
    return !runs_.empty();
}

std::vector<std::uint64_t> Agents::living() {
    const std::lock_guard lock(mutex_);
    std::vector<std::uint64_t> numbers;
    for (const Run& run : runs_)
        if (is_alive(run.guard)) numbers.push_back(run.number);
    return numbers;
}

std::vector<std::uint64_t> Agents::take_abandoned() {
    const std::lock_guard lock(mutex_);
    std::vector<std::uint64_t> numbers;
    std::erase_if(runs_, [&](const Run& run) {
        if (run.starter.pid == 0 || is_alive(run.guard) || is_alive(run.starter)) return false;
        numbers.push_back(run.number);
        return true;
    });
    return numbers;
}

bool Agents::is_agent(pid_t pid) {
    const std::lock_guard lock(mutex_);
    if (runs_.empty()) return false;
    std::vector<Process> left;  // starters of runs whose guards have ended
    for (const Run& run : runs_)
        if (run.starter.pid != 0 && !is_alive(run.guard)) left.push_back(run.starter);
    const pid_t asked = pid;
    for (int generation = 0; generation < kMaxAncestors; ++generation) {
        if (pid == 1) break;
        const Result<Process> process = read_process(pid);
        if (!process) return true;
        const auto is_it = [&](const Process& other) { return is_same(other, *process); };
        if (std::any_of(runs_.begin(), runs_.end(),
                        [&](const Run& run) { return is_it(run.guard); }))
            return true;
        if (generation > 0 && std::any_of(left.begin(), left.end(), is_it)) return true;
        // The parent of a container's first process is outside its namespace and shows as 0.
        if (process->parent == 0) break;
        pid = process->parent;
    }
    return !left.empty() && is_nested(asked);
}

}  // namespace unwrite::control
