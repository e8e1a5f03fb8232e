#include "cli/help.h"

#include <cerrno>

#include "base/near_words.h"
#include "cli/commands/commands.h"
#include "cli/suggest.h"
#include "cli/text.h"

namespace unwrite::cli {

namespace {

struct HelpOptions {
    const CLI::App* app = nullptr;
    std::vector<std::string> commands;
};

Result<int> help(Context& context, const HelpOptions& options) {
    const CLI::App* found = options.app;
    for (const std::string& word : options.commands) {
        std::vector<std::string> names;
        const CLI::App* next = nullptr;
        for (const CLI::App* command : commands_of(*found)) {
            names.push_back(command->get_name());
            if (command->get_name() == word) next = command;
        }
        if (next == nullptr) {
            std::vector<std::string> meant = same_meaning(word);
            if (meant.empty()) meant = nearest(word, names);
            return Error(ErrorKind::kUsage, EINVAL,
                         "help: unknown command \"" + harmless(word) + "\"." + did_you_mean(meant),
                         "`unwrite help` lists the commands");
        }
        found = next;
    }
    context.out.print(help_text(*found));
    return kDone;
}

}  // namespace

void add_help(CLI::App& app, Context& context) {
    const auto options = std::make_shared<HelpOptions>();
    options->app = &app;
    CLI::App* command =
        add_command(app, context, "help", "Show how to use a command", options, help);
    command->add_option("COMMAND", options->commands, "The command (default: list them all)");
    describe(*command, {.usage = "[COMMAND]",
                        .examples = {{"unwrite help", "all commands"},
                                     {"unwrite help undo", "one of them"},
                                     {"unwrite help git undo", "a command of a command"}}});
}

}  // namespace unwrite::cli
