#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>

#include "base/digest.h"
#include "base/syscalls.h"
#include "cli/commands/commands.h"
#include "cli/decision.h"
#include "cli/editing_room.h"
#include "cli/git_commit.h"
#include "cli/help.h"
#include "cli/outside_runs.h"
#include "cli/prompt.h"
#include "cli/render.h"
#include "cli/reviewing.h"
#include "cli/screen/curses_display.h"
#include "cli/text.h"

namespace unwrite::cli {

namespace {

constexpr std::size_t kMostScript = std::size_t{16} << 20;

struct ReviewOptions {
    bool script = false;
    bool plain = false;
    bool dry_run = false;
    bool git = false;
    std::string text;
};

Result<overlay::Decision> decision_of_script(Context& context, const Workspace& workspace) {
    TRY_ASSIGN(const std::string text, read_input("-", kMostScript));
    TRY_ASSIGN(const auto judgements, parse_judgements(text));
    overlay::Decision decision;
    for (const Judgement& one : judgements) {
        TRY_ASSIGN(std::string path, workspace.inside(context.base, one.path));
        if (one.verdict == Verdict::kAccept) decision.keep.push_back(std::move(path));
        if (one.verdict == Verdict::kReject) decision.take_back.push_back(std::move(path));
        if (one.verdict == Verdict::kParts)
            decision.parts.push_back({std::move(path), one.hunks, ""});
    }
    return decision;
}

/// The hunks of a diff, each from its "@@" line on; no other line begins so.
std::vector<std::string> hunks_of(const std::string& text) {
    std::vector<std::string> hunks;
    std::size_t at = text.starts_with("@@ ") ? 0 : text.find("\n@@ ");
    while (at != std::string::npos) {
        const std::size_t begin = text[at] == '\n' ? at + 1 : at;
        at = text.find("\n@@ ", begin);
        hunks.push_back(text.substr(begin, at == std::string::npos ? at : at + 1 - begin));
    }
    return hunks;
}

std::string digest_of_file(const Workspace& workspace, const std::string& path) {
    const auto bytes = sys::read_file_at(AT_FDCWD, workspace.root() + '/' + path);
    return bytes ? to_text(digest_of(*bytes)) : "";
}

class Dialogue {
 public:
    Dialogue(Context& context, Workspace& workspace) : context_(context), workspace_(workspace) {}

    Result<std::vector<Judged>> hold() {
        TRY_ASSIGN(const auto diffs, workspace_.operations().diff("", "", {}, true));
        for (const overlay::FileDiff& diff : diffs)
            judged_.push_back({diff.change, Verdict::kOpen, {}, {}});
        for (std::size_t i = 0; i < diffs.size() && !ended_; ++i) {
            show(diffs[i]);
            TRY(judge(judged_[i], i + 1));
        }
        if (left_) judged_.clear();
        return std::move(judged_);
    }

 private:
    void show(const overlay::FileDiff& diff) {
        const Colour colour = context_.notes.has_colour() ? Colour::kYes : Colour::kNo;
        context_.notes.print(change_lines({diff.change}, 0, colour));
        context_.notes.print(diff_lines(diff, true, colour));
    }

    Result<> judge(Judged& one, std::size_t number) {
        const std::string question = fmt::format(
            "{} of {}: [a]ccept  [r]eject  [h]unks  [s]kip  [q]uit", number, judged_.size());
        switch (ask_unless_left(question, {{"accept", "reject", "hunks", "skip", "quit"}})) {
            case 'a':
                one.verdict = Verdict::kAccept;
                return {};
            case 'r':
                one.verdict = Verdict::kReject;
                return {};
            case 'h':
                return judge_hunks(one);
            case 'q':
                ended_ = true;
                return {};
            default:
                return {};
        }
    }

