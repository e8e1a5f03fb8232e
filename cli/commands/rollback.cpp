#include "cli/commands/commands.h"
#include "cli/help.h"
#include "cli/settle.h"
#include "cli/text.h"
#include "cli/workspace.h"

namespace unwrite::cli {

namespace {

struct RollbackOptions {
    std::string node;
    bool pop = false;
    bool dry_run = false;
    bool outside = false;
};

std::string place_words(const std::string& node) {
    if (node.empty()) return "the newest checkpoint";
    if (node == "root") return "the start of the task";
    return is_node(node) ? node : "checkpoint \"" + harmless(node) + '"';
}

Result<int> rollback(Context& context, const RollbackOptions& options) {
    TRY_ASSIGN(Workspace workspace, Workspace::open(context.base));
    const std::string to = place_words(options.node);
    const Said said{.done = "Rolled back to " + to,
                    .would = "roll back to " + to,
                    .is_return = true,
                    .marked_by = &workspace.operations()};
    const Act act = [&](overlay::Consent consent) {
        return workspace.operations().rollback(asker(), options.node, options.pop, consent);
    };
    const GitBefore git(workspace);
    TRY_ASSIGN(const int done, restore(context, options.dry_run, said, act,
                                       options.outside ? Outside::kGoesToo : Outside::kIsAsked));
    if (!options.dry_run) git.print_difference(context);
    return done;
}

}  // namespace

void add_rollback(CLI::App& app, Context& context) {
    const auto options = std::make_shared<RollbackOptions>();
    CLI::App* command =
        add_command(app, context, "rollback", "Return to a checkpoint", options, rollback);
    command->add_option(
        "NODE", options->node,
        "A checkpoint's name, a state such as n7, or root for the start of the task "
        "(default: the newest checkpoint)");
    command->add_flag("--pop", options->pop,
                      "Close the checkpoint, so that the next rollback goes further back");
    command->add_flag("--outside", options->outside,
                      "Also undo changes that were made outside the mount, without asking");
    command->add_flag("--dry-run", options->dry_run, "Show what would happen");
    describe(*command, {.usage = "[OPTIONS] [NODE]",
                        .examples = {{"unwrite rollback before", "to a checkpoint by name"},
                                     {"unwrite rollback --dry-run", "look first"}},
                        .note = "\"unwrite redo\" reverses it."});
}

}  // namespace unwrite::cli
