// list: what this user has mounted.
#include <fmt/format.h>
#include <unistd.h>

#include "cli/commands/commands.h"
#include "cli/help.h"
#include "cli/render.h"
#include "cli/runs.h"
#include "cli/text.h"
#include "cli/workspace.h"
#include "overlay/changes.h"

namespace unwrite::cli {

namespace {

struct ListOptions {};

struct Listed {
    std::string mount_point;
    std::string workspace{};  ///< empty: the daemon does not answer
    std::int64_t pid = 0;
    std::vector<RunGoingOn> runs{};
    std::uint64_t journal_bytes = 0;
    std::uint64_t files_changed = 0;
};

Result<Listed> look_at(const control::MountPoint& mount) {
    Listed listed{mount.path};
    TRY_ASSIGN(Workspace workspace, Workspace::of_mount(mount));
    const control::DaemonInfo& info = workspace.remote()->info();
    listed.workspace = info.workspace;
    listed.pid = info.pid;
    listed.runs = runs_going_on(workspace);
    // The daemon may be of another version; then only this is not known.
    listed.journal_bytes = workspace.remote()->journal_bytes().value_or(0);
    TRY_ASSIGN(const overlay::Counted counted, workspace.operations().count());
    listed.files_changed = counted.files;
    return listed;
}

control::Json encode(const Listed& listed) {
    control::Json runs = control::Json::array();
    for (const RunGoingOn& run : listed.runs)
        runs.push_back({{"node", run.node},
                        {"session", control::encode_bytes(run.session)},
                        {"command", control::encode_bytes(run.command)}});
    return {{"mount_point", control::encode_bytes(listed.mount_point)},
            {"workspace", control::encode_bytes(listed.workspace)},
            {"answers", !listed.workspace.empty()},
            {"pid", listed.pid},
            {"runs", std::move(runs)},
            {"journal_bytes", listed.journal_bytes},
            {"files_changed", listed.files_changed}};
}

void print(Context& context, const Listed& listed) {
    if (listed.workspace.empty()) {
        context.out.line(quote_name(listed.mount_point) + ": the daemon does not answer");
        return;
    }
    std::string line = quote_name(listed.mount_point);
    if (listed.workspace != listed.mount_point)
        line += " (of " + quote_name(listed.workspace) + ")";
    line += ": " + (listed.files_changed == 0
                        ? "nothing open"
                        : counted(listed.files_changed, "file", "files") + " changed");
    line += fmt::format(", journal {}, daemon {}", size_words(listed.journal_bytes), listed.pid);
    context.out.line(line);
    if (!listed.runs.empty()) context.out.line("  running: " + run_words(listed.runs));
}

Result<int> list(Context& context, const ListOptions& /*options*/) {
    TRY_ASSIGN(const std::vector<control::MountPoint> mounts, control::unwrite_mounts());
    control::Json json = control::Json::array();
    bool any = false;
    for (const control::MountPoint& mount : mounts) {
        if (mount.owner != ::geteuid()) continue;
        any = true;
        Result<Listed> found = look_at(mount);
        const Listed listed = found ? *std::move(found) : Listed{mount.path};
        if (context.json) {
            json.push_back(encode(listed));
        } else {
            print(context, listed);
        }
    }
    if (context.json) context.out.line(control::dump(control::Json{{"mounts", std::move(json)}}));
    if (!any && !context.json) context.notes.line("Nothing is mounted.");
    return any || context.json ? kDone : kNothingToDo;
}

}  // namespace

void add_list(CLI::App& app, Context& context) {
    CLI::App* command =
        add_command(app, context, "list", "Show all that you have mounted, and what runs there",
                    std::make_shared<ListOptions>(), list);
    describe(*command,
             {.usage = "",
              .examples = {{"unwrite list", ""}, {"unwrite list --json", "for a program"}}});
}

}  // namespace unwrite::cli