    Result<> judge_hunks(Judged& one) {
        one.seen = digest_of_file(workspace_, one.change.path);
        TRY_ASSIGN(const auto again, workspace_.operations().diff("", "", {one.change.path}, true));
        const bool same = digest_of_file(workspace_, one.change.path) == one.seen;
        const std::vector<std::string> hunks =
            again.size() == 1 && same ? hunks_of(again[0].text) : std::vector<std::string>();
        if (hunks.size() < 2 || one.change.kind == overlay::ChangeKind::kCreated) {
            context_.notes.line(same ? "It has no parts to be told apart."
                                     : "It is changing right now.");
            const char answer = ask_unless_left("[a]ccept  [r]eject  [s]kip it whole",
                                                {{"accept", "reject", "skip"}});
            one.verdict = answer == 'a'   ? Verdict::kAccept
                          : answer == 'r' ? Verdict::kReject
                                          : Verdict::kOpen;
            return {};
        }
        one.verdict = Verdict::kParts;
        for (std::size_t i = 0; i < hunks.size(); ++i) {
            context_.notes.print(
                diff_lines({.change = one.change, .text = hunks[i], .lines = {}}, true,
                           context_.notes.has_colour() ? Colour::kYes : Colour::kNo));
            const char answer =
                ask_unless_left(fmt::format("hunk {} of {}: [a]ccept  [r]eject  [s]kip the file",
                                            i + 1, hunks.size()),
                                {{"accept", "reject", "skip"}});
            if (answer == 's' || answer == kNoAnswer) {
                one = {one.change, Verdict::kOpen, {}, {}};
                return {};
            }
            if (answer == 'a') one.hunks.push_back(i + 1);
        }
        if (one.hunks.size() == hunks.size()) one.verdict = Verdict::kAccept;
        if (one.hunks.empty()) one.verdict = Verdict::kReject;
        return {};
    }

    /// After Ctrl-C, and where the input ends: everything that was said of the files is dropped,
    /// but not without a question. kNoAnswer: it is.
    char ask_unless_left(const std::string& question, const Answers& answers) {
        for (;;) {
            const char answer = ask(context_, question, answers);
            if (answer != kNoAnswer) return answer;
            const auto decided =
                std::count_if(judged_.begin(), judged_.end(),
                              [](const Judged& one) { return one.verdict != Verdict::kOpen; });
            if (decided > 0 &&
                ask(context_,
                    "Leave, and drop what you said of " +
                        counted(static_cast<std::uint64_t>(decided), "file", "files") + "? (y/n)",
                    {{"yes", "no"}}) == 'n')
                continue;
            ended_ = left_ = true;
            return kNoAnswer;
        }
    }

