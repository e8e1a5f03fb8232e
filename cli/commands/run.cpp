#include <fmt/format.h>

#include <cerrno>

#include "cli/commands/commands.h"
#include "cli/guard.h"
#include "cli/mounting.h"
#include "cli/render.h"
#include "cli/settle.h"
#include "cli/text.h"

namespace unwrite::cli {

namespace {

struct RunOptions {
    std::string session;
    std::string on_exit = "ask";
    bool discard_on_failure = false;
    bool leave_running = false;
    std::vector<std::string> command;
};

std::string joined(const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words)
        text += (text.empty() ? "" : " ") + word;
    return text;
}

/// The workspace around the base directory, mounted; the base directory itself becomes one when
/// there is none.
Result<Workspace> mounted(Context& context) {
    Result<Workspace> workspace = Workspace::open_mounted(context.base);
    if (workspace || workspace.error().kind() != ErrorKind::kNoWorkspace) return workspace;
    MountRequest request;
    request.directory = state_above(context.base);
    TRY_ASSIGN(const std::vector<control::MountPoint> mounts, control::unwrite_mounts());
    const std::optional<control::MountPoint> dead = control::mount_above(mounts, context.base);
    if (request.directory.empty()) request.directory = dead ? dead->path : context.base;
    TRY_ASSIGN(const control::DaemonInfo info, mount_directory(context, request));
    context.notes.line("mounted " + quote_name(info.workspace));
    TRY_ASSIGN(Workspace fresh, Workspace::open_mounted(info.mount_point));
    TRY(settle_unfinished(context, fresh.operations(), info.interrupted, Ending::kKeep));
    return fresh;
}

struct Ran {
    Ended ended;
    overlay::Node node;
    std::string session;
};

Result<Ran> run_command(Context& context, Workspace& workspace, const RunOptions& options) {
    TRY_ASSIGN(const std::string below, workspace.inside(context.base, "."));
    const std::string directory = below.empty() ? workspace.root() : workspace.root() + "/" + below;
    TRY_ASSIGN(Guard guard, Guard::fork(GuardOptions{options.command, options.leave_running}));
    overlay::Asker agent;
    agent.pid = guard.pid();
    agent.session = options.session;
    Ran ran;
    TRY_ASSIGN(ran.node, workspace.operations().begin_run(agent, joined(options.command)));
    ran.session =
        options.session.empty() ? fmt::format("run-{}", ran.node.number) : options.session;
    ignore(context.notes.flush(), "before the command prints");
    const Result<Ended> ended = guard.run(directory, ran.session);
    const Result<> closed = workspace.operations().end_run(ran.node.number);
    if (!ended) return ended.error();
    if (!closed) return closed.error();
    ran.ended = *ended;
    return ran;
}

Result<overlay::Status> print_summary(Context& context, overlay::Operations& operations,
                                      const Ran& ran) {
    TRY_ASSIGN(overlay::Status status,
               operations.status(fmt::format("n{}", ran.node.number), true));
    const Colour colour = context.notes.has_colour() ? Colour::kYes : Colour::kNo;
    if (ran.ended.leftovers > 0) {
        context.notes.line("unwrite: ended " +
                           counted(ran.ended.leftovers, "process", "processes") +
                           " that the command had left running");
    }
    if (context.json) {
        control::Json json = control::encode(status);
        json["run"] = ran.node.number;
        json["exit_code"] = exit_code_of(ran.ended);
        context.out.line(control::dump(json));
    }
    context.notes.line(summary_words(status.changes));
    if (status.changes.empty()) return status;
    context.notes.print(change_lines(status.changes, 20, colour));
    context.notes.line(line_words(status.lines, files_changed(status.changes)));
    return status;
}

Result<> finish(Context& context, overlay::Operations& operations, const RunOptions& options,
                const Ran& ran, bool clean_before) {
    TRY_ASSIGN(const overlay::Status status, print_summary(context, operations, ran));
    if (status.changes.empty()) return {};
    TRY_ASSIGN(Ending ending, parse_ending(options.on_exit));
    if (options.discard_on_failure && exit_code_of(ran.ended) != 0) ending = Ending::kDiscard;
    if (!clean_before && ending != Ending::kDiscard) {
        context.notes.line("(other changes were open before this run; a commit accepts them too)");
    }
    // What was there before the run is none of its business: a discard goes back to where the run
    // began.
    const std::string node = fmt::format("n{}", ran.node.number);
    const Question question{node, clean_before ? "" : node, "[C]ommit  [D]iscard  [R]eview",
                            ran.session};
    TRY(settle(context, operations, ending, question));
    return {};
}

Result<int> run(Context& context, const RunOptions& options) {
    if (options.command.empty()) {
        return Error(ErrorKind::kUsage, EINVAL, "run: no command",
                     "unwrite run [OPTIONS] -- COMMAND [ARGUMENTS]");
    }
    TRY(parse_ending(options.on_exit));
    TRY_ASSIGN(Workspace workspace, mounted(context));
    TRY_ASSIGN(const overlay::Status before, workspace.operations().status("", false));
    TRY_ASSIGN(const Ran ran, run_command(context, workspace, options));
    if (ran.ended.exec_failure != 0) {
        context.notes.line("unwrite: run " + quote_name(options.command[0]) + ": " +
                           Error(ran.ended.exec_failure).message());
    }
    const Result<> finished =
        finish(context, workspace.operations(), options, ran, before.changes.empty());
    if (!finished) return finished.error();
    return exit_code_of(ran.ended);
}

}  // namespace

void add_run(CLI::App& app, Context& context, const std::vector<std::string>& rest) {
    const auto options = std::make_shared<RunOptions>();
    options->command = rest;
    CLI::App* command = add_command(
        app, context, "run", "Run a command as one step that can be taken back", options, run);
    command->add_option("--session", options->session,
                        "A name for what it changes, for `unwrite undo NAME`");
    command->add_option("--on-exit", options->on_exit, "Afterwards: ask, keep, commit or discard");
    command->add_flag("--discard-on-failure", options->discard_on_failure,
                      "Take its changes back when it fails");
    command->add_flag(
        "--leave-running", options->leave_running,
        "Do not end processes that outlive the command; from then on they count as the user's");
    command->footer(
        "The command follows \"--\"; its exit code is passed on. Example:\n"
        "  unwrite run --discard-on-failure -- make install");
}

}  // namespace unwrite::cli
