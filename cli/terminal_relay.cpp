#include "cli/terminal_relay.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <string_view>

#include "base/pseudo_terminal.h"
#include "base/syscalls.h"
#include "cli/own_terminal.h"

namespace unwrite::cli {

namespace {

constexpr std::string_view kReadOnly = "Read-only file system";
// Whatever the command wrote last, what comes now can be read: an unfinished control ends; the
// whole screen scrolls (the cursor stays where it is); and there are no colours, no concealment, no
// other characters, no inserting and no waiting for a screen to be whole. ECMA-48 and the controls
// of xterm.
constexpr std::string_view kReadable =
    "\x18\x1b\\\x1b"
    "7\x1b[?6l\x1b[r\x1b"
    "8\x1b[0m\x1b(B\x0f\x1b[4l\x1b[?5l\x1b[?7h\x1b[?25h\x1b[?2026l";
// The colours that the user's terminal begins with.
constexpr std::string_view kUsualColours = "\x1b]104\a\x1b]110\a\x1b]111\a";
constexpr char kEscape = '\x1b';
constexpr char kShiftOut = '\x0e';

constexpr int kLookMs = 250;  ///< how often a run in the background looks whether it is in front
/// What goes on after its run (--leave-running) may write without an end.
constexpr std::chrono::seconds kLongestDrain(2);

sigset_t heeded_signals() {
    sigset_t set;
    ::sigemptyset(&set);
    for (const int signal : {SIGWINCH, SIGTSTP, SIGCONT})
        ::sigaddset(&set, signal);
    return set;
}

void copy_size(int to) {
    struct winsize size = {};
    if (::ioctl(STDIN_FILENO, TIOCGWINSZ, &size) == 0) ::ioctl(to, TIOCSWINSZ, &size);
}

/// What a terminal that has hung up does not take is nobody's.
void show(std::string_view text) {
    while (!text.empty()) {
        const ssize_t put = ::write(STDOUT_FILENO, text.data(), text.size());
        if (put > 0) {
            text.remove_prefix(static_cast<std::size_t>(put));
            continue;
        }
        const int why = sys::last_error().number();
        struct pollfd room = {STDOUT_FILENO, POLLOUT, 0};
        if (why == EAGAIN) ::poll(&room, 1, kLookMs);
        if (why != EAGAIN && why != EINTR) return;
    }
}

}  // namespace

struct TerminalRelay::Copying {
    std::string keys;      ///< typed, and not yet taken by the command's terminal
    bool is_deaf = false;  ///< nobody is at the other end of the socket any more
    bool has_ended = false;
};

TerminalRelay::TerminalRelay(bool& saw_read_only) : saw_read_only_(saw_read_only) {
    ::sigprocmask(SIG_BLOCK, nullptr, &before_);
    if (::tcgetattr(STDIN_FILENO, &usual_) != 0 || ::isatty(STDOUT_FILENO) != 1) return;
    const sigset_t set = heeded_signals();
    Result<sys::DescriptorPipe> pipe = sys::make_descriptor_pipe();
    UniqueFd signals(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
    UniqueFd waker(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!pipe || !signals || !waker) return;
    ::sigprocmask(SIG_BLOCK, &set, nullptr);
    is_known_ = is_in_front();
    near_ = std::move(pipe->near);
    far_ = std::move(pipe->far);
    signals_ = std::move(signals);
    wake_ = std::move(waker);
}

TerminalRelay::~TerminalRelay() {
    if (thread_.joinable()) {
        stop_ = true;
        wake();
        thread_.join();
    }
    if (is_wanted()) ::sigprocmask(SIG_SETMASK, &before_, nullptr);
}

void TerminalRelay::start() {
    far_.reset();
    if (is_wanted()) thread_ = std::thread([this] { copy(); });
}

void TerminalRelay::wake() const {
    const std::uint64_t one = 1;
    if (wake_ && ::write(wake_.get(), &one, sizeof one) < 0) return;  // it is awake already
}

void TerminalRelay::pass(int signal) {
    const std::lock_guard lock(mutex_);
    if (signal == SIGHUP) hung_up_ = true;
    if (!master_) early_ = signal;
    if (master_ && signal != SIGHUP) ::ioctl(master_.get(), TIOCSIG, signal);
    wake();
}

bool TerminalRelay::reads_lines() {
    const std::lock_guard lock(mutex_);
    struct termios settings = {};
    if (!master_) return true;
    if (::tcgetattr(master_.get(), &settings) != 0) return false;
    return (settings.c_lflag & ICANON) != 0 && (settings.c_lflag & ECHO) != 0;
}

TerminalRelay::Hold::Hold(TerminalRelay* relay) : relay_(relay) {
    if (relay_ == nullptr || !relay_->thread_.joinable()) return;
    std::unique_lock lock(relay_->mutex_);
    relay_->held_ = true;
    relay_->wake();
    relay_->changed_.wait(lock, [&] { return relay_->yielded_; });
}

TerminalRelay::Hold::~Hold() {
    if (relay_ == nullptr) return;
    const std::lock_guard lock(relay_->mutex_);
    relay_->held_ = false;
    relay_->wake();
}

bool TerminalRelay::is_in_front() const {
    const pid_t now = ::tcgetpgrp(STDIN_FILENO);
    // A terminal that is nobody's controlling terminal knows no front.
    return now < 0 || now == ::getpgrp();
}

/// The user's terminal as it has to be now.
void TerminalRelay::arrange() {
    const bool in_front = is_in_front();
    std::unique_lock lock(mutex_);
    const int master = master_.get();
    const bool held = held_;
    lock.unlock();
    const bool wanted = master >= 0 && !held && in_front;
    if (wanted && !raw_) {
        if (!is_known_) ::tcgetattr(STDIN_FILENO, &usual_);
        is_known_ = true;
        struct termios raw = usual_;
        ::cfmakeraw(&raw);
        ::tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
        copy_size(master);
    }
    if (raw_ && !wanted && in_front) ::tcsetattr(STDIN_FILENO, TCSADRAIN, &usual_);
    raw_ = wanted;
    lock.lock();
    if (held && !yielded_) make_readable();
    yielded_ = held;
    changed_.notify_all();
}

void TerminalRelay::hang_up(Copying& copying) {
    const std::lock_guard lock(mutex_);
    master_.reset();
    copying.has_ended = true;
}

void TerminalRelay::make_readable() {
    if (has_escapes_) show(kReadable);
    if (has_strings_) show(kUsualColours);
}

void TerminalRelay::look_at(std::string_view output) {
    for (const char byte : output) {
        const auto code = static_cast<unsigned char>(byte);
        // Some terminals take single bytes beyond ASCII for controls.
        has_escapes_ = has_escapes_ || byte == kEscape || byte == kShiftOut || code >= 0x80;
        has_strings_ = has_strings_ || code == 0x9d || (last_ == kEscape && byte == ']');
        last_ = byte;
    }
    if (saw_read_only_) return;
    end_ += output;
    saw_read_only_ = end_.find(kReadOnly) != std::string::npos;
    end_.erase(0, end_.size() - std::min(end_.size(), kReadOnly.size() - 1));
}

/// False: there is nothing at the moment.
bool TerminalRelay::copy_output(Copying& copying) {
    std::array<char, 65536> room;
    const ssize_t got = ::read(master_.get(), room.data(), room.size());
    if (got > 0) {
        const std::string_view output(room.data(), static_cast<std::size_t>(got));
        show(output);
        look_at(output);
        return true;
    }
    const int why = got == 0 ? EIO : sys::last_error().number();
    if (why != EAGAIN && why != EINTR) hang_up(copying);
    return why == EINTR;
}

void TerminalRelay::drain(Copying& copying) {
    const auto end = std::chrono::steady_clock::now() + kLongestDrain;
    while (master_ && copy_output(copying) && std::chrono::steady_clock::now() < end) {
    }
}

void TerminalRelay::put_keys(Copying& copying) {
    if (copying.keys.empty()) return;
    const ssize_t put = ::write(master_.get(), copying.keys.data(), copying.keys.size());
    if (put > 0) copying.keys.erase(0, static_cast<std::size_t>(put));
}

void TerminalRelay::copy_keys(Copying& copying) {
    std::array<char, 4096> room;
    const ssize_t got = ::read(STDIN_FILENO, room.data(), room.size());
    if (got > 0) {
        copying.keys.append(room.data(), static_cast<std::size_t>(got));
        return put_keys(copying);
    }
    const int why = got == 0 ? EIO : sys::last_error().number();
    // The user's terminal is gone: so is the command's.
    if (why != EAGAIN && why != EINTR) hang_up(copying);
}

/// As Ctrl-Z does it: the shell that started the run takes its terminal back. Where nobody could
/// let it go on (an orphaned process group) the kernel ignores that.
void TerminalRelay::suspend(Copying& copying) {
    drain(copying);
    if (raw_) ::tcsetattr(STDIN_FILENO, TCSADRAIN, &usual_);
    raw_ = false;
    sigset_t set;
    ::sigemptyset(&set);
    ::sigaddset(&set, SIGTSTP);
    ::pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
    ::kill(0, SIGTSTP);
    ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
    ignore(sys::send_descriptor(near_.get(), kGoOn), "a process that has ended cannot go on");
}

void TerminalRelay::heed_signals() {
    struct signalfd_siginfo info = {};
    while (::read(signals_.get(), &info, sizeof info) == sizeof info) {
        // Whoever had the terminal meanwhile has left it as they like.
        if (info.ssi_signo == SIGCONT) raw_ = false;
        if (info.ssi_signo == SIGWINCH && master_) copy_size(master_.get());
        if (info.ssi_signo == SIGTSTP) pass(SIGTSTP);
    }
}

void TerminalRelay::heed_command(Copying& copying) {
    Result<sys::Received> said = sys::receive_descriptor(near_.get());
    if (!said) {
        copying.is_deaf = true;
        return;
    }
    if (said->kind == kStopped) suspend(copying);
    if (said->kind != kMade || !said->fd) return;
    ::fcntl(said->fd.get(), F_SETFL, O_RDWR | O_NONBLOCK);
    const std::lock_guard lock(mutex_);
    master_ = std::move(said->fd);
    if (early_ != 0 && early_ != SIGHUP) ::ioctl(master_.get(), TIOCSIG, early_);
}

void TerminalRelay::copy() {
    Copying copying;
    while (!stop_) {
        if (hung_up_ && master_) hang_up(copying);
        arrange();
        // Whoever asks a question is not drawn over.
        const int master = yielded_ ? -1 : master_.get();
        const short wanted = static_cast<short>(POLLIN | (copying.keys.empty() ? 0 : POLLOUT));
        std::array<struct pollfd, 5> watched = {{
            {wake_.get(), POLLIN, 0},
            {signals_.get(), POLLIN, 0},
            {copying.is_deaf ? -1 : near_.get(), POLLIN, 0},
            {master, wanted, 0},
            {raw_ && copying.keys.empty() ? STDIN_FILENO : -1, POLLIN, 0},
        }};
        const bool waits_for_front = master_ && !raw_;
        if (::poll(watched.data(), watched.size(), waits_for_front ? kLookMs : -1) < 0) continue;
        std::uint64_t count = 0;
        if (watched[0].revents != 0 && ::read(wake_.get(), &count, sizeof count) < 0) continue;
        if (watched[1].revents != 0) heed_signals();
        if ((watched[3].revents & POLLOUT) != 0) put_keys(copying);
        if ((watched[3].revents & ~POLLOUT) != 0) copy_output(copying);
        if (watched[4].revents != 0 && master_) copy_keys(copying);
        if (watched[2].revents != 0) heed_command(copying);
    }
    drain(copying);
    hang_up(copying);
    arrange();
    make_readable();
}

}  // namespace unwrite::cli
