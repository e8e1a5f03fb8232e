#include "cli/commands/commands.h"
#include "cli/editing_room.h"
#include "cli/help.h"
#include "cli/lost.h"
#include "cli/mounting.h"
#include "cli/outside_shell.h"
#include "cli/place.h"
#include "cli/settle.h"
#include "cli/task_words.h"
#include "cli/text.h"

namespace unwrite::cli {

namespace {

struct MountOptions {
    MountRequest request;
    std::string on_unfinished = "ask";
};

Result<int> mount(Context& context, const MountOptions& options) {
    TRY_ASSIGN(const Ending ending, parse_ending("mount: --on-unfinished", options.on_unfinished));
    MountRequest request = options.request;
    if (request.directory.empty()) {
        TRY_ASSIGN(request.directory, place_to_mount(context, "unwrite mount DIR"));
    }
    TRY_ASSIGN(const control::DaemonInfo info, mount_directory(context, request));
    if (options.request.foreground) return kDone;
    TRY_ASSIGN(Workspace workspace, Workspace::open_mounted(info.mount_point));
    TRY_ASSIGN(const overlay::Status status, workspace.operations().status("", false));
    if (context.json) {
        context.out.line(control::dump(control::encode(info)));
    } else {
        const bool elsewhere = info.workspace != info.mount_point;
        context.out.line("mounted " + quote_name(info.workspace) +
                         (elsewhere ? " at " + quote_name(info.mount_point) : "") + " (n" +
                         std::to_string(status.current) + ")");
    }
    if (info.finished_restore)
        context.notes.line("unwrite: finished a restore or commit that was interrupted");
    for (const std::string& line : lost_lines(status.lost))
        context.notes.line("unwrite: " + line);
    for (const std::string& line : unproved_lines(status.unproved))
        context.notes.line("unwrite: " + line);
    if (status.out_of_room) tell_out_of_room(context, !status.changes.empty());
    tell_repository_outside(context, workspace.root());
    tell_set_aside(context, info.set_aside);
    tell_in_use(context, info.in_use);
    tell_taken_back(context, info.taken_back);
    TRY(settle_unfinished(context, workspace, ending));
    tell_outside(context, workspace);
    return kDone;
}

}  // namespace

void add_mount(CLI::App& app, Context& context) {
    const auto options = std::make_shared<MountOptions>();
    CLI::App* command = add_command(
        app, context, "mount", "Mount unwrite over DIR and record every change", options, mount);
    command->add_option(
        "DIR", options->request.directory,
        "The directory; without it the top of the git work tree, or the current directory");
    command->add_option("--at", options->request.at, "Mount at MNT instead of over DIR itself")
        ->type_name("MNT");
    command->add_flag("--foreground", options->request.foreground,
                      "Stay in the foreground; Ctrl-C unmounts");
    command->add_flag("--allow-other", options->request.allow_other,
                      "Let other users in, too (needs user_allow_other in /etc/fuse.conf)");
    command
        ->add_option("--data-path", options->request.data_path,
                     "How file contents travel: auto, observed or passthrough (needs root)")
        ->type_name("PATH");
    command
        ->add_option("--on-unfinished", options->on_unfinished,
                     "If there are changes from an earlier task: ask, keep, commit or discard them")
        ->type_name("ANSWER");
    describe(*command,
             {.usage = "[OPTIONS] [DIR]",
              .examples = {{"unwrite mount . && cd .", "this directory, then enter the mount"},
                           {"unwrite mount ~/project --on-unfinished keep", "ask nothing"}},
              .note = "Programs that already use the directory bypass unwrite; the command "
                      "lists them. In a shell, \"cd .\" enters the mount."});
}

}  // namespace unwrite::cli
