#include <cerrno>

#include "cli/commands/commands.h"
#include "cli/help.h"
#include "cli/outside_shell.h"
#include "cli/text.h"
#include "cli/workspace.h"

namespace unwrite::cli {

namespace {

struct CheckpointOptions {
    std::string name;
    std::string text;
};

/// A state is nowhere different from itself, if there is one of that name.
bool is_taken(overlay::Operations& operations, const std::string& name) {
    return !name.empty() && operations.diff(name, name, {}, false).ok();
}

Result<int> checkpoint(Context& context, const CheckpointOptions& options) {
    if (is_node(options.name) || options.name == "root" ||
        options.name.find("..") != std::string::npos) {
        return Error(
            ErrorKind::kUsage, EINVAL,
            "checkpoint " + quote_name(options.name) + ": such a name would be taken for a node",
            "choose a name that is not nN or root and has no \"..\"");
    }
    TRY_ASSIGN(Workspace workspace, Workspace::open(context.base));
    const bool was_taken = is_taken(workspace.operations(), options.name);
    TRY_ASSIGN(const overlay::Node node,
               workspace.operations().checkpoint(asker(), overlay::NodeKind::kCheckpoint,
                                                 options.name, options.text));
    if (context.json) {
        context.out.line(control::dump(control::encode(node)));
    } else {
        const std::string name = node.name.empty() ? "" : " " + quote_name(node.name);
        context.out.line("checkpoint" + name + " is n" + std::to_string(node.number));
        if (was_taken) {
            context.notes.line("Until now the name " + quote_name(node.name) +
                               " meant an older state, which `unwrite log` still lists.");
        }
        tell_outside(context, workspace);
        if (!workspace.mount()) {
            context.notes.line(
                "The workspace is not mounted, so what changes now is not recorded. "
                "`unwrite mount` records again.");
        }
    }
    return kDone;
}

}  // namespace

void add_checkpoint(CLI::App& app, Context& context) {
    const auto options = std::make_shared<CheckpointOptions>();
    CLI::App* command =
        add_command(app, context, "checkpoint",
                    "Remember the current state so you can return to it", options, checkpoint);
    command->add_option("NAME", options->name, "A name for \"unwrite rollback NAME\"");
    command->add_option("-m,--message", options->text, "A note shown in the log");
    describe(*command,
             {.usage = "[OPTIONS] [NAME]",
              .examples = {{"unwrite checkpoint before", "return with: unwrite rollback before"},
                           {"unwrite checkpoint -m 'tests pass'", "without a name"}}});
}

}  // namespace unwrite::cli
