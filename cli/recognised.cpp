// Which agent a command starts: recognise() of known_agents.h.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <span>

#include "base/syscalls.h"
#include "cli/known_agents.h"

namespace unwrite::cli {

namespace {

constexpr std::size_t kMostOfScript = 16384;
/// They start what comes behind their own options.
constexpr std::array<std::string_view, 12> kLaunchers = {"env",    "nice",   "ionice", "timeout",
                                                         "stdbuf", "setsid", "nohup",  "script",
                                                         "strace", "time",   "exec",   "command"};
constexpr std::array<std::string_view, 3> kPackageRunners = {"npx", "bunx", "pnpx"};
constexpr std::array<std::string_view, 4> kPackageManagers = {"npm", "pnpm", "yarn", "bun"};
constexpr std::array<std::string_view, 9> kInterpreters = {"node", "nodejs", "bun",  "deno", "sh",
                                                           "bash", "zsh",    "dash", "fish"};

template <std::size_t N>
bool is_in(const std::array<std::string_view, N>& words, std::string_view word) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

std::string base_name(std::string_view path) {
    return std::string(path.substr(path.rfind('/') + 1));
}

/// "@openai/codex@0.169.0" without its version.
std::string package_name(const std::string& spec) {
    const std::size_t at = spec.rfind('@');
    return at == std::string::npos || at == 0 ? spec : spec.substr(0, at);
}

bool has(const std::vector<std::string>& words, const std::string& word) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

const KnownAgent* of_name(const std::vector<KnownAgent>& agents, std::string name) {
    for (const char* ending : {".exe", ".js", ".mjs", ".cjs"})
        if (name.ends_with(ending)) name.resize(name.size() - std::string_view(ending).size());
    for (const KnownAgent& agent : agents)
        if (has(agent.programs, name)) return &agent;
    return nullptr;
}

const KnownAgent* of_package(const std::vector<KnownAgent>& agents, const std::string& spec) {
    for (const KnownAgent& agent : agents)
        if (has(agent.packages, package_name(spec))) return &agent;
    return of_name(agents, package_name(spec));
}

/// The agent that a command in the text of a script names, by itself or at the end of a path.
const KnownAgent* of_script(const std::vector<KnownAgent>& agents, std::string_view text) {
    std::string word;
    bool is_command = true;  // the word stands where a program does
    bool in_comment = false;
    for (std::size_t i = 0; i <= text.size(); ++i) {
        const char c = i < text.size() ? text[i] : '\n';
        const bool is_blank = std::string_view(" \t\r'\"").find(c) != std::string_view::npos;
        const bool is_end = std::string_view("\n`;|&()<>").find(c) != std::string_view::npos;
        if (c == '#' && word.empty()) in_comment = true;
        if (!in_comment && !is_blank && !is_end) {
            word += c;
            continue;
        }
        const std::string name = base_name(word);
        const KnownAgent* const agent = is_command ? of_name(agents, name) : nullptr;
        if (agent != nullptr) return agent;
        const bool starts_more = word.starts_with('-') || word.find('=') != std::string::npos ||
                                 is_in(kLaunchers, name) || is_in(kInterpreters, name) ||
                                 is_in(kPackageRunners, name);
        if (!word.empty() && !starts_more) is_command = false;
        if (is_end) is_command = true;
        if (c == '\n') in_comment = false;
        word.clear();
    }
    return nullptr;
}

std::optional<std::string> found_in(std::string_view path, const std::string& program) {
    if (program.find('/') != std::string::npos) return program;
    while (!path.empty()) {
        const std::size_t end = std::min(path.find(':'), path.size());
        const std::string file = std::string(path.substr(0, end)) + "/" + program;
        if (::access(file.c_str(), X_OK) == 0) return file;
        path.remove_prefix(std::min(end + 1, path.size()));
    }
    return std::nullopt;
}

/// By the name, the package that it is in, or the words of a script.
const KnownAgent* of_file(const std::vector<KnownAgent>& agents, const std::string& file) {
    if (const KnownAgent* agent = of_name(agents, base_name(file))) return agent;
    std::error_code failed;
    const std::string real = std::filesystem::canonical(file, failed).string();
    if (failed) return nullptr;
    for (const KnownAgent& agent : agents) {
        for (const std::string& package : agent.packages)
            if (real.find("/node_modules/" + package + "/") != std::string::npos) return &agent;
    }
    if (const KnownAgent* agent = of_name(agents, base_name(real))) return agent;
    const Result<UniqueFd> open = sys::open_at(AT_FDCWD, real, O_RDONLY | O_NONBLOCK | O_NOCTTY);
    if (!open) return nullptr;
    std::string text(kMostOfScript, '\0');
    const Result<std::size_t> got =
        sys::read_at(open->get(), std::as_writable_bytes(std::span(text)), 0);
    text.resize(got ? *got : 0);
    return text.starts_with("#!")
               ? of_script(agents, text.substr(std::min(text.find('\n'), text.size())))
               : nullptr;
}

/// Behind options ("-y", "--yes") from `at` on.
std::size_t behind_options(const std::vector<std::string>& words, std::size_t at) {
    while (at < words.size() && words[at].starts_with('-'))
        ++at;
    return at;
}

}  // namespace

Recognised recognise(const std::vector<KnownAgent>& agents, const std::vector<std::string>& command,
                     std::string_view path) {
    std::size_t at = 0;
    const std::string first = command.empty() ? "" : base_name(command[0]);
    if (is_in(kLaunchers, first)) {
        for (at = 1; at < command.size(); ++at)
            if (of_name(agents, base_name(command[at])) != nullptr ||
                is_in(kPackageRunners, base_name(command[at])) ||
                is_in(kInterpreters, base_name(command[at])))
                break;
    }
    if (at >= command.size()) return {};
    const std::string program = base_name(command[at]);
    const bool manages = is_in(kPackageManagers, program) && at + 1 < command.size();
    const bool runs_package = is_in(kPackageRunners, program) ||
                              (manages && (command[at + 1] == "dlx" || command[at + 1] == "x" ||
                                           command[at + 1] == "exec"));
    if (runs_package) {
        at += manages ? std::size_t{2} : std::size_t{1};
        at = behind_options(command, at);
        if (at >= command.size()) return {};
        return {of_package(agents, command[at]), at + 1};
    }
    if (is_in(kInterpreters, program)) {
        const bool is_text = at + 2 < command.size() && command[at + 1] == "-c";
        if (is_text) return {of_script(agents, command[at + 2]), 0};
        at = behind_options(command, at + 1);
        if (at >= command.size()) return {};
        return {of_file(agents, command[at]), at + 1};
    }
    const std::optional<std::string> file = found_in(path, command[at]);
    return {file ? of_file(agents, *file) : of_name(agents, program), at + 1};
}

}  // namespace unwrite::cli
