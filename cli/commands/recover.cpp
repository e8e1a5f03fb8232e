#include <fcntl.h>
#include <fmt/format.h>

#include <cerrno>

#include "base/syscalls.h"
#include "cli/commands/commands.h"
#include "cli/editing_room.h"
#include "cli/help.h"
#include "cli/lost.h"
#include "cli/mounting.h"
#include "cli/render.h"
#include "cli/settle.h"
#include "cli/text.h"
#include "cli/workspace.h"

namespace unwrite::cli {

namespace {

struct RecoverOptions {
    bool commit = false;
    bool discard = false;
    bool keep = false;
    bool status = false;
};

Ending ending_of(const RecoverOptions& options) {
    if (options.commit) return Ending::kCommit;
    if (options.discard) return Ending::kDiscard;
    return options.keep ? Ending::kKeep : Ending::kAsk;
}

Result<int> recover(Context& context, const RecoverOptions& options) {
    TRY(clear_dead_mount(context, context.base));
    TRY_ASSIGN(Workspace workspace, Workspace::open(context.base));
    const bool finished = workspace.found() != nullptr && workspace.found()->finished_restore;
    TRY_ASSIGN(overlay::Status status, workspace.operations().status("", false));
    if (status.wounded && !options.status) {
        TRY(workspace.operations().recover());
        TRY_ASSIGN(status, workspace.operations().status("", false));
    }
    std::vector<std::string> taken_back;
    if (!options.status && !status.wounded) {
        TRY_ASSIGN(UniqueFd root, sys::open_at(AT_FDCWD, workspace.root(), O_RDONLY | O_DIRECTORY));
        TRY_ASSIGN(taken_back, finish_edits(workspace.operations(), std::move(root)));
        if (!taken_back.empty()) {
            TRY_ASSIGN(status, workspace.operations().status("", false));
        }
    }
    const std::vector<std::string> set_aside = workspace.found() != nullptr
                                                   ? workspace.found()->set_aside
                                                   : workspace.remote()->info().set_aside;
    tell_set_aside(context, set_aside);
    tell_taken_back(context, taken_back);
    if (context.json) {
        control::Json json = control::encode(status);
        json["interrupted"] = was_interrupted(status);
        json["finished_restore"] = finished;
        json["set_aside"] = control::encode_texts(set_aside);
        json["taken_back"] = control::encode_texts(taken_back);
        context.out.line(control::dump(json));
    } else {
        if (finished) context.out.line("Finished a restore or commit that was interrupted.");
        context.out.line((status.wounded ? "A restore or commit is unfinished. Open task: "
                                         : "Journal is intact. Open task: ") +
                         summary_words(status.changes) + fmt::format(" since n{}.", status.root));
        for (const std::string& line : lost_lines(status.lost))
            context.out.line(line);
        for (const std::string& line : unproved_lines(status.unproved))
            context.out.line(line);
    }
    if (options.status) return status.wounded ? kNeedsRecovery : kDone;
    TRY(settle_unfinished(context, workspace, ending_of(options)));
    return kDone;
}

}  // namespace

void add_recover(CLI::App& app, Context& context) {
    const auto options = std::make_shared<RecoverOptions>();
    CLI::App* command =
        add_command(app, context, "recover",
                    "After a crash: finish what was interrupted, then decide about the changes",
                    options, recover);
    CLI::Option* commit = command->add_flag("--commit", options->commit, "Accept the changes");
    CLI::Option* discard = command->add_flag("--discard", options->discard, "Take them back");
    CLI::Option* keep =
        command->add_flag("--keep", options->keep, "Keep them; you can still take them back");
    CLI::Option* status =
        command->add_flag("--status", options->status, "Only show what was found");
    commit->excludes(discard, keep, status);
    discard->excludes(keep, status);
    keep->excludes(status);
    describe(*command, {.usage = "[OPTIONS]",
                        .examples = {{"unwrite recover --status", "look first"},
                                     {"unwrite recover", "finish, then ask"},
                                     {"unwrite recover --keep", "finish, ask nothing"}}});
}

}  // namespace unwrite::cli
