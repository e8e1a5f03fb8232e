#include "cli/commands/commands.h"
#include "cli/prompt.h"
#include "cli/workspace.h"

namespace unwrite::cli {

namespace {

struct CommitOptions {
    std::string text;
    bool keep_history = false;
    bool yes = false;
};

Result<int> commit(Context& context, const CommitOptions& options) {
    TRY_ASSIGN(Workspace workspace, Workspace::open(context.base));
    if (!options.yes && !options.keep_history && can_ask() &&
        ask(context,
            "Accept all changes of this task? They can then no longer be taken back. (y/n)",
            "yn") != 'y') {
        context.notes.line("Nothing was done.");
        return kNothingToDo;
    }
    TRY_ASSIGN(const overlay::Node node,
               workspace.operations().commit(asker(), options.text, options.keep_history));
    if (context.json) {
        context.out.line(control::dump(control::encode(node)));
    } else {
        context.out.line("committed; the new root is n" + std::to_string(node.number));
    }
    return kDone;
}

}  // namespace

void add_commit(CLI::App& app, Context& context) {
    const auto options = std::make_shared<CommitOptions>();
    CLI::App* command =
        add_command(app, context, "commit", "Accept everything that changed", options, commit);
    command->add_option("-m,--message", options->text, "A word about it, for the log");
    command->add_flag("--keep-history", options->keep_history,
                      "Keep the states before it until gc");
    command->add_flag("--yes", options->yes, "Do not ask");
}

}  // namespace unwrite::cli
