#include <cerrno>

#include "cli/commands/commands.h"
#include "cli/prompt.h"
#include "cli/settle.h"
#include "cli/workspace.h"

namespace unwrite::cli {

namespace {

struct DiscardOptions {
    bool yes = false;
    bool purge = false;
    bool dry_run = false;
};

Result<int> discard(Context& context, const DiscardOptions& options) {
    TRY_ASSIGN(Workspace workspace, Workspace::open(context.base));
    const Act act = [&](overlay::Consent consent) {
        return workspace.operations().discard(asker(), options.purge, consent);
    };
    if (options.dry_run || !options.yes) {
        TRY_ASSIGN(const overlay::Moved foreseen, act(overlay::Consent::kNone));
        warn_of_moved(context, foreseen);
        if (options.dry_run) {
            print_moved(context, foreseen, "discarded the task", true);
            return kDone;
        }
        if (!can_ask()) {
            return Error(ErrorKind::kUsage, EINVAL, "discard: there is no terminal to ask on",
                         "use --yes to discard without being asked");
        }
        if (ask(context, "Discard all changes from this task? (y/n)", "yn") != 'y') {
            context.notes.line("Nothing was done.");
            return kNothingToDo;
        }
    }
    TRY_ASSIGN(const overlay::Moved moved,
               options.yes ? announce_and_act(context, act) : act(overlay::Consent::kAll));
    print_moved(context, moved, "discarded the task", false);
    if (!options.purge && !context.json) context.out.line(way_back(moved));
    return kDone;
}

}  // namespace

void add_discard(CLI::App& app, Context& context) {
    const auto options = std::make_shared<DiscardOptions>();
    CLI::App* command = add_command(
        app, context, "discard", "Take everything back to where the task began", options, discard);
    command->add_flag("--yes", options->yes, "Do not ask");
    command->add_flag("--purge", options->purge, "For good: without the possibility of a redo");
    command->add_flag("--dry-run", options->dry_run, "Only say what would happen");
}

}  // namespace unwrite::cli
