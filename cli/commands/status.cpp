#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/syscalls.h"
#include "cli/commands/commands.h"
#include "cli/editing_room.h"
#include "cli/git_words.h"
#include "cli/heaps.h"
#include "cli/help.h"
#include "cli/inner_filesystems.h"
#include "cli/log_lines.h"
#include "cli/lost.h"
#include "cli/outside_runs.h"
#include "cli/outside_shell.h"
#include "cli/refusals.h"
#include "cli/render.h"
#include "cli/settle.h"
#include "cli/task_words.h"
#include "cli/text.h"
#include "cli/workspace.h"
#include "overlay/changes.h"
#include "overlay/state_tags.h"

namespace unwrite::cli {

namespace {

struct StatusOptions {
    bool line = false;
    std::string since;
};

/// Where the repository stands, and what of that is otherwise than where the changes are counted
/// from. While nothing is mounted, git changes it without a change of the task.
std::string git_words(const overlay::Status& status, const Workspace& workspace) {
    const git::GitState now = git_state_of(workspace.root());
    const git::GitState before = git_state_of(status.tags);
    const std::string changed = git_change_words(
        before, workspace.mount() ? without_accepted(before, now, status.changes) : now);
    return git_state_words(now) + (changed.empty() ? "" : " (" + changed + ")");
}

/// The node that the task began at.
const overlay::Node* root_of(const overlay::Status& status, const overlay::Log& log) {
    const auto found = std::find_if(
        log.entries.begin(), log.entries.end(),
        [&](const overlay::LogEntry& entry) { return entry.node.number == status.root; });
    return found == log.entries.end() ? nullptr : &found->node;
}

control::Json task_json(const overlay::Status& status, const overlay::Log& log) {
    const overlay::Node* const root = root_of(status, log);
    control::Json json{{"since", status.root}};
    if (root == nullptr) return json;
    json["since_ns"] = root->time_ns;
    if (const auto name = task_name(root->tags)) json["name"] = control::encode_bytes(*name);
    return json;
}

/// Of a task that somebody began.
void print_task(Context& context, const overlay::Status& status, const overlay::Log& log) {
    const overlay::Node* const root = root_of(status, log);
    const auto name = root != nullptr ? task_name(root->tags) : std::nullopt;
    if (!name) return;
    context.out.line(fmt::format("{} began at n{}, {}. \"unwrite discard\" returns to it.",
                                 task_title(*name), status.root, time_words(root->time_ns)));
}

/// When a daemon wrote its last line; nothing where none ever did.
std::optional<std::int64_t> last_mounted(const Workspace& workspace) {
    const auto log = sys::stat_at(AT_FDCWD, workspace.root() + "/.unwrite/daemon.log");
    if (!log) return std::nullopt;
    return log->st_mtim.tv_sec * 1'000'000'000LL + log->st_mtim.tv_nsec;
}

std::string not_mounted_words(const Workspace& workspace) {
    const auto since = last_mounted(workspace);
    return (since ? "Not mounted since " + time_words(*since) : std::string("Not mounted")) +
           ". What was changed since then is not recorded.";
}

void print_json(Context& context, const Workspace& workspace, const overlay::Status& status,
                const overlay::Log& log, const overlay::Refused& refused,
                const std::vector<OutsideRun>& outside_runs) {
    control::Json json = control::encode(status);
    json["workspace"] = control::encode_bytes(workspace.root());
    json["mounted"] = workspace.mount().has_value();
    if (const auto since = last_mounted(workspace); since && !workspace.mount())
        json["unmounted_ns"] = *since;
    json["files_changed"] = overlay::files_in(status.changes);
    json["git"] = control::encode_bytes(git_words(status, workspace));
    const std::string outside = repository_outside(workspace.root());
    json["git_outside"] = outside.empty() ? control::Json() : control::encode_bytes(outside);
    json["git_outside_recorded_in_runs"] = is_recorded_in_runs(workspace.root());
    json["not_recorded"] = control::Json::array();
    for (const InnerFilesystem& inner : inner_filesystems(workspace.root()))
        json["not_recorded"].push_back(control::encode_bytes(inner.path));
    json["task"] = task_json(status, log);
    json["refused"] = encode_refused(refused);
    json["runs_outside"] = encode_outside_runs(outside_runs);
    context.out.line(control::dump(json));
}

void print_text(Context& context, const Workspace& workspace, const overlay::Status& status,
                const overlay::Log& log, const std::string& since,
                const std::vector<OutsideRun>& outside_runs) {
    std::string head = quote_name(workspace.root()) + (workspace.mount() ? "" : " (not mounted)");
    head += fmt::format(": at n{}, {} since {}", newest_step(log),
                        counted(status.steps, "step", "steps"),
                        since.empty() ? fmt::format("n{}", status.root) : quote_name(since));
    if (!status.checkpoint.empty()) head += ", checkpoint " + quote_name(status.checkpoint);
    context.out.line(head + "; " + git_words(status, workspace));
    if (since.empty()) print_task(context, status, log);
    const std::string outside = repository_outside_words(workspace.root());
    if (!outside.empty()) context.out.line(outside);
    const std::string inner = inner_words(inner_filesystems(workspace.root()));
    if (!inner.empty()) context.out.line(inner);
    if (since.empty() && was_interrupted(status) && !status.changes.empty())
        context.out.line("unwrite was interrupted during this task; `unwrite recover` settles it");
    for (const std::string& line : lost_lines(status.lost))
        context.out.line(line);
    for (const std::string& line : unproved_lines(status.unproved))
        context.out.line(line);
    const overlay::StateNotes state = overlay::notes_of(log);
    for (const auto& [node, notes] : state.notes) {
        for (const std::string& note : notes)
            context.out.line(fmt::format("n{} {}", node, harmless(note)));
    }
    context.out.print(outside_run_lines(outside_runs));
    if (!workspace.mount()) context.out.line(not_mounted_words(workspace));
    if (workspace.mount() || !status.changes.empty())
        context.out.line(summary_words(status.changes));
    if (status.changes.empty()) return;
    context.out.print(change_lines(heaped(status.changes), 0,
                                   context.out.has_colour() ? Colour::kYes : Colour::kNo));
    context.out.line(
        line_words(status.lines, overlay::files_in(status.changes), status.lines_not_counted));
    context.out.print(who_lines(status.changes, log.origins));
    context.out.print(path_lines(kOutsideTitle, status.outside));
}

int warn(Context& context, bool wounded, bool out_of_room, bool changed) {
    if (out_of_room) tell_out_of_room(context, changed);
    if (!wounded) return kDone;
    context.notes.line(
        "unwrite: a restore or commit was interrupted; nothing can be changed until it is "
        "finished");
    context.notes.line("`unwrite recover` finishes it");
    return kNeedsRecovery;
}

// A shell waits for it before each prompt.
Result<int> line(Context& context) {
    TRY_ASSIGN(const overlay::Counted counted, Workspace::count(context.base));
    context.out.line(status_line(counted.files));
    return warn(context, counted.wounded, counted.out_of_room, counted.files != 0);
}

Result<int> status(Context& context, const StatusOptions& options) {
    if (options.line && options.since.empty() && !context.json) return line(context);
    TRY_ASSIGN(Workspace workspace, Workspace::open(context.base));
    ignore(finish_edits(context, workspace, Before::kShow),
           "what cannot be finished now is shown as it is, and finished by the next edit");
    TRY_ASSIGN(const overlay::Status found,
               workspace.operations().status(options.since, !options.line));
    const bool lists = context.json || !options.line;
    overlay::RefusedTo refused;
    if (lists) {
        TRY_ASSIGN(refused, refused_of(workspace, "", 0));
    }
    if (context.json) {
        TRY_ASSIGN(const overlay::Log log, workspace.operations().log("", false, false));
        TRY_ASSIGN(const auto runs,
                   outside_runs(context, workspace, found.changes, log.origins, options.since));
        print_json(context, workspace, found, log, refused.refused, runs);
    } else if (options.line) {
        context.out.line(status_line(overlay::files_in(found.changes)));
    } else {
        TRY_ASSIGN(const overlay::Log log, workspace.operations().log("", false, false));
        TRY_ASSIGN(const auto runs,
                   outside_runs(context, workspace, found.changes, log.origins, options.since));
        print_text(context, workspace, found, log, options.since, runs);
        context.out.print(refused_status(refused.refused));
        tell_outside(context, workspace);
    }
    return warn(context, found.wounded, found.out_of_room, !found.changes.empty());
}

}  // namespace

void add_status(CLI::App& app, Context& context) {
    const auto options = std::make_shared<StatusOptions>();
    CLI::App* command = add_command(app, context, "status",
                                    "Show what changed since the task began", options, status);
    command->add_flag("--line", options->line, "Print one short line, for a shell prompt");
    command->add_option("--since", options->since, "Count from this state or checkpoint instead")
        ->type_name("NODE");
    describe(*command,
             {.usage = "[OPTIONS]",
              .examples = {{"unwrite status", "the whole task"},
                           {"unwrite status --since before", "since a checkpoint"}},
              .note = "Letters: A created, M modified, D deleted, R renamed, m only attributes "
                      "such as the mode or the owner changed."});
}

}  // namespace unwrite::cli
