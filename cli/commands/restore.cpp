#include "cli/commands/commands.h"
#include "cli/help.h"
#include "cli/settle.h"
#include "cli/text.h"
#include "cli/workspace.h"

namespace unwrite::cli {

namespace {

struct RestoreOptions {
    std::vector<std::string> paths;
    std::string from = "root";
    bool dry_run = false;
};

Result<int> restore_paths(Context& context, const RestoreOptions& options) {
    TRY_ASSIGN(Workspace workspace, Workspace::open(context.base));
    std::vector<std::string> paths;
    for (const std::string& path : options.paths) {
        TRY_ASSIGN(paths.emplace_back(), workspace.inside(context.base, path));
    }
    const std::string done =
        "restored " + counted(paths.size(), "path", "paths") + " from " + quote_name(options.from);
    TRY_ASSIGN(const overlay::Moved moved,
               workspace.operations().restore_paths(asker(), paths, options.from, options.dry_run));
    print_moved(context, moved, done, options.dry_run);
    return kDone;
}

}  // namespace

void add_restore(CLI::App& app, Context& context) {
    const auto options = std::make_shared<RestoreOptions>();
    CLI::App* command = add_command(app, context, "restore",
                                    "Bring back single files or directories from an earlier state",
                                    options, restore_paths);
    command->add_option("PATH", options->paths, "Files or directories")->required();
    command
        ->add_option("--from", options->from,
                     "A state of the log or a checkpoint's name (default: the start of the task)")
        ->type_name("NODE");
    command->add_flag("--dry-run", options->dry_run, "Show what would happen");
    describe(*command,
             {.usage = "[OPTIONS] PATH...",
              .examples = {{"unwrite restore src/main.c", "as it was when the task began"},
                           {"unwrite restore src --from before", "as it was at a checkpoint"}},
              .note = "\"unwrite redo\" or \"unwrite undo\" reverses it."});
}

}  // namespace unwrite::cli
