#include "cli/parentage.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "base/syscalls.h"
#include "cli/known_agents.h"
#include "control/peer.h"

namespace unwrite::cli {

namespace {

constexpr int kMostAncestors = 64;
constexpr std::array<std::string_view, 6> kShells = {"sh", "bash", "dash", "zsh", "fish", "ash"};

std::vector<std::string> command_of(pid_t pid) {
    const auto text = sys::read_file_at(AT_FDCWD, "/proc/" + std::to_string(pid) + "/cmdline");
    std::vector<std::string> words;
    for (std::size_t at = 0; text && at < text->size();) {
        const std::size_t end = std::min(text->find('\0', at), text->size());
        words.push_back(text->substr(at, end - at));
        at = end + 1;
    }
    return words;
}

std::string program_of(pid_t pid) {
    auto name = sys::read_file_at(AT_FDCWD, "/proc/" + std::to_string(pid) + "/comm");
    if (!name) return "";
    while (name->ends_with('\n'))
        name->pop_back();
    return *name;
}

/// A shell that was given text to run is looked through by recognise(), but is not the agent.
bool is_shell(const std::string& program) {
    return std::find(kShells.begin(), kShells.end(), program) != kShells.end();
}

std::string agent_name(const std::vector<KnownAgent>& agents, pid_t pid) {
    if (is_shell(program_of(pid))) return "";
    const std::vector<std::string> command = command_of(pid);
    if (command.empty()) return "";
    const Recognised found = recognise(agents, command, "");
    return found.agent != nullptr ? found.agent->name : "";
}

}  // namespace

std::string process_name(pid_t pid) {
    const std::string agent = agent_name(known_agents(), pid);
    if (!agent.empty()) return agent;
    const std::string program = program_of(pid);
    return program.empty() ? "process" : program;
}

pid_t agent_above(const std::string& agent) {
    const std::vector<KnownAgent> agents = known_agents();
    pid_t nearest = 0;
    pid_t at = ::getppid();
    for (int i = 0; i < kMostAncestors && at > 1; ++i) {
        if (agent_name(agents, at) == agent) return at;
        if (nearest == 0 && !is_shell(program_of(at))) nearest = at;
        const auto process = control::read_process(at);
        if (!process) break;
        at = process->parent;
    }
    return nearest;
}

}  // namespace unwrite::cli
