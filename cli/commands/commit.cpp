#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <optional>

#include "cli/commands/commands.h"
#include "cli/decision.h"
#include "cli/editing_room.h"
#include "cli/git_commit.h"
#include "cli/help.h"
#include "cli/interruptions.h"
#include "cli/known_path.h"
#include "cli/prompt.h"
#include "cli/text.h"
#include "cli/workspace.h"

namespace unwrite::cli {

namespace {

struct CommitOptions {
    std::vector<std::string> paths;
    std::string text;
    bool dry_run = false;
    bool git = false;
    bool keep_history = false;
    bool yes = false;
};

Result<> check_can_ask() {
    if (can_ask()) return {};
    return Error(ErrorKind::kUsage, EINVAL, "commit: there is no terminal to ask on",
                 "`unwrite commit --yes` accepts without asking");
}

/// A path was not found. A user who typed the name of a state wanted to accept everything before
/// it, which commit cannot do.
Error explain_not_found(Context& context, Workspace& workspace, const CommitOptions& options,
                        const Error& error) {
    for (const std::string& word : options.paths) {
        const auto state = names_state(workspace.operations(), context.base, word);
        if (!state || !*state) continue;
        return Error(ErrorKind::kUsage, EINVAL,
                     "commit: " + quote_name(word) +
                         " is a state; only paths, or everything, can be accepted",
                     "`unwrite task` begins a new task here and keeps the history");
    }
    return error;
}

Result<int> commit_paths(Context& context, Workspace& workspace, std::vector<std::string> paths,
                         const CommitOptions& options) {
    if (options.keep_history) {
        return Error(ErrorKind::kUsage, EINVAL,
                     "commit: --keep-history keeps whole states, so it does not work with paths",
                     "`unwrite commit --keep-history` accepts everything");
    }
    std::string text = options.text;
    if (text.empty()) {
        text = "commit";
        for (const std::string& path : paths)
            text += ' ' + path;
    }
    overlay::Decision decision{.keep = std::move(paths), .text = std::move(text)};
    overlay::Operations& operations = workspace.operations();
    if (options.git) TRY(expect_own_git_untouched(workspace));
    const bool asks = !options.yes && !options.dry_run;
    if (asks) TRY(check_can_ask());
    if (asks || options.dry_run) {
        TRY_ASSIGN(const overlay::Decided foreseen, operations.decide(asker(), decision, true));
        print_decided(context, foreseen, true);
        if (options.dry_run) return kDone;
        TRY(context.out.flush());
    }
    if (asks && !confirm(context, "Accept this? It can then no longer be taken back. (y/n)")) {
        context.notes.line("Nothing was done.");
        return kNothingToDo;
    }
    std::optional<Interruptions> interruptions;  // not while a question is asked
    if (options.git) {
        interruptions.emplace();
        TRY_ASSIGN(const overlay::Decided foreseen, operations.decide(asker(), decision, true));
        TRY_ASSIGN(const overlay::Status status, operations.status("", false));
        const git::Scope scope = scope_of_part(foreseen, asked_for(decision), status.changes);
        TRY_ASSIGN(const git::Accepted accepted, commit_to_git(workspace, scope, options.text));
        print_accepted(context, accepted);
        keep_own_git(workspace, decision);
    }
    TRY_ASSIGN(const overlay::Decided decided, operations.decide(asker(), decision, false));
    print_decided(context, decided, false);
    return kDone;
}

Result<int> commit(Context& context, const CommitOptions& options) {
    TRY_ASSIGN(Workspace workspace, Workspace::open(context.base));
    std::vector<std::string> paths;
    for (const std::string& path : options.paths) {
        TRY_ASSIGN(paths.emplace_back(), workspace.inside(context.base, path));
    }
    if (options.git) TRY(expect_git_message(options.text));
    TRY(finish_edits(context, workspace, Before::kAccept));
    // The root's path is everything.
    const bool whole = std::find(paths.begin(), paths.end(), "") != paths.end();
    if (!paths.empty() && !whole) {
        auto done = commit_paths(context, workspace, std::move(paths), options);
        if (!done && done.error().kind() == ErrorKind::kNotFound)
            return explain_not_found(context, workspace, options, done.error());
        return done;
    }
    if (options.dry_run) {
        return Error(ErrorKind::kUsage, EINVAL, "commit: --dry-run needs paths",
                     "`unwrite status` shows what a commit of everything accepts");
    }
    const bool asks = !options.yes && !options.keep_history;
    if (asks) TRY(check_can_ask());
    if (asks && !confirm(context,
                         "Accept all changes of this task? They can then no longer be taken back. "
                         "(y/n)")) {
        context.notes.line("Nothing was done.");
        return kNothingToDo;
    }
    std::optional<Interruptions> interruptions;
    if (options.git) {
        interruptions.emplace();
        TRY_ASSIGN(const overlay::Status status, workspace.operations().status("", false));
        TRY_ASSIGN(const git::Accepted accepted,
                   commit_to_git(workspace, scope_of_all(status.changes), options.text));
        print_accepted(context, accepted);
    }
    TRY_ASSIGN(const overlay::Node node,
               workspace.operations().commit(asker(), options.text, options.keep_history));
    if (context.json) {
        context.out.line(control::dump(control::encode(node)));
    } else {
        context.out.line(
            options.keep_history
                ? fmt::format("Accepted; the task now begins at n{}. \"unwrite log --all\" "
                              "lists the older states.",
                              node.number)
                : "Accepted for good; these changes can no longer be undone.");
    }
    return kDone;
}

}  // namespace

void add_commit(CLI::App& app, Context& context) {
    const auto options = std::make_shared<CommitOptions>();
    CLI::App* command =
        add_command(app, context, "commit", "Accept changes for good: all of them, or some paths",
                    options, commit);
    command->add_option("PATH", options->paths,
                        "Accept only these; you can still take back the rest");
    command->add_flag("--dry-run", options->dry_run,
                      "Show what would be accepted (only with PATH)");
    command->add_option("-m,--message", options->text, "A note for the log");
    command->add_flag(
        "--git", options->git,
        "Also make a git commit of these changes; whatever else is staged stays staged");
    command->add_flag("--keep-history", options->keep_history,
                      "Keep the older states until \"unwrite gc\" removes them");
    command->add_flag("--yes", options->yes, "Do not ask");
    describe(*command,
             {.usage = "[OPTIONS] [PATH...]",
              .examples = {{"unwrite commit", "accept everything"},
                           {"unwrite commit src README.md", "accept these, not the rest"},
                           {"unwrite commit --git -m 'Fix the parser'", "and make a git commit"}},
              .note = "Accepted changes can no longer be undone. Anything a path depends on is "
                      "accepted too, and listed: new or renamed directories above it, the other "
                      "name of a renamed file, other hard links of a file."});
}

}  // namespace unwrite::cli
