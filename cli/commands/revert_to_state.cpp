#include "cli/commands/revert_to_state.h"

#include <cerrno>
#include <nlohmann/json.hpp>

#include "cli/commands/commands.h"
#include "cli/editing_room.h"
#include "cli/failure.h"
#include "cli/help.h"
#include "cli/text.h"
#include "control/remote_reverts.h"

namespace unwrite::cli {

namespace {

struct RevertOptions {
    std::string category;
    std::string step;
    std::string summary;
};

// The words of the tool, so that one decoder checks both.
std::string request_of(const RevertOptions& options) {
    nlohmann::ordered_json json;
    json["category"] = options.category;
    json["step"] = options.step;
    if (!options.summary.empty()) json["summary"] = options.summary;
    return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

/// Prints what came of a request; false when it was refused.
bool print_event(Context& context, const std::string& event) {
    const auto json = nlohmann::ordered_json::parse(event, nullptr, /*allow_exceptions=*/false);
    const bool applied = json.is_object() && json.value("applied", false);
    if (context.json) {
        context.out.line(event);
    } else if (applied) {
        context.out.line("reverted to n" + std::to_string(json.value("target", 0ull)));
    } else {
        const bool says = json.is_object() && json.contains("reason") && json["reason"].is_string();
        tell_failure(context, says ? json["reason"].get<std::string>() : "refused");
    }
    return applied;
}

Result<int> revert(Context& context, const RevertOptions& options) {
    TRY_ASSIGN(Workspace workspace, Workspace::open(context.base));
    std::optional<control::RemoteReverts> remote;
    if (workspace.mount()) remote.emplace(*workspace.mount());
    overlay::Reverts* const reverts =
        remote ? &*remote : overlay::reverts_of(workspace.operations());
    if (reverts == nullptr)
        return Error(ErrorKind::kUsage, ENOTSUP, "nothing can be reverted here");
    if (!options.category.empty()) {
        TRY_ASSIGN(const std::string acknowledgement,
                   reverts->request_revert(asker(), request_of(options), false));
        context.notes.line(harmless(acknowledgement));
    }
    const std::string writers = writers_of(workspace);
    if (!writers.empty()) {
        return Error(ErrorKind::kConflict, EBUSY,
                     "these programs have files open for writing: " + writers,
                     "end them, then `unwrite revert-to-state` carries out what waits");
    }
    TRY_ASSIGN(const std::vector<std::string> events, reverts->apply_reverts(asker()));
    if (events.empty())
        return Error(ErrorKind::kNothing, ENOENT, "nothing waits to be carried out");
    bool all = true;
    for (const std::string& event : events)
        all = print_event(context, event) && all;
    return all ? kDone : kRefused;
}

}  // namespace

void add_revert_to_state(CLI::App& app, Context& context) {
    const auto options = std::make_shared<RevertOptions>();
    CLI::App* command = add_command(
        app, context, "revert-to-state",
        "Return to a state with a note, or turn the steps since it into one", options, revert);
    CLI::Option* category = command->add_option(
        "CATEGORY", options->category,
        "failure or tangent: return to the state. completion or step-summary: keep the files and "
        "turn the steps since the state into one");
    CLI::Option* step = command->add_option("STEP", options->step, "The state: n10 or 10");
    category->needs(step);
    command->add_option("--summary", options->summary, "A note shown with the state")->needs(step);
    describe(*command,
             {.usage = "[OPTIONS] [CATEGORY STEP]",
              .examples = {{"unwrite revert-to-state failure n10 --summary 'does not link'", ""},
                           {"unwrite revert-to-state step-summary n10", ""}},
              .note = "Without arguments it carries out the requests of agents that still wait."});
}

}  // namespace unwrite::cli
