#include <fmt/format.h>

#include "cli/commands/commands.h"
#include "cli/help.h"
#include "cli/lost.h"
#include "cli/text.h"
#include "cli/workspace.h"

namespace unwrite::cli {

namespace {

struct CheckOptions {
    bool repair = false;
};

Result<int> check(Context& context, const CheckOptions& options) {
    TRY_ASSIGN(Workspace workspace, Workspace::open(context.base));
    TRY_ASSIGN(const overlay::Checked checked, workspace.operations().check(options.repair));
    const bool sound = checked.problems.size() <= checked.repaired.size();
    if (context.json) {
        context.out.line(control::dump(control::encode(checked)));
        return sound ? kDone : kNeedsRecovery;
    }
    for (const std::string& problem : checked.problems)
        context.out.line("problem: " + harmless(problem));
    for (const std::string& repaired : checked.repaired)
        context.out.line("repaired: " + harmless(repaired));
    context.out.line(fmt::format(
        "{}, {}, {} ({}), {} in the attic: {}", counted(checked.nodes, "state", "states"),
        counted(checked.deltas, "delta", "deltas"), counted(checked.records, "record", "records"),
        size_words(checked.bytes), counted(checked.attic_objects, "object", "objects"),
        checked.problems.empty() ? "no problems"
                                 : counted(checked.problems.size(), "problem", "problems")));
    for (const std::string& line : lost_lines(checked.lost))
        context.out.line(line);
    if (!sound && !options.repair)
        context.notes.line("hint: `unwrite check --repair` repairs what can be repaired");
    return sound ? kDone : kNeedsRecovery;
}

}  // namespace

void add_check(CLI::App& app, Context& context) {
    const auto options = std::make_shared<CheckOptions>();
    CLI::App* command =
        add_command(app, context, "check", "Check the recorded history for damage", options, check);
    command->add_flag("--repair", options->repair, "Repair whatever can be repaired");
    describe(*command, {.usage = "[OPTIONS]",
                        .examples = {{"unwrite check", "only look"},
                                     {"unwrite check --repair", "look, and repair"}}});
}

}  // namespace unwrite::cli
