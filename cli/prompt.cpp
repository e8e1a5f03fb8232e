#include "cli/prompt.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <csignal>

#include "base/syscalls.h"
#include "cli/config.h"
#include "cli/text.h"

namespace unwrite::cli {

namespace {

constexpr std::size_t kUsualColumns = 80;
constexpr int kLookMs = 200;  ///< how often a wait looks for signals

volatile std::sig_atomic_t g_woken = 0;
volatile std::sig_atomic_t g_interrupted = 0;

/// While it lives, a wait for input ends when Ctrl-C is pressed, and when the process was stopped
/// (Ctrl-Z) and goes on: the question is out of sight by then.
class Signals {
 public:
    Signals() {
        g_woken = 0;
        g_interrupted = 0;
        struct sigaction note = {};
        note.sa_handler = [](int number) { (number == SIGINT ? g_interrupted : g_woken) = 1; };
        for (std::size_t i = 0; i < kNoted.size(); ++i)
            ::sigaction(kNoted[i], &note, &before_[i]);
    }
    ~Signals() {
        for (std::size_t i = 0; i < kNoted.size(); ++i)
            ::sigaction(kNoted[i], &before_[i], nullptr);
    }
    Signals(const Signals&) = delete;
    Signals& operator=(const Signals&) = delete;

 private:
    static constexpr std::array kNoted = {SIGINT, SIGCONT};
    std::array<struct sigaction, kNoted.size()> before_ = {};
};

enum class Read { kLine, kAskAgain, kEnd };

/// A line of stdin, read byte by byte: what comes after it belongs to whoever reads next. A line
/// that the end of the input cut off is not one: nobody pressed Enter.
Read read_answer(std::string& line) {
    line.clear();
    for (;;) {
        // A signal may come before the wait begins, or to another thread.
        struct pollfd poller = {STDIN_FILENO, POLLIN, 0};
        const int ready = ::poll(&poller, 1, kLookMs);
        if (g_interrupted != 0) return Read::kEnd;
        if (g_woken != 0) {
            g_woken = 0;
            return Read::kAskAgain;
        }
        if (ready <= 0) continue;
        char c = 0;
        const ssize_t got = ::read(STDIN_FILENO, &c, 1);
        if (got < 0 && sys::last_error().number() == EINTR) continue;
        if (got <= 0) return Read::kEnd;
        if (c == '\n') return Read::kLine;
        line += c;
    }
}

std::size_t columns_of_terminal() {
    struct winsize size = {};
    if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kUsualColumns;
    return size.ws_col;
}

}  // namespace

bool can_ask() {
    return ::isatty(STDIN_FILENO) == 1 && ::isatty(STDERR_FILENO) == 1;
}

std::string bell() {
    const Result<Config> config = load_user_config();
    return config && !config->bell ? "" : "\a";
}

std::optional<char> answer_in(std::string_view line, const Answers& answers) {
    std::string typed(trimmed(line));
    if (typed.empty() && answers.on_enter != '\0') return answers.on_enter;
    std::transform(typed.begin(), typed.end(), typed.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    for (const std::string_view word : answers.words) {
        if (typed == word || typed == word.substr(0, 1)) return word.front();
    }
    return std::nullopt;
}

std::string answers_words(const Answers& answers) {
    std::string text = "Type ";
    for (std::size_t i = 0; i < answers.words.size(); ++i) {
        const bool last = i + 1 == answers.words.size();
        text += (i == 0 ? "" : last ? " or " : ", ") + std::string(1, answers.words[i].front());
    }
    text += '.';
    if (answers.on_enter != '\0') text += fmt::format(" Enter means {}.", answers.on_enter);
    return text;
}

std::string folded(std::string_view question, std::size_t columns) {
    const bool choices = question.find("  ") != std::string_view::npos;
    const std::string_view gap = choices ? "  " : " ";
    std::string text;
    std::size_t used = 0;
    while (!question.empty()) {
        const std::size_t end = std::min(question.find(gap), question.size());
        // The cursor needs a place behind the last one.
        const bool fits = used + gap.size() + end < columns;
        if (used > 0) text += fits ? gap : "\n";
        used = used > 0 && fits ? used + gap.size() + end : end;
        text += question.substr(0, end);
        question.remove_prefix(std::min(end + gap.size(), question.size()));
    }
    return text;
}

char ask(Context& context, const std::string& question, const Answers& answers) {
    const Signals signals;
    std::string line;
    for (;;) {
        const std::size_t columns = columns_of_terminal();
        // In the background this waits until the user brings us to the front.
        ::tcflush(STDIN_FILENO, TCIFLUSH);
        g_woken = 0;
        context.notes.print(folded(question, columns) + " ");
        const Result<> shown = context.notes.flush();
        const Read read = shown ? read_answer(line) : Read::kEnd;
        if (read == Read::kEnd) {
            context.notes.print("\n");
            return kNoAnswer;
        }
        if (read == Read::kAskAgain) continue;
        if (const std::optional<char> answer = answer_in(line, answers)) return *answer;
        context.notes.line(folded(answers_words(answers), columns));
    }
}

bool confirm(Context& context, const std::string& question) {
    return ask(context, question, {{"yes", "no"}}) == 'y';
}

}  // namespace unwrite::cli
