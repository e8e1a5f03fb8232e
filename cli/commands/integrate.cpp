#include <algorithm>
#include <cerrno>

#include "cli/commands/commands.h"
#include "cli/help.h"
#include "cli/installing.h"
#include "cli/text.h"
#include "cli/workspace.h"
#include "control/protocol.h"
#include "edit/diff.h"

namespace unwrite::cli {

namespace {

struct IntegrateOptions {
    std::string agent;
    bool print = false;
    bool undo = false;
    bool user = false;
    bool project = false;
};

const char* word(PieceAction action) {
    switch (action) {
        case PieceAction::kSame:
            return "same";
        case PieceAction::kCreate:
            return "create";
        case PieceAction::kChange:
            return "change";
        case PieceAction::kRestore:
            return "restore";
        case PieceAction::kTakeOut:
            return "take-out";
        case PieceAction::kRemove:
            return "remove";
        case PieceAction::kLeave:
            return "leave";
    }
    return "";
}

bool does_anything(const InstallPlan& plan) {
    return std::any_of(plan.begin(), plan.end(), [](const PlannedPiece& piece) {
        return piece.file.before != piece.file.after;
    });
}

Result<std::string> diff_of(const FileChange& file) {
    const std::string name = file.path.substr(1);
    return edit::unified_diff({.path = name, .text = file.before},
                              {.path = name, .text = file.after});
}

Result<> show(Context& context, const Integration& integration, const InstallPlan& plan,
              bool print) {
    control::Json list = control::Json::array();
    for (const PlannedPiece& piece : plan) {
        const bool changes = piece.file.before != piece.file.after;
        list.push_back(
            {{"path", control::encode_bytes(piece.file.path)}, {"action", word(piece.action)}});
        if (context.json) continue;
        if (print && changes) {
            TRY_ASSIGN(const std::string diff, diff_of(piece.file));
            context.out.print(context.out.is_terminal() ? harmless(diff) : diff);
        } else if (changes) {
            context.out.line(std::string(word(piece.action)) + " " + quote_name(piece.file.path));
        } else if (piece.action == PieceAction::kLeave) {
            context.out.line("leave " + quote_name(piece.file.path) + " (changed since)");
        }
    }
    if (context.json) {
        context.out.line(
            control::dump(control::Json{{"agent", integration.agent},
                                        {"place", control::encode_bytes(integration.place)},
                                        {"files", std::move(list)},
                                        {"done", !print && does_anything(plan)}}));
    }
    return {};
}

// Where a client is started: the workspace's root when there is one, else here.
std::string project_of(const Context& context) {
    const auto workspace = Workspace::open_mounted(context.base);
    return workspace ? workspace->root() : context.base;
}

Result<int> integrate(Context& context, const IntegrateOptions& options) {
    TRY_ASSIGN(const Integration integration,
               integration_of(options.agent, project_of(context),
                              options.user ? Scope::kUser : Scope::kProject));
    TRY_ASSIGN(FileSet files, FileSet::open());
    TRY_ASSIGN(const InstallPlan plan,
               options.undo ? plan_removal(files, integration) : plan_install(files, integration));
    const bool anything = does_anything(plan);
    if (anything && !options.print) {
        TRY(options.undo ? remove_install(files, integration, plan)
                         : install(files, integration, plan));
    }
    TRY(show(context, integration, plan, options.print));
    if (context.json || (options.print && anything)) return kDone;
    if (!anything && options.undo) {
        return Error(ErrorKind::kNothing, ENOENT,
                     "integrate " + integration.agent + ": there is nothing to remove in " +
                         quote_name(integration.place));
    }
    const std::string where = integration.agent + " in " + quote_name(integration.place);
    if (options.undo) {
        context.notes.line("took out of " + where);
    } else if (anything) {
        context.notes.line("integrated with " + where + "; `unwrite integrate " +
                           integration.agent + (options.user ? " --user" : "") +
                           " --undo` takes it back");
    } else {
        context.notes.line("integrated with " + where + " already");
    }
    if (!options.undo && !integration.next_step.empty()) context.notes.line(integration.next_step);
    return kDone;
}

}  // namespace

void add_integrate(CLI::App& app, Context& context) {
    const auto options = std::make_shared<IntegrateOptions>();
    CLI::App* command = add_command(app, context, "integrate",
                                    "Set up a coding agent to use unwrite", options, integrate);
    command->add_option("AGENT", options->agent, integrated_agents())->required();
    CLI::Option* user = command->add_flag("--user", options->user, "For all of your sessions");
    command->add_flag("--project", options->project, "For sessions in this project (the default)")
        ->excludes(user);
    command->add_flag("--print", options->print, "Show what would be written, and write nothing");
    command->add_flag("--undo", options->undo, "Remove the settings again");
    describe(
        *command,
        {.usage = "[OPTIONS] AGENT",
         .examples = {{"unwrite integrate claude-code --print", "look first"},
                      {"unwrite integrate claude-code --user", "for all of your sessions"},
                      {"unwrite integrate claude-code --user --undo", "remove it again"}},
         .note = "It changes settings files of the agent (for codex, always your own in ~/.codex) "
                 "and keeps everything else in them. --undo restores the same bytes if you have "
                 "not changed the files since."});
}

}  // namespace unwrite::cli
