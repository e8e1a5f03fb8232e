#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "cli/commands/commands.h"
#include "cli/git_commit.h"
#include "cli/help.h"
#include "cli/interruptions.h"
#include "cli/prompt.h"
#include "cli/text.h"
#include "cli/workspace.h"
#include "git/feedback.h"
#include "git/undo.h"

namespace unwrite::cli {

namespace {

struct GitUndoOptions {
    std::string count = "1";
    std::string issue;
    std::string session;
    std::string memory;
    bool no_pull_requests = false;
    git::UndoOptions engine;
};

struct GitFeedbackOptions {
    std::string issue;
    git::FeedbackOptions engine;
};

/// The file's real place; the last part of the name is not followed and need not be there.
Result<std::string> real_place(const Context& context, const std::string& path) {
    const std::string absolute = absolute_path(context.base, path);
    const std::size_t slash = absolute.rfind('/');
    Result<std::string> parent =
        real_path("/", absolute.substr(0, std::max<std::size_t>(slash, 1)));
    if (!parent) return parent.error();
    return (*parent == "/" ? "" : *parent) + absolute.substr(slash);
}

Result<std::uint64_t> parse_issue(const std::string& verb, const std::string& text) {
    const std::uint64_t issue = parse_number(text).value_or(0);
    if (issue != 0) return issue;
    return Error(ErrorKind::kUsage, EINVAL,
                 verb + ": " + quote_name(text) + " is not the number of an issue",
                 "`unwrite " + verb + " --issue 7`, a whole number without #");
}

Result<git::UndoOptions> engine_options(const Context& context, const GitUndoOptions& options) {
    git::UndoOptions engine = options.engine;
    TRY_ASSIGN(engine.issue, parse_issue("git undo", options.issue));
    const std::uint64_t count = parse_number(options.count).value_or(0);
    if (count == 0 || count > 1'000'000) {
        return Error(ErrorKind::kUsage, EINVAL,
                     "git undo: " + quote_name(options.count) + " is not a number of commits",
                     "`unwrite git undo --issue " + options.issue +
                         " 2` takes back two; the most is 1000000");
    }
    engine.count = count;
    engine.pull_requests = !options.no_pull_requests;
    if (!options.session.empty()) {
        const Result<std::string> place = real_place(context, options.session);
        // A session that is not there is not noted in.
        if (place) engine.session = *place;
    }
    if (!options.memory.empty()) {
        const Result<std::string> place = real_place(context, options.memory);
        if (!place) {
            return place.error()
                .with_context("git undo: cannot write " + quote_name(options.memory))
                .with_advice("`mkdir` makes its directory");
        }
        engine.memory = *place;
    }
    return engine;
}

/// A person runs git here, so its configuration has to be theirs. An agent that calls this may run
/// git as it likes.
Result<> expect_own_git(const Context& context) {
    if (std::getenv("UNWRITE_SESSION") != nullptr) return {};
    Result<Workspace> workspace = Workspace::open_mounted(context.base);
    if (!workspace && workspace.error().kind() == ErrorKind::kNoWorkspace) return {};
    if (!workspace) return workspace.error();
    return expect_git_of_person(*workspace);
}

/// In a mounted workspace, `unwrite undo` takes back even this.
Result<> make_step(const Context& context, overlay::NodeKind kind, const std::string& text) {
    Result<Workspace> workspace = Workspace::open_mounted(context.base);
    if (!workspace && workspace.error().kind() == ErrorKind::kNoWorkspace) return {};
    if (!workspace) return workspace.error();
    TRY(workspace->operations().checkpoint(asker(), kind, "", text));
    return {};
}

const char* word_of(git::UndoEnd end) {
    switch (end) {
        case git::UndoEnd::kDone:
            return "done";
        case git::UndoEnd::kPartly:
            return "partly";
        case git::UndoEnd::kPlanned:
            return "planned";
        case git::UndoEnd::kNothing:
            return "nothing";
        case git::UndoEnd::kConflict:
            return "conflict";
        case git::UndoEnd::kMerged:
            return "merged";
        case git::UndoEnd::kFailed:
            return "failed";
    }
    return "";
}

int exit_code_of(const git::UndoReport& report) {
    switch (report.end) {
        case git::UndoEnd::kDone:
        case git::UndoEnd::kPlanned:
            return kDone;
        case git::UndoEnd::kNothing:
        case git::UndoEnd::kMerged:
            return kNothingToDo;
        case git::UndoEnd::kConflict:
            return kConflict;
        case git::UndoEnd::kPartly:
            return report.conflicting.empty() ? kFailed : kConflict;
        case git::UndoEnd::kFailed:
            return kFailed;
    }
    return kFailed;
}

control::Json texts(const std::vector<std::string>& list) {
    control::Json json = control::Json::array();
    for (const std::string& text : list)
        json.push_back(control::encode_bytes(text));
    return json;
}

control::Json commits(const std::vector<git::AgentCommit>& list) {
    control::Json json = control::Json::array();
    for (const git::AgentCommit& commit : list) {
        json.push_back({{"id", commit.id},
                        {"subject", control::encode_bytes(commit.subject)},
                        {"time", commit.time}});
    }
    return json;
}

control::Json encode(const git::UndoReport& report) {
    return {{"end", word_of(report.end)},
            {"issue", report.issue},
            {"reverted", commits(report.reverted)},
            {"earlier", commits(report.earlier)},
            {"files", texts(report.files)},
            {"closed", texts(report.closed)},
            {"revert_commit", report.revert_commit},
            {"revert_pull_request", report.revert_pull_request},
            {"conflicting", report.conflicting},
            {"in_the_way", texts(report.in_the_way)},
            {"merged_number", report.merged_number},
            {"merged_commit", report.merged_commit},
            {"session_noted", report.session_noted},
            {"memory_noted", report.memory_noted},
            {"state_commit", report.state_commit},
            {"pushed", report.pushed},
            {"errors", texts(report.errors)},
            {"notes", texts(report.notes)},
            {"markdown", control::encode_bytes(markdown(report))}};
}

void print(Context& context, const git::UndoReport& report) {
    if (context.json) {
        context.out.line(control::dump(encode(report)));
    } else {
        context.out.print(harmless(markdown(report)));
    }
    if (report.end == git::UndoEnd::kNothing) {
        const std::string reply = markdown(report);
        for (const std::string& error : report.errors) {
            if (reply.find(error) == std::string::npos) context.notes.line(harmless(error));
        }
    }
    for (const std::string& note : report.notes)
        context.notes.line(harmless(note));
}

/// The answer to the offer of a revert pull request.
bool wants_revert_request(Context& context, const git::UndoReport& report) {
    if (report.end != git::UndoEnd::kMerged || !report.revert_pull_request.empty()) return false;
    if (can_ask() && !context.json) {
        ignore(context.out.flush(), "a failure to write is told at the end");
        return confirm(context, "Create a revert pull request? (y/n)");
    }
    context.notes.line("hint: run the same command with --revert-merged to create it");
    return false;
}

/// What a program is waited for is said on a terminal; a log would only be longer by it.
git::Attendant attendant(Context& context) {
    git::Attendant attendant;
    attendant.interruptions = Interruptions::count;
    if (::isatty(STDERR_FILENO) == 0) return attendant;
    attendant.waiting = [&context](const std::string& what) {
        context.notes.line(harmless("Waiting for " + what + " ... (Ctrl-C stops it)"));
        ignore(context.notes.flush(), "a failure to write is told at the end");
    };
    return attendant;
}

Result<int> git_undo(Context& context, const GitUndoOptions& options) {
    TRY_ASSIGN(git::UndoOptions engine, engine_options(context, options));
    TRY(expect_own_git(context));
    const std::string title = "git undo --issue " + options.issue;
    bool begun = false;
    engine.before_change = [&] {
        begun = true;
        return make_step(context, overlay::NodeKind::kBegin, title);
    };
    engine.attendant = attendant(context);
    const auto act = [&] {
        const Interruptions interruptions;  // not while a question is asked
        git::InstalledPrograms programs;
        Result<git::UndoReport> report = git::undo(programs, context.base, engine);
        return report ? std::move(report) : report.error().with_context("git undo");
    };
    Result<git::UndoReport> acted = act();
    // Also what it did until it failed is a step.
    if (begun) TRY(make_step(context, overlay::NodeKind::kStep, title));
    if (!acted) return acted.error();
    git::UndoReport report = *std::move(acted);
    print(context, report);
    if (engine.dry_run || engine.revert_merged || !wants_revert_request(context, report)) {
        return exit_code_of(report);
    }
    engine.revert_merged = true;
    TRY_ASSIGN(report, act());
    print(context, report);
    return exit_code_of(report);
}

Result<int> git_feedback(Context& context, const GitFeedbackOptions& options) {
    git::FeedbackOptions engine = options.engine;
    TRY_ASSIGN(engine.issue, parse_issue("git feedback", options.issue));
    const Interruptions interruptions;
    git::InstalledPrograms installed;
    git::AttendedPrograms programs(installed, attendant(context));
    const Result<std::string> answer = git::feedback(programs, context.base, engine);
    if (!answer) return answer.error().with_context("git feedback");
    const std::string& note = *answer;
    if (context.json) {
        context.out.line(control::dump(control::Json{{"note", note}}));
    } else {
        context.out.print(note);
    }
    return kDone;
}

void add_git_undo(CLI::App& git, Context& context) {
    const auto options = std::make_shared<GitUndoOptions>();
    git::UndoOptions& engine = options->engine;
    CLI::App* command =
        add_command(git, context, "undo", "Take back the commits an agent made for a GitHub issue",
                    options, git_undo);
    command->add_option("N", options->count, "How many of the agent's commits (default 1)");
    command->add_option("--issue", options->issue, "The number of the issue")
        ->required()
        ->type_name("K");
    command
        ->add_option("--branch", engine.branch,
                     "The branch of the agent's pull request (default gitclaw/issue-K)")
        ->type_name("BRANCH");
    command->add_flag("--push", engine.push, "Push the reverts, also those of an earlier run");
    command
        ->add_option("--remote", engine.remote, "Where to push (default: the remote of the branch)")
        ->type_name("REMOTE");
    command
        ->add_option("--session", options->session,
                     "Add a note to this session file of the agent, if the file exists")
        ->type_name("FILE");
    command->add_option("--memory", options->memory, "Add a line to this log file of the agent")
        ->type_name("FILE");
    command->add_flag("--dry-run", engine.dry_run, "Only show what would happen");
    command->add_flag("--revert-merged", engine.revert_merged,
                      "If the work is already merged, open a pull request that reverts it");
    command->add_flag("--no-pull-requests", options->no_pull_requests,
                      "Revert commits without a look at pull requests");
    command
        ->add_option("--subject", engine.conventions.subjects,
                     "How the agent's commit subjects look, with {issue} for the number; may be "
                     "repeated")
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    command
        ->add_option("--state-path", engine.conventions.state_paths,
                     "A file of the agent's own state, or a directory ending in /; left as it is; "
                     "may be repeated")
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
        ->type_name("PATH");
    command->add_option("--state-commit", engine.conventions.state_commit,
                        "The subject of the commit that holds the note and the log line");
    describe(*command,
             {.usage = "[OPTIONS] --issue K [N]",
              .examples = {{"unwrite git undo --issue 7 --dry-run", "look first"},
                           {"unwrite git undo --issue 7 2 --push", "two commits, and push"}},
              .note = "Closes the issue's open pull request if there is one; otherwise reverts "
                      "commits on the current branch. The answer is Markdown. Ctrl-C ends it at "
                      "once; run it again to go on."});
}

void add_git_feedback(CLI::App& git, Context& context) {
    const auto options = std::make_shared<GitFeedbackOptions>();
    CLI::App* command = add_command(git, context, "feedback",
                                    "Print a note for the agent's next prompt after a thumbs-down",
                                    options, git_feedback);
    command->add_option("--issue", options->issue, "The number of the issue")
        ->required()
        ->type_name("K");
    command->add_option("--agent", options->engine.agent, "The agent's login on GitHub")
        ->type_name("LOGIN");
    describe(*command, {.usage = "[OPTIONS] --issue K",
                        .examples = {{"unwrite git feedback --issue 7", ""},
                                     {"unwrite git feedback --issue 7 --agent my-bot", ""}}});
}

}  // namespace

void add_git(CLI::App& app, Context& context) {
    CLI::App* git = app.add_subcommand("git", "Take back an agent's commits and pull requests");
    git->require_subcommand(1);
    describe(*git,
             {.usage = "COMMAND",
              .examples = {{"unwrite git undo --issue 7", "take back its newest commit"},
                           {"unwrite git feedback --issue 7", "a note for its next prompt"}}});
    add_git_undo(*git, context);
    add_git_feedback(*git, context);
}

}  // namespace unwrite::cli
