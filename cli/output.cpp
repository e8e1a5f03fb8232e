#include "cli/output.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "base/syscalls.h"

namespace unwrite::cli {

namespace {

constexpr std::size_t kEnough = 65536;

bool wants_colour() {
    const char* none = std::getenv("NO_COLOR");
    const char* terminal = std::getenv("TERM");
    return (none == nullptr || none[0] == '\0') && terminal != nullptr &&
           std::string_view(terminal) != "dumb";
}

}  // namespace

Output::Output(int fd)
    : fd_(fd), terminal_(::isatty(fd) == 1), colour_(terminal_ && wants_colour()) {}

void Output::print(std::string_view text) {
    buffer_ += text;
    if (buffer_.size() >= kEnough || terminal_) {
        ignore(flush(), "kept in outcome_, which the last flush returns");
    }
}

void Output::line(std::string_view text) {
    print(std::string(text) + "\n");
}

Result<> Output::flush() {
    std::string_view rest = buffer_;
    while (!rest.empty() && outcome_) {
        const ssize_t put = ::write(fd_, rest.data(), rest.size());
        if (put >= 0) {
            rest.remove_prefix(static_cast<std::size_t>(put));
        } else if (const Error error = sys::last_error(); error.number() != EINTR) {
            outcome_ = error.with_context("cannot write output");
        }
    }
    buffer_.clear();
    if (!outcome_ && outcome_.error().number() == EPIPE) return {};
    return outcome_;
}

}  // namespace unwrite::cli
