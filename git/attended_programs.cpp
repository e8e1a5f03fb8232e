#include "git/attended_programs.h"

#include <algorithm>
#include <cerrno>
#include <chrono>

namespace unwrite::git {

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds kSilence(1);

/// The words that are neither options nor the values of git's own options.
std::vector<std::string> plain_words(const std::vector<std::string>& arguments) {
    std::vector<std::string> words;
    for (std::size_t at = 0; at < arguments.size(); ++at) {
        const bool before_command = words.size() == 1 && words[0] == "git";
        if (before_command && (arguments[at] == "-c" || arguments[at] == "-C")) {
            ++at;
        } else if (!arguments[at].starts_with('-')) {
            words.push_back(arguments[at]);
        }
    }
    return words;
}

}  // namespace

Result<ProcessOutcome> AttendedPrograms::run(const ProcessRequest& request) {
    if (interrupted()) return Error(ECANCELED);
    ProcessRequest attended = request;
    const Clock::time_point begin = Clock::now();
    bool told = false;
    attended.cancelled = [&] {
        if (!told && attendant_.waiting && Clock::now() - begin >= kSilence) {
            told = true;
            attendant_.waiting(spoken(request.arguments));
        }
        return interrupted() || (request.cancelled && request.cancelled());
    };
    return programs_.run(attended);
}

void AttendedPrograms::begin_cleanup() {
    if (cleanups_++ == 0) allowed_ = count();
}

void AttendedPrograms::end_cleanup() {
    if (--cleanups_ == 0) allowed_ = 0;
}

std::string spoken(const std::vector<std::string>& arguments) {
    const std::vector<std::string> words = plain_words(arguments);
    if (words.size() < 2) return words.empty() ? "" : words[0];
    std::string text = words[0] + " " + words[1];
    if (words[0] == "gh") {
        // "gh pr close 3", "gh pr list": a noun, a verb and at most the number.
        for (std::size_t at = 2; at < std::min<std::size_t>(words.size(), 4); ++at) {
            const bool number = words[at].find_first_not_of("0123456789") == std::string::npos;
            if (at == 2 ? words[1] != "api" : number) text += " " + words[at];
        }
        return text;
    }
    if (words.size() < 3) return text;
    if (words[1] == "push") return text + " to " + words[2];
    if (words[1] == "fetch" || words[1] == "ls-remote") return text + " from " + words[2];
    return text;
}

}  // namespace unwrite::git
