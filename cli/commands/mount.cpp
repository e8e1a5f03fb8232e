#include "cli/commands/commands.h"
#include "cli/editing_room.h"
#include "cli/mounting.h"
#include "cli/settle.h"
#include "cli/text.h"

namespace unwrite::cli {

namespace {

struct MountOptions {
    MountRequest request;
    std::string on_unfinished = "ask";
};

Result<int> mount(Context& context, const MountOptions& options) {
    TRY_ASSIGN(const Ending ending, parse_ending(options.on_unfinished));
    TRY_ASSIGN(const control::DaemonInfo info, mount_directory(context, options.request));
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
    tell_set_aside(context, info.set_aside);
    tell_in_use(context, info.in_use);
    tell_taken_back(context, info.taken_back);
    TRY(settle_unfinished(context, workspace, info.interrupted, ending));
    return kDone;
}

}  // namespace

void add_mount(CLI::App& app, Context& context) {
    const auto options = std::make_shared<MountOptions>();
    CLI::App* command = add_command(app, context, "mount",
                                    "Begin keeping what is written in a directory", options, mount);
    command->add_option("DIR", options->request.directory, "The directory")->required();
    command->add_option("--at", options->request.at,
                        "Mount there and not over the directory itself");
    command->add_flag("--foreground", options->request.foreground,
                      "Serve in this process; Ctrl-C unmounts");
    command->add_flag("--allow-other", options->request.allow_other,
                      "Let other users in as well (needs user_allow_other in /etc/fuse.conf)");
    command->add_option("--data-path", options->request.data_path,
                        "How file content travels: auto, observed or passthrough (root only)");
    command->add_option("--on-unfinished", options->on_unfinished,
                        "What to do with an unfinished task: ask, keep, commit or discard");
    command->footer("Example:\n  unwrite mount ~/project && cd .");
}

}  // namespace unwrite::cli
