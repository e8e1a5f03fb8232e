#include <cerrno>

#include "cli/commands/commands.h"
#include "cli/help.h"
#include "cli/task_words.h"
#include "cli/text.h"
#include "cli/workspace.h"

namespace unwrite::cli {

namespace {

struct TaskOptions {
    std::string name;
};

Result<int> task(Context& context, const TaskOptions& options) {
    TRY_ASSIGN(Workspace workspace, Workspace::open(context.base));
    overlay::Asker who = asker();
    who.cause = task_cause(options.name);
    if (who.cause.size() > overlay::kMostOfCause)
        return Error(ErrorKind::kUsage, EINVAL, "task: the name is too long");
    TRY_ASSIGN(const overlay::Node node,
               workspace.operations().commit(who, options.name.empty() ? "task" : options.name,
                                             /*keep_history=*/true));
    if (context.json) {
        context.out.line(control::dump(control::encode(node)));
        return kDone;
    }
    context.out.line(task_title(options.name) + " begins here, at n" + std::to_string(node.number) +
                     ".");
    context.out.line(
        "\"unwrite discard\" returns to this state. Older states are in \"unwrite log --all\".");
    return kDone;
}

}  // namespace

void add_task(CLI::App& app, Context& context) {
    const auto options = std::make_shared<TaskOptions>();
    CLI::App* command =
        add_command(app, context, "task", "Begin a new task here and keep the history before it",
                    options, task);
    command->add_option("NAME", options->name, "A name, shown by \"unwrite status\"");
    describe(*command,
             {.usage = "[NAME]",
              .examples = {{"unwrite task 'fix the parser'", "discard now returns to this state"},
                           {"unwrite task", "without a name"}},
              .note = "undo stops where the task began. To go back further, use "
                      "\"unwrite rollback NODE\" with a node of \"unwrite log --all\"."});
}

}  // namespace unwrite::cli
