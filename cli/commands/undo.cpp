#include <fmt/format.h>

#include <limits>

#include "cli/commands/commands.h"
#include "cli/help.h"
#include "cli/log_lines.h"
#include "cli/outside_shell.h"
#include "cli/prompt.h"
#include "cli/refusals.h"
#include "cli/render.h"
#include "cli/settle.h"
#include "cli/text.h"
#include "cli/workspace.h"

namespace unwrite::cli {

namespace {

struct UndoOptions {
    std::string what = "1";
    bool dry_run = false;
};

/// What an agent takes back never includes changes of the user. Agents run commands on terminals
/// that nobody sees, and a question there would wait forever.
bool is_agent(Workspace& workspace, std::int64_t since_ns) {
    const auto asking = refused_of(workspace, "", since_ns);
    return asking && asking->agent;
}

/// Who types `undo` after a run most likely means the run: his own change above it is asked about.
Result<bool> is_wanted(Context& context, Workspace& workspace) {
    if (!can_ask() || context.json) return true;
    TRY_ASSIGN(const overlay::Log log, workspace.operations().log("", false, true));
    if (log.open_changes.empty() || log.entries.empty()) return true;
    const overlay::LogEntry& below = log.entries.front();
    if (below.node.kind != overlay::NodeKind::kRun && !below.running) return true;
    if (is_agent(workspace, below.node.time_ns)) return true;
    const std::string run = fmt::format("n{}", below.node.number);
    context.notes.line("Your own changes since the run " + run + " (" + step_title(below, log) +
                       ") are the newest step:");
    context.notes.print(change_lines(log.open_changes, 10, Colour::kNo));
    context.notes.line("To undo the run and keep them: unwrite undo " + run);
    return confirm(context, "Undo your own changes? (y/n)");
}

Result<int> undo(Context& context, const UndoOptions& options) {
    const Result<std::uint64_t> count = parse_number(options.what);
    if (count && (*count == 0 || *count > std::numeric_limits<unsigned>::max())) {
        return Error(ErrorKind::kUsage, EINVAL,
                     "undo " + options.what + ": the number of steps is 1 or more",
                     "`unwrite undo` takes back the newest step");
    }
    TRY_ASSIGN(Workspace workspace, Workspace::open(context.base));
    tell_outside(context, workspace);
    overlay::Operations& operations = workspace.operations();
    const std::string what = count ? counted(*count, "step", "steps") : quote_name(options.what);
    const Said said{.done = "Undid " + what, .would = "undo " + what, .marked_by = &operations};
    if (!count) {
        const GitBefore git(workspace);
        TRY_ASSIGN(const overlay::Moved moved,
                   operations.revert(asker(), options.what, options.dry_run));
        print_moved(context, moved, said, options.dry_run);
        if (!options.dry_run) git.print_difference(context);
        return kDone;
    }
    const unsigned steps = static_cast<unsigned>(*count);
    if (steps == 1 && !options.dry_run) {
        TRY_ASSIGN(const bool wanted, is_wanted(context, workspace));
        if (!wanted) {
            context.notes.line("Nothing was done.");
            return kNothingToDo;
        }
    }
    const GitBefore git(workspace);
    TRY_ASSIGN(const int done,
               restore(context, options.dry_run, said, [&](overlay::Consent consent) {
                   return operations.undo(asker(), steps, consent);
               }));
    if (!options.dry_run) git.print_difference(context);
    return done;
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
              .note = "A step or session by name is undone as far as possible: other changes in "
                      "the same files stay. Files in which the same lines were changed again "
                      "later stay as they are and are listed. \"unwrite redo\" reverses an "
                      "undo."});
}

}  // namespace unwrite::cli
