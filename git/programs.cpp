#include "git/programs.h"

#include <iterator>

namespace unwrite::git {

namespace {

constexpr std::size_t kMostWords = 600;

constexpr const char* kUnset[] = {
    // As `git rev-parse --local-env-vars` lists them, but for configuration.
    "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_OBJECT_DIRECTORY", "GIT_DIR", "GIT_WORK_TREE",
    "GIT_IMPLICIT_WORK_TREE", "GIT_GRAFT_FILE", "GIT_INDEX_FILE", "GIT_NO_REPLACE_OBJECTS",
    "GIT_REPLACE_REF_BASE", "GIT_PREFIX", "GIT_SHALLOW_FILE", "GIT_COMMON_DIR",
    // What would change what they print.
    "GIT_LITERAL_PATHSPECS", "GIT_GLOB_PATHSPECS", "GIT_NOGLOB_PATHSPECS", "GIT_ICASE_PATHSPECS",
    "GIT_NAMESPACE", "GIT_EXTERNAL_DIFF", "GIT_DIFF_OPTS", "GIT_TRACE", "GH_FORCE_TTY", "GH_DEBUG",
    "CLICOLOR_FORCE"};

/// Without what is for a terminal: carriage returns, and spaces at the end of a line.
std::string tidy(const std::string& text) {
    std::string kept;
    for (const char c : text) {
        if (c == '\r') continue;
        if (c == '\n') kept.erase(kept.find_last_not_of(' ') + 1);
        kept += c;
    }
    return kept;
}

}  // namespace

Result<ProcessOutcome> InstalledPrograms::run(const ProcessRequest& request) {
    return run_process(request);
}

void quieten(ProcessRequest& request) {
    request.unset.insert(request.unset.end(), std::begin(kUnset), std::end(kUnset));
    const std::pair<std::string, std::string> all[] = {{"LC_ALL", "C"},
                                                       {"GIT_TERMINAL_PROMPT", "0"},
                                                       {"GIT_EDITOR", ":"},
                                                       {"GIT_SEQUENCE_EDITOR", ":"},
                                                       {"GIT_PAGER", "cat"},
                                                       {"GIT_OPTIONAL_LOCKS", "0"},
                                                       {"GH_PROMPT_DISABLED", "1"},
                                                       {"GH_NO_UPDATE_NOTIFIER", "1"},
                                                       {"GH_PAGER", "cat"},
                                                       {"NO_COLOR", "1"}};
    request.set.insert(request.set.end(), std::begin(all), std::end(all));
}

std::string words_of(const ProcessOutcome& outcome) {
    std::string text = tidy(outcome.err.empty() ? outcome.out : outcome.err);
    if (text.size() > kMostWords) text = text.substr(0, kMostWords) + "...";
    const std::size_t last = text.find_last_not_of("\r\n \t");
    text.erase(last == std::string::npos ? 0 : last + 1);
    return text.empty() ? "exit code " + std::to_string(outcome.exit_code) : text;
}

}  // namespace unwrite::git
