#include "cli/prompt.h"

#include <unistd.h>

#include <cctype>
#include <cerrno>

#include "base/syscalls.h"

namespace unwrite::cli {

namespace {

/// A line of stdin, read byte by byte: what comes after it belongs to whoever reads next. False at
/// the end.
bool read_answer(std::string& line) {
    line.clear();
    for (;;) {
        char c = 0;
        const ssize_t got = ::read(STDIN_FILENO, &c, 1);
        if (got < 0 && sys::last_error().number() == EINTR) continue;
        if (got <= 0) return !line.empty();
        if (c == '\n') return true;
        line += c;
    }
}

}  // namespace

bool can_ask() {
    return ::isatty(STDIN_FILENO) == 1 && ::isatty(STDERR_FILENO) == 1;
}

char ask(Context& context, const std::string& question, std::string_view letters) {
    std::string line;
    for (;;) {
        context.notes.print(question + " ");
        if (const Result<> shown = context.notes.flush(); !shown || !read_answer(line)) {
            context.notes.print("\n");
            return letters.back();
        }
        const std::size_t first = line.find_first_not_of(" \t");
        if (first == std::string::npos) continue;
        const char c = static_cast<char>(std::tolower(static_cast<unsigned char>(line[first])));
        if (letters.find(c) != std::string_view::npos) return c;
    }
}

}  // namespace unwrite::cli
