#include <cerrno>

#include "cli/commands/commands.h"
#include "cli/help.h"
#include "cli/mounting.h"
#include "cli/text.h"
#include "fs/mount.h"

namespace unwrite::cli {

namespace {

struct UnmountOptions {
    std::string directory = ".";
    bool force = false;
};

Result<int> unmount(Context& context, const UnmountOptions& options) {
    const Result<std::string> found = real_path(context.base, options.directory);
    if (!found) return found.error().with_context("unmount " + quote_name(options.directory));
    const std::string& directory = *found;
    Result<Workspace> workspace = Workspace::open_mounted(directory);
    if (!workspace) {
        TRY_ASSIGN(const std::vector<control::MountPoint> mounts, control::unwrite_mounts());
        const std::optional<control::MountPoint> mount = control::mount_above(mounts, directory);
        const bool dead = mount && workspace.error().number() == ENOTCONN;
        if (!dead) return workspace.error();
        TRY(fs::unmount_stale(mount->path));
        context.notes.line("The daemon had already exited. Run \"unwrite mount\" to recover.");
        context.out.line("Unmounted " + quote_name(mount->path));
        return kDone;
    }
    TRY(unmount_workspace(context, *workspace, options.force));
    context.out.line("Unmounted " + quote_name(workspace->root()));
    return kDone;
}

}  // namespace

void add_unmount(CLI::App& app, Context& context) {
    const auto options = std::make_shared<UnmountOptions>();
    CLI::App* command = add_command(
        app, context, "unmount", "Stop recording; you can still take back the changes made so far",
        options, unmount);
    command->add_option("DIR", options->directory,
                        "The workspace (default: the one around the current directory)");
    command->add_flag("--force", options->force,
                      "Even if a run goes on there, or programs have files open");
    describe(*command, {.usage = "[OPTIONS] [DIR]",
                        .examples = {{"unwrite unmount", "the one around you"},
                                     {"unwrite unmount ~/project --force", "close files, too"}}});
}

}  // namespace unwrite::cli
