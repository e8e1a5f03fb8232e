#include "cli/screen/hand_over.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>

#include "base/syscalls.h"

namespace unwrite::cli::screen {

namespace {

/// While it lives, what is typed to end the other program does not end this one.
class Unmoved {
 public:
    Unmoved() {
        struct sigaction ignored = {};
        ignored.sa_handler = SIG_IGN;
        for (std::size_t i = 0; i < kSignals.size(); ++i)
            ::sigaction(kSignals[i], &ignored, &before_[i]);
    }
    ~Unmoved() {
        for (std::size_t i = 0; i < kSignals.size(); ++i)
            ::sigaction(kSignals[i], &before_[i], nullptr);
    }
    Unmoved(const Unmoved&) = delete;
    Unmoved& operator=(const Unmoved&) = delete;

 private:
    static constexpr std::array kSignals = {SIGINT, SIGQUIT};
    std::array<struct sigaction, kSignals.size()> before_ = {};
};

Result<UniqueFd> file_of(std::string_view text) {
    UniqueFd file(::memfd_create("review", MFD_CLOEXEC));
    if (!file) return sys::last_error();
    TRY(sys::write_all_at(file.get(), std::as_bytes(std::span(text)), 0));
    return file;
}

[[noreturn]] void become(std::vector<char*>& words, int input) {
    for (const int number : {SIGINT, SIGQUIT, SIGPIPE, SIGTSTP, SIGTERM, SIGWINCH})
        ::signal(number, SIG_DFL);
    if (input >= 0) ::dup2(input, STDIN_FILENO);
    ::execv("/bin/sh", words.data());
    ::_exit(127);
}

}  // namespace

std::string command_of(const std::vector<const char*>& variables, const char* otherwise) {
    for (const char* name : variables) {
        const char* value = std::getenv(name);
        if (value != nullptr && *value != '\0') return value;
    }
    return otherwise;
}

Result<> hand_over(const std::string& command, const std::vector<std::string>& arguments,
                   std::string_view input) {
    UniqueFd file;
    if (!input.empty()) {
        TRY_ASSIGN(file, file_of(input));
    }
    std::vector<std::string> words = {"sh", "-c", command + " \"$@\"", "sh"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> pointers;
    for (std::string& word : words)
        pointers.push_back(word.data());
    pointers.push_back(nullptr);
    const Unmoved unmoved;
    const pid_t child = ::fork();
    if (child < 0) return sys::last_error().with_context("cannot start " + command);
    if (child == 0) become(pointers, file.get());
    int status = 0;
    while (::waitpid(child, &status, 0) < 0) {
        if (const Error error = sys::last_error(); error.number() != EINTR)
            return error.with_context("cannot wait for " + command);
    }
    return {};
}

}  // namespace unwrite::cli::screen
