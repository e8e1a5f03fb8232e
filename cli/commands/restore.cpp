#include <cerrno>

#include "cli/commands/commands.h"
#include "cli/help.h"
#include "cli/prompt.h"
#include "cli/render.h"
#include "cli/settle.h"
#include "cli/text.h"
#include "cli/workspace.h"

namespace unwrite::cli {

namespace {

struct RestoreOptions {
    std::vector<std::string> paths;
    std::string from = "root";
    bool dry_run = false;
    bool yes = false;
};

/// Whether to go on although `foreseen` deletes something: nobody expects that of a command that
/// brings back.
Result<bool> may_delete(Context& context, const overlay::Moved& foreseen,
                        const RestoreOptions& options) {
    std::vector<overlay::Change> deleted = foreseen.changes;
    std::erase_if(deleted, [](const overlay::Change& change) {
        return change.kind != overlay::ChangeKind::kDeleted;
    });
    if (deleted.empty()) return true;
    const std::string since = options.from == "root" ? "the task began" : quote_name(options.from);
    if (!can_ask()) {
        return Error(ErrorKind::kUsage, EINVAL,
                     "restore: " + quote_name(deleted.front().path) +
                         (deleted.size() > 1 ? " and others were" : " was") + " created since " +
                         since + " and would be deleted; there is no terminal to ask on",
                     "`unwrite restore --yes` deletes without asking");
    }
    context.notes.line("Created since " + since + ", and would be deleted:");
    context.notes.print(change_lines(deleted, 20, Colour::kNo));
    return confirm(context, deleted.size() > 1 ? "Delete them? (y/n)" : "Delete it? (y/n)");
}

Result<int> restore_paths(Context& context, const RestoreOptions& options) {
    TRY_ASSIGN(Workspace workspace, Workspace::open(context.base));
    std::vector<std::string> paths;
    for (const std::string& path : options.paths) {
        TRY_ASSIGN(paths.emplace_back(), workspace.inside(context.base, path));
    }
    const std::string what =
        counted(paths.size(), "path", "paths") + " from " +
        (options.from == "root" ? "the start of the task" : quote_name(options.from));
    const Said done{"Restored " + what, "restore " + what};
    if (!options.dry_run && !options.yes) {
        TRY_ASSIGN(const overlay::Moved foreseen,
                   workspace.operations().restore_paths(asker(), paths, options.from, true));
        TRY_ASSIGN(const bool may, may_delete(context, foreseen, options));
        if (!may) {
            context.notes.line("Nothing was done.");
            return kNothingToDo;
        }
    }
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
    command->add_flag("--yes", options->yes,
                      "Do not ask before deleting files that did not exist in that state");
    command->add_flag("--dry-run", options->dry_run, "Show what would happen");
    describe(*command,
             {.usage = "[OPTIONS] PATH...",
              .examples = {{"unwrite restore src/main.c", "as it was when the task began"},
                           {"unwrite restore src --from before", "as it was at a checkpoint"}},
              .note = "\"unwrite redo\" or \"unwrite undo\" reverses it."});
}

}  // namespace unwrite::cli
