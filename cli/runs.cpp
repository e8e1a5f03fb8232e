#include "cli/runs.h"

#include <fmt/format.h>

#include "cli/text.h"

namespace unwrite::cli {

std::vector<RunGoingOn> runs_going_on(Workspace& workspace) {
    std::vector<RunGoingOn> runs;
    if (workspace.remote() == nullptr) return runs;
    for (const std::uint64_t number : workspace.remote()->info().runs) {
        RunGoingOn run{number, fmt::format("run-{}", number), ""};
        const auto node = workspace.operations().trunk(number, 1);
        if (node && !node->empty()) {
            const auto name = node->front().tags.find("session");
            if (name != node->front().tags.end()) run.session = name->second;
            run.command = node->front().text;
        }
        runs.push_back(std::move(run));
    }
    return runs;
}

std::string run_words(const std::vector<RunGoingOn>& runs) {
    constexpr std::size_t kMostOfCommand = 40;
    std::string text;
    for (const RunGoingOn& run : runs) {
        std::string command = harmless(run.command);
        if (command.size() > kMostOfCommand) command = command.substr(0, kMostOfCommand) + "...";
        text += (text.empty() ? "" : ", ") + harmless(run.session);
        if (!command.empty()) text += " (" + command + ")";
    }
    return text;
}

}  // namespace unwrite::cli
