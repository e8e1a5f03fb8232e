#include <fmt/format.h>

#include <limits>

#include "cli/commands/commands.h"
#include "cli/help.h"
#include "cli/settle.h"
#include "cli/text.h"
#include "cli/workspace.h"

namespace unwrite::cli {

namespace {

struct UndoOptions {
    std::string what = "1";
    bool dry_run = false;
};

Result<int> undo(Context& context, const UndoOptions& options) {
    const Result<std::uint64_t> count = parse_number(options.what);
    if (count && (*count == 0 || *count > std::numeric_limits<unsigned>::max())) {
        return Error(ErrorKind::kUsage, EINVAL,
                     "undo " + options.what + ": the number of steps is 1 or more");
    }
    TRY_ASSIGN(Workspace workspace, Workspace::open(context.base));
    overlay::Operations& operations = workspace.operations();
    if (!count) {
        TRY_ASSIGN(const overlay::Moved moved,
                   operations.revert(asker(), options.what, options.dry_run));
        print_moved(context, moved, "undid " + quote_name(options.what), options.dry_run);
        return kDone;
    }
    const unsigned steps = static_cast<unsigned>(*count);
    Result<int> outcome =
        restore(context, options.dry_run, "undid " + counted(steps, "step", "steps"),
                [&](overlay::Consent consent) { return operations.undo(asker(), steps, consent); });
    if (!outcome && outcome.error().kind() == ErrorKind::kNothing) {
        // The very words that the tool `Undo` answers with, and nothing else.
        return Error(ErrorKind::kNothing, outcome.error().number(),
                     "No edits have been applied to any file with this session.");
    }
    return outcome;
}

}  // namespace

void add_undo(CLI::App& app, Context& context) {
    const auto options = std::make_shared<UndoOptions>();
    CLI::App* command = add_command(
        app, context, "undo", "Take back the newest steps, one step, or all that one session did",
        options, undo);
    command->add_option(
        "WHAT", options->what,
        "How many steps (default 1), a step such as n7, or a session such as run-5");
    command->add_flag("--dry-run", options->dry_run, "Show what would happen");
    describe(*command,
             {.usage = "[OPTIONS] [WHAT]",
              .examples = {{"unwrite undo", "the newest step in \"unwrite log\""},
                           {"unwrite undo n7", "this step; later ones stay"},
                           {"unwrite undo run-5", "everything that this session did"}},
              .note = "If something changed the same lines later, nothing is undone and the "
                      "files are listed. \"unwrite redo\" reverses an undo."});
}

}  // namespace unwrite::cli
