#include "cli/answering.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <set>

#include "base/syscalls.h"
#include "cli/failure.h"
#include "cli/prompt.h"
#include "cli/text.h"

namespace unwrite::cli {

namespace {

constexpr int kLookMs = 1000;  ///< how often a prompt looks whether its question is still open
/// One that is killed is taken to be there for that much longer.
constexpr std::uint64_t kStayMs = 2000;

std::string who_asks(const overlay::Question& question) {
    const std::string program = question.executable.substr(question.executable.rfind('/') + 1);
    return fmt::format("{} ({}process {})",
                       question.agent ? harmless(question.session) : std::string("the user"),
                       program.empty() ? "" : quote_name(program) + ", ", question.pid);
}

/// Whoever is asked must be able to answer: the terminal is its for so long.
class Foreground {
 public:
    explicit Foreground(int terminal) : terminal_(terminal) {
        const pid_t now = ::tcgetpgrp(terminal);
        if (now > 0 && now != ::getpgrp() && ::tcsetpgrp(terminal, ::getpgrp()) == 0) before_ = now;
    }
    ~Foreground() {
        if (before_ > 0) ::tcsetpgrp(terminal_, before_);
    }
    Foreground(const Foreground&) = delete;
    Foreground& operator=(const Foreground&) = delete;

 private:
    int terminal_;
    pid_t before_ = 0;
};

}  // namespace

std::string question_words(const overlay::Question& question) {
    return fmt::format("Question {}: {} wants to {} {}\n  {}", question.number, who_asks(question),
                       harmless(question.operation), quote_name(question.path),
                       harmless(question.reason));
}

std::string question_line(const overlay::Question& question) {
    return fmt::format("{:>4} {:<8} {:<10} {}  {}  {}", question.number, question.state,
                       harmless(question.operation), quote_name(question.path), who_asks(question),
                       harmless(question.reason));
}

bool Terminal::is_free() const {
    struct termios settings = {};
    if (::tcgetattr(in, &settings) != 0) return false;
    if (relay != nullptr && relay->is_wanted()) return relay->reads_lines();
    return !shared || ((settings.c_lflag & ICANON) != 0 && (settings.c_lflag & ECHO) != 0);
}

Answering::Answering(std::unique_ptr<control::Remote> remote, Terminal terminal,
                     std::string session)
    : remote_(std::move(remote)), terminal_(terminal) {
    watcher_.id = static_cast<std::uint64_t>(::getpid());
    watcher_.session = std::move(session);
}

void Answering::print(const std::string& text) const {
    std::string_view rest = text;
    while (!rest.empty()) {
        const ssize_t put = ::write(terminal_.out, rest.data(), rest.size());
        if (put <= 0) return;
        rest.remove_prefix(static_cast<std::size_t>(put));
    }
}

Answering::Read Answering::read_line(std::string& line) const {
    struct pollfd poller = {terminal_.in, POLLIN, 0};
    if (::poll(&poller, 1, kLookMs) <= 0) return Read::kNothingYet;
    char room[256];
    const ssize_t got = ::read(terminal_.in, room, sizeof room);
    if (got < 0 && sys::last_error().number() == EINTR) return Read::kNothingYet;
    if (got <= 0) return Read::kEnd;
    line.append(room, static_cast<std::size_t>(got));
    return line.find('\n') == std::string::npos ? Read::kNothingYet : Read::kLine;
}

Result<std::string> Answering::state_of(overlay::QuestionNumber number) {
    overlay::Watcher look = watcher_;
    look.wait_ms = 0;
    TRY_ASSIGN(const overlay::Questioned now, remote_->questions(look));
    for (const overlay::Question& question : now.questions) {
        if (question.number == number) return question.state;
    }
    return std::string("withdrawn");
}

/// False at the end of the input.
Result<bool> Answering::put_now(const overlay::Question& question) {
    static constexpr const char* kChoices =
        "[y]es, [n]o, [a]ll that this rule asks about, [l]ater ";
    const TerminalRelay::Hold hold(terminal_.relay);
    const Foreground foreground(terminal_.in);
    ::tcflush(terminal_.in, TCIFLUSH);  // typed for something else
    print(bell() + "\nunwrite: " + question_words(question) + "\n" + kChoices);
    std::string line;
    while (!stop_) {
        const Read read = read_line(line);
        if (read == Read::kEnd) return false;
        if (read == Read::kNothingYet) {
            TRY_ASSIGN(const std::string state, state_of(question.number));
            if (state == "open") continue;
            print(fmt::format("\nunwrite: question {} is {}\n", question.number, state));
            return true;
        }
        const char choice =
            answer_in(line.substr(0, line.find('\n')), {{"yes", "no", "all", "later"}})
                .value_or('?');
        line.clear();
        if (choice == 'l') return true;
        if (choice == 'y' || choice == 'n' || choice == 'a') {
            const auto answered =
                remote_->answer({}, question.number, choice != 'n', choice == 'a');
            if (!answered) print(failure_lines("approve", answered.error()));
            return true;
        }
        print(kChoices);
    }
    return true;
}

Result<bool> Answering::put(const overlay::Question& question) {
    if (terminal_.is_free()) return put_now(question);
    TRY(remote_->pass_over(question.number, watcher_.id));
    return true;
}

Result<> Answering::live() {
    std::set<overlay::QuestionNumber> seen;
    watcher_.wait_ms = kStayMs;
    while (!stop_) {
        TRY_ASSIGN(const overlay::Questioned now, remote_->questions(watcher_));
        watcher_.seen = now.version;
        for (const overlay::Question& question : now.questions) {
            if (stop_ || question.state != "open" || !seen.insert(question.number).second) continue;
            TRY_ASSIGN(const bool more, put(question));
            if (!more) return {};
        }
    }
    return {};
}

RunQuestions::RunQuestions(const control::MountPoint& mount, const std::string& session,
                           TerminalRelay* relay) {
    if (!can_ask()) return;
    Result<UniqueFd> terminal = sys::open_at(AT_FDCWD, "/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
    auto asking = control::Remote::connect(mount);
    auto going = control::Remote::connect(mount);
    if (!terminal || !asking || !going) return;
    terminal_ = *std::move(terminal);
    remote_ = *std::move(going);
    answering_ = std::make_unique<Answering>(
        *std::move(asking), Terminal{terminal_.get(), terminal_.get(), true, relay}, session);
    thread_ = std::thread([this] {
        // The terminal is taken and given back from the background.
        sigset_t set;
        ::sigemptyset(&set);
        ::sigaddset(&set, SIGTTOU);
        ::sigaddset(&set, SIGTTIN);
        ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
        ignore(answering_->live(), "a daemon that ends takes its questions along");
    });
}

RunQuestions::~RunQuestions() {
    if (!thread_.joinable()) return;
    answering_->stop();
    overlay::Watcher going;
    going.id = answering_->watcher();
    going.present = false;
    ignore(remote_->questions(going), "a daemon that ends takes its questions along");
    thread_.join();
}

}  // namespace unwrite::cli
