#include "cli/manual.h"

#include "cli/commands/commands.h"
#include "cli/help.h"
#include "cli/shell_init.h"

namespace unwrite::cli {

namespace {

struct ManualOptions {
    const CLI::App* app = nullptr;
    std::string shell;
};

Result<int> completion(Context& context, const ManualOptions& options) {
    TRY_ASSIGN(const std::string script, completion_script(*options.app, options.shell));
    context.out.print(script);
    return kDone;
}

Result<int> init(Context& context, const ManualOptions& options) {
    TRY_ASSIGN(const std::string script, shell_init(*options.app, options.shell));
    context.out.print(script);
    return kDone;
}

Result<int> manual(Context& context, const ManualOptions& options) {
    context.out.print(manual_page(*options.app));
    return kDone;
}

}  // namespace

void add_manual(CLI::App& app, Context& context) {
    const auto options = std::make_shared<ManualOptions>();
    options->app = &app;
    CLI::App* command = add_command(app, context, "completion", "Print tab completion for a shell",
                                    options, completion);
    command->add_option("SHELL", options->shell, "bash, zsh or fish")->required();
    describe(
        *command,
        {.usage = "SHELL",
         .examples = {
             {"unwrite completion bash >~/.local/share/bash-completion/completions/unwrite", ""},
             {"unwrite completion zsh >_unwrite", "in a directory of $fpath"},
             {"unwrite completion fish >~/.config/fish/completions/unwrite.fish", ""}}});
    command = add_command(app, context, "shell-init",
                          "Print what lets a shell enter a mount by itself", options, init);
    command->add_option("SHELL", options->shell, "bash, zsh or fish")->required();
    describe(*command,
             {.usage = "SHELL",
              .examples = {{"unwrite shell-init fish | source", "in config.fish"},
                           {"unwrite shell-init bash", "what ~/.bashrc is to evaluate"}},
              .note = "In ~/.bashrc: eval \"$(unwrite shell-init bash)\"; zsh likewise. After "
                      "mount, run and unmount the shell does \"cd .\" by itself. The prompt "
                      "shows what \"unwrite status --line\" prints, and Tab completes."});
    command = add_command(app, context, "man", "Print the manual page", options, manual);
    describe(*command,
             {.usage = "",
              .examples = {{"unwrite man | man -l -", "read it"},
                           {"unwrite man >~/.local/share/man/man1/unwrite.1", "install it"}}});
}

}  // namespace unwrite::cli
