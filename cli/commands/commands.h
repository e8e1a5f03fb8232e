// One function per command: declares its options and puts its action into the context. One file
// each.
#pragma once

#include <CLI/App.hpp>

#include "cli/context.h"
#include "cli/help.h"

namespace unwrite::cli {

void add_adopt(CLI::App& app, Context& context);
/// Called by the hooks that `integrate` sets up.
void add_hook(CLI::App& app, Context& context);
void add_mount(CLI::App& app, Context& context);
void add_unmount(CLI::App& app, Context& context);
/// `command` is what followed "--" on the command line.
void add_run(CLI::App& app, Context& context, const std::vector<std::string>& command);
void add_status(CLI::App& app, Context& context);
void add_checkpoint(CLI::App& app, Context& context);
void add_task(CLI::App& app, Context& context);
void add_rollback(CLI::App& app, Context& context);
void add_undo(CLI::App& app, Context& context);
void add_redo(CLI::App& app, Context& context);
void add_list(CLI::App& app, Context& context);
void add_log(CLI::App& app, Context& context);
void add_diff(CLI::App& app, Context& context);
void add_commit(CLI::App& app, Context& context);
void add_discard(CLI::App& app, Context& context);
void add_restore(CLI::App& app, Context& context);
void add_review(CLI::App& app, Context& context);
void add_recover(CLI::App& app, Context& context);
void add_check(CLI::App& app, Context& context);
/// `command`: what follows "--".
void add_policy(CLI::App& app, Context& context, const std::vector<std::string>& command);
/// `approvals`, `approve` and `deny`.
void add_approvals(CLI::App& app, Context& context);
void add_gc(CLI::App& app, Context& context);
/// `config`, `config get`, `set`, `unset`, `edit`.
void add_config(CLI::App& app, Context& context);
void add_doctor(CLI::App& app, Context& context);
/// `git undo` and `git feedback`.
void add_git(CLI::App& app, Context& context);
void add_read(CLI::App& app, Context& context);
void add_edit(CLI::App& app, Context& context);
void add_apply(CLI::App& app, Context& context);
/// The server of the Model Context Protocol.
void add_mcp(CLI::App& app, Context& context);
void add_integrate(CLI::App& app, Context& context);
void add_help(CLI::App& app, Context& context);
/// `completion`, `shell-init` and `man`.
void add_manual(CLI::App& app, Context& context);

/// A subcommand whose callback makes `action` the one to be run.
template <class Options>
CLI::App* add_command(CLI::App& app, Context& context, const char* name, const char* about,
                      const std::shared_ptr<Options>& options,
                      Result<int> (*action)(Context&, const Options&)) {
    CLI::App* command = app.add_subcommand(name, about);
    command->callback([&context, command, options, action] {
        context.verb = verb_of(*command);
        context.action = [&context, options, action] { return action(context, *options); };
    });
    return command;
}

}  // namespace unwrite::cli
