// unwrite: chooses the command, runs it, and turns a failure into words and an exit code.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>

#include "base/syscalls.h"
#include "cli/commands/commands.h"
#include "cli/commands/revert_to_state.h"
#include "cli/text.h"
#include "control/protocol.h"

namespace unwrite::cli {

namespace {

using Words = std::vector<std::string>;
using Add = void (*)(CLI::App& app, Context& context, const Words& rest);

template <void (*Command)(CLI::App&, Context&)>
void add(CLI::App& app, Context& context, const Words& /*rest*/) {
    Command(app, context);
}

struct NamedCommand {
    std::string_view name;
    Add add;
};

/// In the order of the help.
constexpr std::array kCommands = {
    NamedCommand{"mount", add<add_mount>},
    NamedCommand{"unmount", add<add_unmount>},
    NamedCommand{"run", add_run},
    NamedCommand{"status", add<add_status>},
    NamedCommand{"checkpoint", add<add_checkpoint>},
    NamedCommand{"rollback", add<add_rollback>},
    NamedCommand{"undo", add<add_undo>},
    NamedCommand{"redo", add<add_redo>},
    NamedCommand{"log", add<add_log>},
    NamedCommand{"diff", add<add_diff>},
    NamedCommand{"commit", add<add_commit>},
    NamedCommand{"discard", add<add_discard>},
    NamedCommand{"restore", add<add_restore>},
    NamedCommand{"review", add<add_review>},
    NamedCommand{"recover", add<add_recover>},
    NamedCommand{"check", add<add_check>},
    NamedCommand{"gc", add<add_gc>},
    NamedCommand{"policy", add_policy},
    NamedCommand{"approvals", add<add_approvals>},
    NamedCommand{"doctor", add<add_doctor>},
    NamedCommand{"git", add<add_git>},
    NamedCommand{"read", add<add_read>},
    NamedCommand{"edit", add<add_edit>},
    NamedCommand{"apply", add<add_apply>},
    NamedCommand{"revert-to-state", add<add_revert_to_state>},
    NamedCommand{"mcp", add<add_mcp>},
    NamedCommand{"integrate", add<add_integrate>},
    NamedCommand{"manual", add<add_manual>},
};

/// A shell's prompt, or an agent's loop, should not wait for the options of the other commands: the
/// one that is named, when the line begins with it, or all.
void add_commands(CLI::App& app, Context& context, const Words& words, const Words& rest) {
    std::size_t at = 0;
    while (at < words.size() && (words[at] == "-C" || words[at] == "--json"))
        at += words[at] == "-C" ? 2U : 1U;
    const auto* const named =
        std::find_if(kCommands.begin(), kCommands.end(), [&](const NamedCommand& command) {
            return at < words.size() && command.name == words[at];
        });
    if (named != kCommands.end()) {
        named->add(app, context, rest);
        return;
    }
    for (const NamedCommand& command : kCommands)
        command.add(app, context, rest);
}

constexpr const char* kExamples =
    "Examples:\n"
    "  unwrite mount ~/project         begin; then `cd .` in open shells\n"
    "  unwrite checkpoint before       remember this state\n"
    "  unwrite status                  what changed since the task began\n"
    "  unwrite undo                    take back the newest step\n"
    "  unwrite rollback before         exactly as it was then\n"
    "  unwrite run -- make install     a command as one step\n"
    "  unwrite commit | discard        accept everything | take it all back\n"
    "\n"
    "Exit codes: 0 done, 1 failed, 2 usage, 3 nothing to do, 4 refused, 5 conflict,\n"
    "6 no workspace or not mounted, 7 needs recovery.";

/// The error of the chosen command: "unwrite: <verb> <subject>: <reason>", then what to do.
void report(Context& context, const Error& error) {
    const bool verbatim = context.verb == "undo" && error.kind() == ErrorKind::kNothing;
    // An error that carries no words of its own begins with the verb here.
    const std::string text =
        error.text().empty() ? context.verb + ": " + error.message() : error.message();
    context.notes.line(verbatim ? text : "unwrite: " + harmless(text));
    if (!error.advice().empty() && !verbatim) context.notes.line(harmless(error.advice()));
    if (context.json) {
        context.out.line(control::dump(control::Json{{"error", control::encode_error(error)}}));
    }
}

/// A shell that stood in a mount which has ended is nowhere, but knows by what name it came there.
std::string current_directory() {
    std::error_code failure;
    const std::string here = std::filesystem::current_path(failure).string();
    if (!failure) return here;
    const char* remembered = std::getenv("PWD");
    return remembered != nullptr && remembered[0] == '/' ? remembered : "";
}

Result<> find_base(Context& context, const std::string& directory) {
    const std::string here = current_directory();
    if (here.empty() && !directory.starts_with('/')) {
        return Error(ErrorKind::kSystem, ENOENT, "find the current directory: it is gone",
                     "`cd .` may find it again");
    }
    const Result<std::string> base = real_path(here, directory.empty() ? "." : directory);
    if (!base)
        return base.error().with_context("enter " +
                                         quote_name(directory.empty() ? "." : directory));
    context.base = *base;
    return {};
}

Result<int> act(Context& context, const std::string& directory) {
    TRY(find_base(context, directory));
    return context.action();
}

int conclude(Context& context, const Result<int>& outcome) {
    int code = outcome ? *outcome : exit_code(outcome.error());
    if (!outcome) report(context, outcome.error());
    const Result<> written = context.out.flush();
    if (!written) {
        report(context, written.error());
        code = code == kDone ? kFailed : code;
    }
    ignore(context.notes.flush(), "there is nowhere left to say so");
    return code;
}

int usage_error(CLI::App& app, Context& context, const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    report(context,
           Error(ErrorKind::kUsage, EINVAL, std::string("read the command line: ") + error.what(),
                 "`unwrite --help` lists the commands, `unwrite COMMAND --help` their options"));
    return conclude(context, static_cast<int>(kUsage));
}

/// Whether these words are of a command that takes another one after "--".
bool takes_a_command(const std::vector<std::string>& words) {
    std::vector<std::string> commands;
    for (std::size_t i = 0; i < words.size() && words[i] != "--" && commands.size() < 2; ++i) {
        if (words[i] == "-C") {
            ++i;
        } else if (!words[i].starts_with('-')) {
            commands.push_back(words[i]);
        }
    }
    if (commands.empty()) return false;
    return commands[0] == "run" || commands == std::vector<std::string>{"policy", "classes"};
}

int run_main(std::vector<std::string> words) {
    // A reader that goes away is met where it is written to, so that no operation ends in the
    // middle.
    std::signal(SIGPIPE, SIG_IGN);
    Context context{.base = {},
                    .out = Output(STDOUT_FILENO),
                    .notes = Output(STDERR_FILENO),
                    .verb = {},
                    .action = {}};
    // What follows "--" of a run is the command's, whatever it looks like.
    std::vector<std::string> rest;
    const auto dashes = std::find(words.begin(), words.end(), "--");
    if (takes_a_command(words) && dashes != words.end()) {
        rest.assign(dashes + 1, words.end());
        words.erase(dashes, words.end());
    }
    CLI::App app(
        "Takes back whatever any process writes in a directory: one step, to a checkpoint, or all "
        "of it.",
        "unwrite");
    std::string directory;
    app.add_option("-C", directory, "Act as if started in this directory")->type_name("DIR");
    app.add_flag("--json", context.json, "Answer in JSON (docs/cli.md has the schemas)");
    app.set_version_flag("--version", std::string("unwrite ") + UNWRITE_VERSION);
    app.require_subcommand(1);
    app.fallthrough();
    app.footer(kExamples);
    add_commands(app, context, words, rest);
    std::reverse(words.begin(), words.end());
    try {
        app.parse(std::move(words));
    } catch (const CLI::ParseError& error) {
        return usage_error(app, context, error);
    }
    return conclude(context, act(context, directory));
}

}  // namespace

}  // namespace unwrite::cli

int main(int count, char** words) {
    try {
        return unwrite::cli::run_main(
            std::vector<std::string>(words + 1, words + std::max(count, 1)));
    } catch (const std::exception& exception) {
        fmt::print(stderr, "unwrite: failed: {}\n", exception.what());
        return unwrite::cli::kFailed;
    }
}
