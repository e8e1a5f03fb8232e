#include <cerrno>

#include "cli/commands/commands.h"
#include "cli/help.h"
#include "cli/settle.h"
#include "cli/workspace.h"

namespace unwrite::cli {

namespace {

struct RedoOptions {
    unsigned count = 1;
    bool dry_run = false;
};

Result<int> redo(Context& context, const RedoOptions& options) {
    if (options.count == 0)
        return Error(ErrorKind::kUsage, EINVAL, "redo 0: the number of steps is 1 or more",
                     "`unwrite redo` takes one step again");
    TRY_ASSIGN(Workspace workspace, Workspace::open(context.base));
    const Said said{.done = "Redone",
                    .would = "redo",
                    .can_redo = false,
                    .is_return = true,
                    .marked_by = &workspace.operations()};
    if (!options.dry_run) {
        const GitBefore git(workspace);
        TRY_ASSIGN(const overlay::Moved moved,
                   workspace.operations().redo(asker(), options.count, overlay::Consent::kAll));
        print_moved(context, moved, said, false);
        git.print_difference(context);
        return kDone;
    }
    return restore(context, true, said, [&](overlay::Consent consent) {
        return workspace.operations().redo(asker(), options.count, consent);
    });
}

}  // namespace

void add_redo(CLI::App& app, Context& context) {
    const auto options = std::make_shared<RedoOptions>();
    CLI::App* command = add_command(
        app, context, "redo", "Reverse the last undo, rollback, discard or restore", options, redo);
    command->add_option("N", options->count, "How many of them (default 1)");
    command->add_flag("--dry-run", options->dry_run, "Show what would happen");
    describe(*command, {.usage = "[OPTIONS] [N]",
                        .examples = {{"unwrite redo", "bring back what the last undo took"},
                                     {"unwrite redo --dry-run", "look first"}}});
}

}  // namespace unwrite::cli
