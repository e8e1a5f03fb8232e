#include "cli/prompt.h"

#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <csignal>

#include "base/syscalls.h"
#include "cli/config.h"

namespace unwrite::cli {

namespace {

volatile std::sig_atomic_t g_woken = 0;

/// While it lives, a wait for input ends when the process was stopped (Ctrl-Z) and goes on: what
/// was asked is out of sight by then.
class Waking {
 public:
    Waking() {
        g_woken = 0;
        struct sigaction note = {};
        note.sa_handler = [](int) { g_woken = 1; };
        ::sigaction(SIGCONT, &note, &before_);
    }
    ~Waking() { ::sigaction(SIGCONT, &before_, nullptr); }
    Waking(const Waking&) = delete;
    Waking& operator=(const Waking&) = delete;

 private:
    struct sigaction before_ = {};
};

enum class Read { kLine, kAskAgain, kEnd };

/// A line of stdin, read byte by byte: what comes after it belongs to whoever reads next.
Read read_answer(std::string& line) {
    line.clear();
    for (;;) {
        char c = 0;
        const ssize_t got = ::read(STDIN_FILENO, &c, 1);
        if (got < 0 && sys::last_error().number() == EINTR) {
            if (g_woken == 0) continue;
            g_woken = 0;
            return Read::kAskAgain;
        }
        if (got <= 0) return line.empty() ? Read::kEnd : Read::kLine;
        if (c == '\n') return Read::kLine;
        line += c;
    }
}

}  // namespace

bool can_ask() {
    return ::isatty(STDIN_FILENO) == 1 && ::isatty(STDERR_FILENO) == 1;
}

std::string bell() {
    const Result<Config> config = load_user_config();
    return config && !config->bell ? "" : "\a";
}

char ask(Context& context, const std::string& question, std::string_view letters) {
    const Waking waking;
    std::string line;
    for (;;) {
        context.notes.print(question + " ");
        const Result<> shown = context.notes.flush();
        const Read read = shown ? read_answer(line) : Read::kEnd;
        if (read == Read::kEnd) {
            context.notes.print("\n");
            return letters.back();
        }
        if (read == Read::kAskAgain) continue;
        const std::size_t first = line.find_first_not_of(" \t");
        if (first == std::string::npos) continue;
        const char c = static_cast<char>(std::tolower(static_cast<unsigned char>(line[first])));
        if (letters.find(c) != std::string_view::npos) return c;
    }
}

}  // namespace unwrite::cli
