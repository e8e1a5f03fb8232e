#include "base/process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <optional>

#include "base/retry.h"
#include "base/syscalls.h"
#include "base/unique_fd.h"

namespace unwrite {

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kGrace(2000);
// A signal may come just before the wait begins, and is then seen at the next look.
constexpr std::int64_t kLook = 200;

/// What posix_spawn is told about the child. Every call answers an error number.
class SpawnPlan {
 public:
    SpawnPlan() {
        note(::posix_spawn_file_actions_init(&actions_));
        note(::posix_spawnattr_init(&attributes_));
    }
    ~SpawnPlan() {
        ::posix_spawn_file_actions_destroy(&actions_);
        ::posix_spawnattr_destroy(&attributes_);
    }
    SpawnPlan(const SpawnPlan&) = delete;
    SpawnPlan& operator=(const SpawnPlan&) = delete;

    void stream(int from, int to) { note(::posix_spawn_file_actions_adddup2(&actions_, from, to)); }
    void directory(const std::string& path) {
        if (!path.empty()) note(::posix_spawn_file_actions_addchdir_np(&actions_, path.c_str()));
    }
    /// No blocked or ignored signal is inherited.
    void own_session_and_signals() {
        sigset_t none;
        sigset_t all;
        ::sigemptyset(&none);
        ::sigfillset(&all);
        note(::posix_spawnattr_setsigmask(&attributes_, &none));
        note(::posix_spawnattr_setsigdefault(&attributes_, &all));
        note(::posix_spawnattr_setflags(
            &attributes_, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF));
    }
    Result<pid_t> spawn(std::vector<char*>& arguments, std::vector<char*>& environment) {
        if (failure_ != 0) return Error(failure_);
        pid_t pid = -1;
        const int number = ::posix_spawnp(&pid, arguments[0], &actions_, &attributes_,
                                          arguments.data(), environment.data());
        if (number != 0) return Error(number);
        return pid;
    }

 private:
    void note(int number) {
        if (failure_ == 0) failure_ = number;
    }

    posix_spawn_file_actions_t actions_;
    posix_spawnattr_t attributes_;
    int failure_ = 0;
};

std::vector<char*> pointers(const std::vector<std::string>& words) {
    std::vector<char*> list;
    for (const std::string& word : words)
        list.push_back(const_cast<char*>(word.c_str()));
    list.push_back(nullptr);
    return list;
}

std::vector<std::string> environment_of(const ProcessRequest& request) {
    std::vector<std::string> list;
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
        const std::string text = *entry;
        const std::string name = text.substr(0, text.find('='));
        const bool is_set = std::any_of(request.set.begin(), request.set.end(),
                                        [&](const auto& pair) { return pair.first == name; });
        const bool is_unset =
            std::find(request.unset.begin(), request.unset.end(), name) != request.unset.end();
        if (!is_set && !is_unset) list.push_back(text);
    }
    for (const auto& [name, value] : request.set)
        list.push_back(name + "=" + value);
    return list;
}

/// One output stream of the child.
struct Stream {
    UniqueFd ours;
    UniqueFd theirs;
    std::string* text = nullptr;

    Result<> open(std::string& into) {
        int ends[2];
        if (::pipe2(ends, O_CLOEXEC) != 0) return Error(errno);
        ours = UniqueFd(ends[0]);
        theirs = UniqueFd(ends[1]);
        text = &into;
        if (::fcntl(ours.get(), F_SETFL, O_NONBLOCK) != 0) return Error(errno);
        return {};
    }

    /// Takes what is there; closes the stream at its end.
    Result<> drain(std::size_t most) {
        std::array<char, 65536> buffer;
        while (ours) {
            const ssize_t got =
                sys::retry([&] { return ::read(ours.get(), buffer.data(), buffer.size()); });
            if (got < 0 && errno == EAGAIN) return {};
            if (got < 0) return Error(errno);
            if (got == 0) ours.reset();
            text->append(buffer.data(), static_cast<std::size_t>(got));
            if (text->size() > most) return Error(EFBIG);
        }
        return {};
    }
};

/// The input as a file in memory: nothing has to be written while the child runs.
Result<UniqueFd> input_file(const std::string& input) {
    UniqueFd file(::memfd_create("input", MFD_CLOEXEC));
    if (!file) return Error(errno);
    TRY(sys::write_all_at(file.get(), std::as_bytes(std::span(input)), 0));
    return file;
}

