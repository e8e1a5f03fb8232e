#include <cerrno>

#include "cli/commands/commands.h"
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
    TRY_ASSIGN(const std::string directory, real_path(context.base, options.directory));
    Result<Workspace> workspace = Workspace::open_mounted(directory);
    if (!workspace) {
        TRY_ASSIGN(const std::vector<control::MountPoint> mounts, control::unwrite_mounts());
        const std::optional<control::MountPoint> mount = control::mount_above(mounts, directory);
        const bool dead = mount && workspace.error().number() == ENOTCONN;
        if (!dead) return workspace.error();
        TRY(fs::unmount_stale(mount->path));
        context.notes.line(
            "unwrite: the daemon was gone already; `unwrite mount` looks after what it left");
        context.out.line("unmounted " + quote_name(mount->path));
        return kDone;
    }
    TRY(unmount_workspace(context, *workspace, options.force));
    context.out.line("unmounted " + quote_name(workspace->root()));
    return kDone;
}

}  // namespace

void add_unmount(CLI::App& app, Context& context) {
    const auto options = std::make_shared<UnmountOptions>();
    CLI::App* command =
        add_command(app, context, "unmount",
                    "End the mount; changes stay, and can still be taken back", options, unmount);
    command->add_option("DIR", options->directory,
                        "The workspace (default: the one around the current directory)");
    command->add_flag("--force", options->force, "Though processes have files open there");
}

}  // namespace unwrite::cli
