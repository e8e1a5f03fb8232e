#include "cli/network/run_network.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <ctime>

#include "base/confinement.h"
#include "base/pseudo_terminal.h"
#include "base/syscalls.h"
#include "cli/network/proxy.h"
#include "cli/text.h"

namespace unwrite::cli {

namespace {

/// For the proxy to write down what still goes on.
constexpr std::chrono::milliseconds kLastWords(3000);
constexpr std::size_t kMostNamed = 8;

std::string variable(const std::string& name) {
    const char* value = std::getenv(name.c_str());
    return value != nullptr ? value : "";
}

/// The standard streams, the two descriptors of the proxy, and nothing else.
Result<> keep_only(UniqueFd& channel, UniqueFd& lifeline) {
    TRY_ASSIGN(UniqueFd nothing, sys::open_at(AT_FDCWD, "/dev/null", O_RDWR));
    constexpr int kChannel = STDERR_FILENO + 1;
    constexpr int kLifeline = STDERR_FILENO + 2;
    // Copies above the places where they go.
    const UniqueFd first(::fcntl(channel.get(), F_DUPFD_CLOEXEC, kLifeline + 1));
    const UniqueFd second(::fcntl(lifeline.get(), F_DUPFD_CLOEXEC, kLifeline + 1));
    if (!first || !second) return sys::last_error();
    for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        if (::dup2(nothing.get(), standard) < 0) return sys::last_error();
    nothing.reset();
    channel.release();
    lifeline.release();
    if (::dup3(first.get(), kChannel, O_CLOEXEC) < 0 ||
        ::dup3(second.get(), kLifeline, O_CLOEXEC) < 0)
        return sys::last_error();
    channel.reset(kChannel);
    lifeline.reset(kLifeline);
    return {};
}

[[noreturn]] void proxy(ProxyOptions options, UniqueFd channel, UniqueFd lifeline) {
    // Ctrl-C and the end of the terminal are for the command; the proxy ends with the run.
    ::setsid();
    if (!keep_only(channel, lifeline) || !sys::close_from(STDERR_FILENO + 3)) ::_exit(1);
    // A guard that was killed leaves this process to be ended with what it left (Guard::run).
    sigset_t blocked;
    ::sigfillset(&blocked);
    ::sigdelset(&blocked, SIGTERM);
    ::sigprocmask(SIG_SETMASK, &blocked, nullptr);
    be_proxy(std::move(options), std::move(channel), std::move(lifeline));
}

std::string read_to_end(int fd) {
    const auto end = std::chrono::steady_clock::now() + kLastWords;
    std::string text;
    char piece[4096];
    for (;;) {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
            end - std::chrono::steady_clock::now());
        struct pollfd watched = {fd, POLLIN, 0};
        if (left.count() <= 0 || ::poll(&watched, 1, static_cast<int>(left.count())) == 0)
            return text;
        const ssize_t got = ::read(fd, piece, sizeof piece);
        if (got == 0) return text;
        if (got > 0) text.append(piece, static_cast<std::size_t>(got));
        if (got < 0 && sys::last_error().number() != EINTR) return text;
    }
}

}  // namespace

Result<RunNetwork> RunNetwork::of(const KnownAgent* agent, const std::vector<std::string>& named,
                                  const std::string& state) {
    RunNetwork network;
    TRY_ASSIGN(network.endpoints_, endpoints_of(agent, named, variable));
    TRY_ASSIGN(sys::DescriptorPipe channel, sys::make_descriptor_pipe());
    network.near_ = std::move(channel.near);
    network.far_ = std::move(channel.far);
    if (!state.empty())
        network.log_ = fmt::format("{}/network-{}-{}.log", state, std::time(nullptr), ::getpid());
    return network;
}

RunNetwork::~RunNetwork() {
    if (pid_.number > 0) finish();
}

std::string RunNetwork::words() const {
    std::string names;
    for (std::size_t i = 0; i < std::min(kMostNamed, endpoints_.size()); ++i)
        names += (i == 0 ? "" : ", ") + words_of(endpoints_[i]);
    if (endpoints_.size() > kMostNamed)
        names += fmt::format(" and {} more", endpoints_.size() - kMostNamed);
    return "the command reaches on the network " + names + ", and nothing else";
}

std::vector<std::string> RunNetwork::forwards() const {
    std::vector<std::string> words;
    for (const Endpoint& endpoint : forwarded(endpoints_))
        words.push_back(words_of(endpoint));
    return words;
}

Result<> RunNetwork::start() {
    far_.reset();
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return sys::last_error().with_context("run: the proxy");
    lifeline_ = UniqueFd(ends[0]);
    UniqueFd theirs(ends[1]);
    pid_.number = ::fork();
    if (pid_.number < 0) return sys::last_error().with_context("run: the proxy");
    if (pid_.number == 0) {
        // A copy of this would keep the proxy alive without its run.
        lifeline_.reset();
        pid_.number = -1;
        proxy({std::move(endpoints_), log_}, std::move(near_), std::move(theirs));
    }
    near_.reset();
    return {};
}

Traffic RunNetwork::finish() {
    if (pid_.number <= 0) return {};
    ::shutdown(lifeline_.get(), SHUT_WR);
    const std::string text = read_to_end(lifeline_.get());
    lifeline_.reset();
    ::kill(pid_.number, SIGKILL);
    ::waitpid(pid_.number, nullptr, 0);
    pid_.number = -1;
    return decode_traffic(text);
}

}  // namespace unwrite::cli
