#include <cerrno>

#include "cli/commands/commands.h"
#include "cli/failure.h"
#include "cli/help.h"
#include "cli/known_path.h"
#include "cli/log_lines.h"
#include "cli/outside_shell.h"
#include "cli/render.h"
#include "cli/text.h"
#include "cli/workspace.h"

namespace unwrite::cli {

namespace {

/// Of a longer history only the titles are listed: to count the files takes its time.
constexpr std::size_t kMostCounted = 2000;

struct LogOptions {
    std::string path;
    bool all = false;
    bool changes = false;
    bool audit = false;
};

Result<int> audit(Context& context, Workspace& workspace) {
    TRY_ASSIGN(const overlay::AuditTrail trail,
               workspace.oversight().audit(control::kMostAuditEntries));
    if (context.json) {
        context.out.line(control::dump(control::encode(trail)));
    } else {
        context.out.print(audit_lines(trail));
    }
    for (const std::string& problem : trail.problems)
        tell_failure(context, problem);
    return trail.problems.empty() ? kDone : kNeedsRecovery;
}

Result<int> log(Context& context, const LogOptions& options) {
    TRY_ASSIGN(Workspace workspace, Workspace::open(context.base));
    if (options.audit) return audit(context, workspace);
    std::string path;
    if (!options.path.empty()) {
        TRY_ASSIGN(path, workspace.inside(context.base, options.path));
        TRY_ASSIGN(const bool known, is_known_path(workspace, path));
        if (!known) {
            return Error(ErrorKind::kNotFound, ENOENT,
                         "log: " + quote_name(options.path) +
                             " is not in the workspace, and no state of the log had it",
                         "`unwrite log --changes` lists the paths that changed");
        }
    }
    overlay::Operations& operations = workspace.operations();
    bool changes = options.changes || context.json || !path.empty();
    TRY_ASSIGN(overlay::Log found, operations.log(path, options.all, changes));
    if (!changes && found.entries.size() <= kMostCounted) {
        TRY_ASSIGN(found, operations.log(path, options.all, true));
    }
    if (context.json) {
        context.out.line(control::dump(control::encode(found)));
        return kDone;
    }
    // A hidden state, such as the beginning of a run, is where its newest step leads.
    if (path.empty()) found.current = newest_step(found);
    context.out.print(log_lines(found, options.changes || !path.empty(),
                                context.out.has_colour() ? Colour::kYes : Colour::kNo));
    tell_outside(context, workspace);
    return kDone;
}

}  // namespace

void add_log(CLI::App& app, Context& context) {
    const auto options = std::make_shared<LogOptions>();
    CLI::App* command =
        add_command(app, context, "log", "Show the history, newest first", options, log);
    command->add_option("PATH", options->path, "Only steps that changed this path or below it");
    command->add_flag("--all", options->all,
                      "Also show abandoned states: those that undo, rollback or discard left");
    command->add_flag("--audit", options->audit,
                      "Show refusals, questions and answers, and which watched files were read");
    command->add_flag("--changes", options->changes, "List what each step changed, and who did it");
    describe(*command,
             {.usage = "[OPTIONS] [PATH]",
              .examples = {{"unwrite log", "all steps"},
                           {"unwrite log --changes src", "who changed what below src"}},
              .note = "@ marks where you are, * the states before it, x abandoned states."});
}

}  // namespace unwrite::cli