class Child {
 public:
    static Result<Child> start(const ProcessRequest& request, Stream& out, Stream& err) {
        TRY_ASSIGN(const UniqueFd input, input_file(request.input));
        SpawnPlan plan;
        plan.stream(input.get(), STDIN_FILENO);
        plan.stream(out.theirs.get(), STDOUT_FILENO);
        plan.stream(err.theirs.get(), STDERR_FILENO);
        plan.directory(request.directory);
        plan.own_session_and_signals();
        const std::vector<std::string> variables = environment_of(request);
        std::vector<char*> arguments = pointers(request.arguments);
        std::vector<char*> environment = pointers(variables);
        Child child;
        TRY_ASSIGN(child.pid_, plan.spawn(arguments, environment));
        out.theirs.reset();
        err.theirs.reset();
        child.ended_ = UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, child.pid_, 0)));
        if (!child.ended_) return Error(errno);  // the destructor ends it
        return child;
    }
    Child(Child&& other) noexcept
        : pid_(std::exchange(other.pid_, -1)), ended_(std::move(other.ended_)) {}
    Child& operator=(Child&&) = delete;
    ~Child() { kill_now(); }

    /// Readable when the child has ended.
    int ended() const { return ended_.get(); }

    int collect() {
        int status = 0;
        ignore(sys::retry_done([&] { return ::waitpid(std::exchange(pid_, -1), &status, 0); }),
               "a child of ours is there to be waited for");
        return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    }

    /// Ends the child and what is in its session's first process group: politely, so that it can
    /// remove its locks, then for certain.
    void stop() {
        ::kill(-pid_, SIGTERM);
        struct pollfd wait = {ended_.get(), POLLIN, 0};
        ignore(sys::retry_done([&] { return ::poll(&wait, 1, static_cast<int>(kGrace.count())); }),
               "the next step is the same");
        kill_now();
    }

 private:
    Child() = default;
    void kill_now() {
        if (pid_ < 0) return;
        ::kill(-pid_, SIGKILL);
        ::kill(pid_, SIGKILL);
        collect();
    }

    pid_t pid_ = -1;
    UniqueFd ended_;
};

/// Answers whether the caller's wish to cancel, and the time granted after it, have both come.
class Cancellation {
 public:
    explicit Cancellation(const ProcessRequest& request) : request_(request) {}
    bool due() {
        if (!request_.cancelled || (!since_ && !request_.cancelled())) return false;
        if (!since_) since_ = Clock::now();
        return Clock::now() - *since_ >= request_.grace;
    }

 private:
    const ProcessRequest& request_;
    std::optional<Clock::time_point> since_;
};

/// Reads both streams until the child has ended. What it left running may keep the streams open;
/// nobody waits for that.
Result<> follow(const ProcessRequest& request, const Child& child, Stream& out, Stream& err) {
    const Clock::time_point end = Clock::now() + request.timeout;
    Cancellation cancellation(request);
    for (bool ended = false; !ended;) {
        std::array<struct pollfd, 3> watched = {
            {{child.ended(), POLLIN, 0}, {out.ours.get(), POLLIN, 0}, {err.ours.get(), POLLIN, 0}}};
        const auto left =
            std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
        if (left <= 0) return Error(ETIMEDOUT);
        if (cancellation.due()) return Error(ECANCELED);
        const int wait = static_cast<int>(std::min<std::int64_t>(left, kLook));
        const int ready = ::poll(watched.data(), watched.size(), wait);
        if (ready < 0 && errno != EINTR) return Error(errno);
        if (ready < 0) continue;
        ended = watched[0].revents != 0;
        TRY(out.drain(request.most_output));
        TRY(err.drain(request.most_output));
    }
    return {};
}

}  // namespace

Result<ProcessOutcome> run_process(const ProcessRequest& request) {
    if (request.arguments.empty()) return Error(EINVAL);
    ProcessOutcome outcome;
    Stream out;
    Stream err;
    TRY(out.open(outcome.out));
    TRY(err.open(outcome.err));
    TRY_ASSIGN(Child child, Child::start(request, out, err));
    const Result<> followed = follow(request, child, out, err);
    if (!followed) {
        child.stop();
        return followed.error();
    }
    outcome.exit_code = child.collect();
    return outcome;
}

}  // namespace unwrite
