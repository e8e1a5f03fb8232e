#include <algorithm>
#include <cerrno>

#include "cli/commands/commands.h"
#include "cli/discarding.h"
#include "cli/help.h"
#include "cli/prompt.h"
#include "cli/render.h"
#include "cli/settle.h"
#include "cli/text.h"
#include "cli/workspace.h"

namespace unwrite::cli {

namespace {

const Said kOfAgents{"Took back what agents changed", "take back what agents changed"};
const Said kOfTask{"Discarded the task", "discard the task"};

struct DiscardOptions {
    std::vector<std::string> paths;
    bool yes = false;
    bool purge = false;
    bool dry_run = false;
    bool keep_mine = false;
    bool outside = false;
};

Result<> check_can_ask() {
    if (can_ask()) return {};
    return Error(ErrorKind::kUsage, EINVAL, "discard: there is no terminal to ask on",
                 "`unwrite discard --yes` discards without asking");
}

Result<int> discard_paths(Context& context, Workspace& workspace,
                          const std::vector<std::string>& paths, const DiscardOptions& options) {
    if (options.purge) {
        return Error(ErrorKind::kUsage, EINVAL,
                     "discard: --purge is for the whole task, so it does not work with paths",
                     "`unwrite gc` drops states that nothing leads to");
    }
    overlay::Operations& operations = workspace.operations();
    const std::string count = counted(paths.size(), "path", "paths");
    const Said done{"Took back " + count, "take back " + count};
    if (options.dry_run || !options.yes) {
        TRY_ASSIGN(const overlay::Moved foreseen,
                   operations.restore_paths(asker(), paths, "root", true));
        warn_of_moved(context, foreseen);
        if (options.dry_run) {
            print_moved(context, foreseen, done, true);
            return kDone;
        }
        TRY(check_can_ask());
        context.notes.print(change_lines(foreseen.changes, 20, Colour::kNo));
        if (!confirm(context, "Discard these changes? (y/n)")) {
            context.notes.line("Nothing was done.");
            return kNothingToDo;
        }
    }
    TRY_ASSIGN(const overlay::Moved moved, operations.restore_paths(asker(), paths, "root", false));
    print_moved(context, moved, done, false);
    return kDone;
}

// What only the user touched stays as it is; where an agent touched the same it is a conflict, and
// nothing is done.
Result<int> discard_work_of_agents(Context& context, Workspace& workspace,
                                   const DiscardOptions& options) {
    if (options.purge || !options.paths.empty()) {
        return Error(ErrorKind::kUsage, EINVAL,
                     "discard: --keep-mine is for the whole task, so it works neither with paths "
                     "nor with --purge",
                     "`unwrite discard --keep-mine`");
    }
    const auto act = [&](bool dry_run) {
        return workspace.operations().revert(asker(), ":agents", dry_run);
    };
    if (options.dry_run || !options.yes) {
        TRY_ASSIGN(const overlay::Moved foreseen, act(true));
        if (options.dry_run) {
            print_moved(context, foreseen, kOfAgents, true);
            return kDone;
        }
        TRY(check_can_ask());
        context.notes.print(change_lines(foreseen.changes, 20, Colour::kNo));
        print_kept(context.notes, foreseen);
        if (!confirm(context, "Discard what agents changed, and keep your own changes? (y/n)")) {
            context.notes.line("Nothing was done.");
            return kNothingToDo;
        }
    }
    TRY_ASSIGN(const overlay::Moved moved, act(false));
    print_moved(context, moved, kOfAgents, false);
    return kDone;
}

Result<Discarding> wanted_of_task(Context& context, Workspace& workspace, const Discardable& what) {
    TRY(check_can_ask());
    return ask_to_discard(context, workspace, what);
}

Result<int> discard_task(Context& context, Workspace& workspace, const DiscardOptions& options) {
    const Act act = [&](overlay::Consent consent) {
        return workspace.operations().discard(asker(), options.purge, consent);
    };
    const Discardable what{"", "", act, options.purge};
    if (options.dry_run) return restore(context, true, kOfTask, act);
    Discarding wanted = Discarding::kAll;
    if (!options.yes) {
        TRY_ASSIGN(wanted, wanted_of_task(context, workspace, what));
    }
    if (wanted == Discarding::kAgents) {
        TRY_ASSIGN(const overlay::Moved moved,
                   discard_part(workspace.operations(), what, wanted, false));
        print_moved(context, moved, kOfAgents, false);
        return kDone;
    }
    if (wanted != Discarding::kAll) {
        context.notes.line("Nothing was done.");
        return kNothingToDo;
    }
    TRY_ASSIGN(const overlay::Moved moved,
               options.yes
                   ? announce_and_act(context, act,
                                      options.outside ? Outside::kGoesToo : Outside::kIsAsked)
                   : act(overlay::Consent::kAll));
    ignore(workspace.note_answered(), "a later mount says that it was interrupted, then");
    print_moved(context, moved, {kOfTask.done, kOfTask.would, !options.purge}, false);
    return kDone;
}

Result<int> discard(Context& context, const DiscardOptions& options) {
    TRY_ASSIGN(Workspace workspace, Workspace::open(context.base));
    if (options.keep_mine) return discard_work_of_agents(context, workspace, options);
    std::vector<std::string> paths;
    for (const std::string& path : options.paths) {
        TRY_ASSIGN(paths.emplace_back(), workspace.inside(context.base, path));
    }
    const bool whole = std::find(paths.begin(), paths.end(), "") != paths.end();
    if (!paths.empty() && !whole) return discard_paths(context, workspace, paths, options);
    return discard_task(context, workspace, options);
}

}  // namespace

void add_discard(CLI::App& app, Context& context) {
    const auto options = std::make_shared<DiscardOptions>();
    CLI::App* command = add_command(
        app, context, "discard",
        "Take back all changes since the task began, or those of some paths", options, discard);
    command->add_option("PATH", options->paths, "Take back only these paths");
    command->add_flag("--yes", options->yes, "Do not ask");
    command->add_flag("--purge", options->purge, "Delete the changes for good; no redo");
    command->add_flag("--keep-mine", options->keep_mine,
                      "Take back only the agents' changes; a change that cannot be separated from "
                      "yours is a conflict, and nothing is done");
    command->add_flag("--outside", options->outside,
                      "With --yes: also undo changes that were made outside the mount");
    command->add_flag("--dry-run", options->dry_run, "Show what would happen");
    describe(*command,
             {.usage = "[OPTIONS] [PATH...]",
              .examples = {{"unwrite discard --dry-run", "look first"},
                           {"unwrite discard --keep-mine", "only what agents changed"},
                           {"unwrite discard src/main.c", "only this file"}},
              .note = "\"unwrite redo\" brings the changes back, unless you used --purge."});
}

}  // namespace unwrite::cli
