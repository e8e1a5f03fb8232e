#include "cli/commands/commands.h"
#include "cli/settle.h"
#include "cli/text.h"
#include "cli/workspace.h"

namespace unwrite::cli {

namespace {

struct RollbackOptions {
    std::string node;
    bool pop = false;
    bool dry_run = false;
};

Result<int> rollback(Context& context, const RollbackOptions& options) {
    TRY_ASSIGN(Workspace workspace, Workspace::open(context.base));
    const std::string done =
        "rolled back" + (options.node.empty() ? "" : " to " + quote_name(options.node));
    return restore(context, options.dry_run, done, [&](overlay::Consent consent) {
        return workspace.operations().rollback(asker(), options.node, options.pop, consent);
    });
}

}  // namespace

void add_rollback(CLI::App& app, Context& context) {
    const auto options = std::make_shared<RollbackOptions>();
    CLI::App* command =
        add_command(app, context, "rollback", "Back to a checkpoint, exactly", options, rollback);
    command->add_option("NODE", options->node,
                        "A checkpoint's name, nK or root (default: the newest named checkpoint)");
    command->add_flag("--pop", options->pop,
                      "Close the checkpoint as well; without it it stays for another rollback");
    command->add_flag("--dry-run", options->dry_run, "Only say what would happen");
}

}  // namespace unwrite::cli