    Context& context_;
    Workspace& workspace_;
    std::vector<Judged> judged_;
    bool ended_ = false;
    bool left_ = false;  ///< nothing of it is to be done
};

Result<overlay::Decision> decision_of_answers(Context& context, Workspace& workspace) {
    TRY_ASSIGN(const overlay::Status status, workspace.operations().status("", false));
    TRY_ASSIGN(const auto runs, outside_runs_of_task(context, workspace));
    context.notes.print(outside_run_lines(runs));
    TRY_ASSIGN(const auto judged, Dialogue(context, workspace).hold());
    return decision_of(judged, status.changes);
}

/// With --git: what is decided must not mix with what a person did to the repository.
Result<> check_git(Workspace& workspace, const ReviewOptions& options,
                   const overlay::Decision& decision) {
    if (!options.git) return {};
    git::Scope settled{{decision.keep.begin(), decision.keep.end()}, {}};
    settled.paths.insert(decision.take_back.begin(), decision.take_back.end());
    return expect_git_of_person(workspace, settled);
}

Result<int> conclude(Context& context, Workspace& workspace, const ReviewOptions& options,
                     const overlay::Decision& decision, const overlay::Decided& decided) {
    print_decided(context, decided, options.dry_run);
    if (options.git && !options.dry_run && !decided.kept.empty())
        TRY(commit_what_was_kept(context, workspace, decision, decided, options.text));
    return kDone;
}

Result<int> review_all_at_once(Context& context, Workspace& workspace, const ReviewOptions& options,
                               std::unique_ptr<screen::Display> display, const std::string& text) {
    TRY_ASSIGN(const auto runs, outside_runs_of_task(context, workspace));
    TRY_ASSIGN(const std::optional<Reviewed> reviewed,
               review_on_screen(workspace, std::move(display), text, outside_run_words(runs),
                                [&](const overlay::Decision& decision) {
                                    return check_git(workspace, options, decision);
                                }));
    if (reviewed)
        return conclude(context, workspace, options, reviewed->decision, reviewed->decided);
    context.notes.line("Nothing was done.");
    return kNothingToDo;
}

Result<int> review_in_lines(Context& context, Workspace& workspace, const ReviewOptions& options,
                            const std::string& text) {
    TRY_ASSIGN(overlay::Decision decision, options.script
                                               ? decision_of_script(context, workspace)
                                               : decision_of_answers(context, workspace));
    if (decision.keep.empty() && decision.take_back.empty() && decision.parts.empty()) {
        context.notes.line("Nothing was decided.");
        return kNothingToDo;
    }
    TRY(check_git(workspace, options, decision));
    decision.text = text;
    if (!options.script && !options.dry_run) {
        TRY_ASSIGN(const overlay::Decided foreseen,
                   workspace.operations().decide(asker(), decision, true));
        print_decided(context, foreseen, true);
        TRY(context.out.flush());
        if (!confirm(context, "Do this? Accepted changes can no longer be undone. (y/n)")) {
            context.notes.line("Nothing was done.");
            return kNothingToDo;
        }
    }
    TRY_ASSIGN(const overlay::Decided decided,
               workspace.operations().decide(asker(), decision, options.dry_run));
    return conclude(context, workspace, options, decision, decided);
}

Result<int> review(Context& context, const ReviewOptions& options) {
    TRY_ASSIGN(Workspace workspace, Workspace::open(context.base));
    if (options.git) {
        TRY(expect_git_message(options.text));
        TRY(expect_own_git_untouched(workspace));
    }
    if (!options.script && !can_ask()) {
        return Error(
            ErrorKind::kUsage, EINVAL, "review: there is no terminal to ask on",
            "`unwrite review --script` reads from stdin what to accept and what to reject");
    }
    const std::string text = options.text.empty() ? "review" : options.text;
    if (!options.script && !options.plain && !options.dry_run) {
        auto display = screen::open_curses(context.notes.has_colour());
        if (display)
            return review_all_at_once(context, workspace, options, std::move(display), text);
    }
    return review_in_lines(context, workspace, options, text);
}

}  // namespace

void add_review(CLI::App& app, Context& context) {
    const auto options = std::make_shared<ReviewOptions>();
    CLI::App* command = add_command(
        app, context, "review", "Look at each change, then accept or reject it", options, review);
    command->add_flag("--script", options->script, "Read the decisions from standard input");
    command->add_flag("--plain", options->plain, "Ask line by line instead of on the full screen");
    command->add_flag("--dry-run", options->dry_run, "Show what would happen");
    command->add_flag("--git", options->git, "Also make a git commit of what was accepted");
    command->add_option("-m,--message", options->text,
                        "The message of that commit, and of the log");
    describe(
        *command,
        {.usage = "[OPTIONS]",
         .examples = {{"unwrite review", "on the full screen; ? shows the keys"},
                      {"unwrite review --script <decisions", "without a terminal"},
                      {"unwrite review --git -m 'Fix the parser'", "and make a git commit"}},
         .note = "A script has one decision per line:\n"
                 "\"accept PATH\": accept it as it is.\n"
                 "\"reject PATH\": restore it as it was when the task began.\n"
                 "\"accept-hunks 1,3 PATH\": accept these hunks of \"unwrite diff PATH\", reject "
                 "the others.\n"
                 "Whatever the script does not name stays undecided. If one line fails, nothing "
                 "is done."});
}

}  // namespace unwrite::cli
