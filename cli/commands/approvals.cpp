// approvals, approve, deny: what waits for a person, and the answers.
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <map>

#include "cli/answering.h"
#include "cli/commands/commands.h"
#include "cli/help.h"
#include "cli/prompt.h"
#include "cli/text.h"
#include "cli/workspace.h"

namespace unwrite::cli {

namespace {

struct ApprovalsOptions {
    bool watch = false;
};

struct AnswerOptions {
    std::vector<std::uint64_t> numbers;
    bool whole_rule = false;
};

bool reader_is_gone() {
    struct pollfd poller = {STDOUT_FILENO, 0, 0};
    return ::poll(&poller, 1, 0) > 0 && (poller.revents & (POLLERR | POLLHUP)) != 0;
}

void tell(Context& context, const overlay::Question& question) {
    context.out.line(context.json ? control::dump(control::encode(question))
                                  : question_line(question));
}

/// Each question when it comes and when it changes, until whoever reads is gone. Somebody reads it,
/// so there is somebody to ask.
Result<int> print_all(Context& context, control::Remote& remote) {
    std::map<overlay::QuestionNumber, std::string> told;
    overlay::Watcher watcher;
    watcher.id = static_cast<std::uint64_t>(::getpid());
    while (!reader_is_gone()) {
        TRY_ASSIGN(const overlay::Questioned now, remote.questions(watcher));
        if (watcher.seen == 0) context.notes.line("Waiting for questions.");
        ignore(context.notes.flush(), "it is only said");
        watcher.seen = now.version;
        watcher.wait_ms = 1000;
        for (const overlay::Question& question : now.questions) {
            std::string& state = told[question.number];
            if (state == question.state) continue;
            state = question.state;
            tell(context, question);
        }
        TRY(context.out.flush());
    }
    return kDone;
}

Result<int> watch(Context& context, const control::MountPoint& mount) {
    TRY_ASSIGN(auto remote, control::Remote::connect(mount));
    if (context.json || !can_ask()) return print_all(context, *remote);
    context.notes.line("Waiting for questions; Ctrl-C ends.");
    ignore(context.notes.flush(), "it is only said");
    Answering answering(std::move(remote), Terminal{STDIN_FILENO, STDERR_FILENO, false}, "");
    TRY(answering.live());
    return kDone;
}

Result<int> approvals(Context& context, const ApprovalsOptions& options) {
    TRY_ASSIGN(Workspace workspace, Workspace::open_mounted(context.base));
    if (options.watch) return watch(context, *workspace.mount());
    TRY_ASSIGN(const overlay::Questioned now, workspace.oversight().questions({}));
    if (context.json) {
        context.out.line(control::dump(control::encode(now)));
        return kDone;
    }
    for (const overlay::Question& question : now.questions)
        tell(context, question);
    if (now.questions.empty()) context.notes.line("No questions.");
    return kDone;
}

Result<int> answer_all(Context& context, const AnswerOptions& options, bool approve) {
    TRY_ASSIGN(Workspace workspace, Workspace::open_mounted(context.base));
    control::Json all = control::Json::array();
    for (const std::uint64_t number : options.numbers) {
        TRY_ASSIGN(const overlay::Question question,
                   workspace.oversight().answer(asker(), number, approve, options.whole_rule));
        all.push_back(control::encode(question));
        if (!context.json) {
            context.out.line(fmt::format("{} may{} change {}",
                                         question.agent ? harmless(question.session) : "the user",
                                         approve ? "" : " not",
                                         options.whole_rule ? "all of: " + harmless(question.reason)
                                                            : quote_name(question.path)));
        }
    }
    if (context.json) context.out.line(control::dump(control::Json{{"answered", all}}));
    return kDone;
}

Result<int> approve(Context& context, const AnswerOptions& options) {
    return answer_all(context, options, true);
}

Result<int> deny(Context& context, const AnswerOptions& options) {
    return answer_all(context, options, false);
}

CLI::App* add_answer(CLI::App& app, Context& context, const char* name, const char* about,
                     const char* all, Result<int> (*action)(Context&, const AnswerOptions&)) {
    const auto options = std::make_shared<AnswerOptions>();
    CLI::App* command = add_command(app, context, name, about, options, action);
    command->add_option("ID", options->numbers, "Numbers from \"unwrite approvals\"")->required();
    command->add_flag("--all", options->whole_rule, all);
    return command;
}

}  // namespace

void add_approvals(CLI::App& app, Context& context) {
    const auto options = std::make_shared<ApprovalsOptions>();
    CLI::App* command = add_command(app, context, "approvals",
                                    "List writes waiting for your approval", options, approvals);
    command->add_flag("--watch", options->watch,
                      "Keep running: ask about each new one, or print it if there is no terminal");
    describe(*command,
             {.usage = "[OPTIONS]",
              .examples = {{"unwrite approvals", "what waits now"},
                           {"unwrite approvals --watch", "answer questions as they come"}},
              .note = "It also lists the newest questions that were answered or refused."});
    command = add_answer(app, context, "approve", "Allow a write that waits for your approval",
                         "Allow everything that the same rule asks about", approve);
    describe(*command,
             {.usage = "[OPTIONS] ID...",
              .examples = {{"unwrite approve 3", "this file, from now on"},
                           {"unwrite approve 3 --all", "all files that the rule asks about"}},
              .note = "The answer holds for the file and for the session that asked."});
    command = add_answer(app, context, "deny", "Refuse a write that waits for your approval",
                         "Refuse everything that the same rule asks about", deny);
    describe(*command,
             {.usage = "[OPTIONS] ID...",
              .examples = {{"unwrite deny 3", "this file, from now on"},
                           {"unwrite deny 3 4 --all", "all files that these two rules ask about"}},
              .note = "The answer holds for the file and for the session that asked."});
}

}  // namespace unwrite::cli
