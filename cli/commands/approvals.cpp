// approvals, approve, deny: what waits for a person, and the answers.
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <map>

#include "cli/answering.h"
#include "cli/commands/commands.h"
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

void add_answer(CLI::App& app, Context& context, const char* name, const char* about,
                Result<int> (*action)(Context&, const AnswerOptions&)) {
    const auto options = std::make_shared<AnswerOptions>();
    CLI::App* command = add_command(app, context, name, about, options, action);
    command->add_option("ID", options->numbers, "Numbers that `unwrite approvals` lists")
        ->required();
    command->add_flag("--all", options->whole_rule,
                      "Everything that the rule of the question asks about");
}

}  // namespace

void add_approvals(CLI::App& app, Context& context) {
    const auto options = std::make_shared<ApprovalsOptions>();
    CLI::App* command = add_command(
        app, context, "approvals", "List the changes that wait for your leave", options, approvals);
    command->add_flag("--watch", options->watch,
                      "Stay, and ask on a terminal about each; elsewhere print each");
    add_answer(app, context, "approve", "Allow a change that waits, and further ones of that path",
               approve);
    add_answer(app, context, "deny", "Refuse a change that waits, and further ones of that path",
               deny);
}

}  // namespace unwrite::cli
