#include "cli/settle.h"

#include <fmt/format.h>

#include <cerrno>

#include "cli/decision.h"
#include "cli/discarding.h"
#include "cli/editors.h"
#include "cli/failure.h"
#include "cli/heaps.h"
#include "cli/log_lines.h"
#include "cli/outside_runs.h"
#include "cli/prompt.h"
#include "cli/render.h"
#include "cli/reviewing.h"
#include "cli/screen/curses_display.h"
#include "cli/text.h"
#include "overlay/changes.h"
#include "overlay/session.h"

namespace unwrite::cli {

namespace {

constexpr std::size_t kMostShown = 12;

/// What was open before a run is in the same task: `undo` takes back the run alone.
void tell_kept(Context& context, const Question& question) {
    const std::string back = question.discard_to.empty() ? "discard" : "undo";
    context.notes.line("Kept. `unwrite diff` shows it, `unwrite commit` accepts it, `unwrite " +
                       back + "` takes it back.");
}

Colour colour_of(const Output& output) {
    return output.has_colour() ? Colour::kYes : Colour::kNo;
}

Result<> show(Context& context, overlay::Operations& operations, const std::string& since) {
    TRY_ASSIGN(const std::vector<overlay::FileDiff> diffs, operations.diff(since, "", {}, true));
    for (const overlay::FileDiff& diff : diffs) {
        context.notes.print(diff_lines(diff, true, colour_of(context.notes)));
    }
    return {};
}

/// True when something was decided: what is open then was left open on purpose. A terminal that
/// has no full screen shows the diffs.
Result<bool> review(Context& context, Workspace& workspace, const Question& question) {
    auto display = screen::open_curses(context.notes.has_colour());
    if (!display) {
        TRY(show(context, workspace.operations(), question.since));
        return false;
    }
    // A decision is about what the task began with, whatever the question was about.
    const char* greeting = question.since == question.discard_to && !question.since.empty()
                               ? "This is the whole task: also what was open before the run."
                               : "";
    TRY_ASSIGN(const auto runs, outside_runs_of_task(context, workspace));
    const std::string outside = outside_run_words(runs);
    TRY_ASSIGN(const std::optional<Reviewed> reviewed,
               review_on_screen(workspace, std::move(display), "review",
                                outside.empty() ? greeting : outside,
                                [](const overlay::Decision&) { return Result<>(); }));
    if (!reviewed) return false;
    context.notes.print(decided_words(reviewed->decided, Saying::kDone, colour_of(context.notes)));
    TRY_ASSIGN(const overlay::Status status, workspace.operations().status("", false));
    if (!status.changes.empty()) context.notes.line("Still open: " + summary_words(status.changes));
    return true;
}

Act act_of(overlay::Operations& operations, const Question& question) {
    return [&](overlay::Consent consent) -> Result<overlay::Moved> {
        TRY_ASSIGN(overlay::Moved moved,
                   question.discard_to.empty()
                       ? operations.discard(asker(), false, consent)
                       : operations.rollback(asker(), question.discard_to, false, consent));
        std::erase_if(moved.others, [&](const overlay::Origin& origin) {
            return origin.session == question.session;
        });
        return moved;
    };
}

void tell_discarded(Context& context) {
    context.notes.line("Discarded. \"unwrite redo\" brings it all back.");
}

/// What became of the question: it is put again until it is settled, or nobody answers any more.
enum class Turn { kAgain, kSettled, kUnanswered };

/// Accepting is about the whole task, so what was open before the run is named as well.
Result<Turn> accept(Context& context, Workspace& workspace, const Question& question) {
    TRY_ASSIGN(const overlay::Status status, workspace.operations().status("", false));
    if (!question.discard_to.empty()) {
        TRY_ASSIGN(const overlay::Log log, workspace.operations().log("", false, false));
        context.notes.line("This accepts everything that is open in the task:");
        context.notes.print(
            change_lines(heaped(status.changes), kMostShown, colour_of(context.notes)));
        context.notes.print(who_lines(status.changes, log.origins));
    }
    const std::string files = counted(overlay::files_in(status.changes), "file", "files");
    const char answer = ask(context, "Accept " + files + " for good? (y/n)", {{"yes", "no"}});
    if (answer != 'y') return answer == kNoAnswer ? Turn::kUnanswered : Turn::kAgain;
    TRY(workspace.operations().commit(asker(), "", false));
    context.notes.line("Accepted for good; these changes can no longer be undone.");
    return Turn::kSettled;
}

Result<Turn> take_back(Context& context, Workspace& workspace, const Question& question) {
    const Discardable what{question.discard_to, question.session,
                           act_of(workspace.operations(), question), false};
    TRY_ASSIGN(const Discarding wanted, ask_to_discard(context, workspace, what));
    if (wanted == Discarding::kUnanswered) return Turn::kUnanswered;
    if (wanted == Discarding::kNothing) return Turn::kAgain;
    if (wanted == Discarding::kAll) {
        TRY_ASSIGN(const overlay::Moved moved, what.act(overlay::Consent::kAll));
        tell_discarded(context);
        return Turn::kSettled;
    }
    const auto moved = discard_part(workspace.operations(), what, wanted, false);
    if (!moved && moved.error().kind() == ErrorKind::kConflict) {
        tell_failure(context, moved.error());
        return Turn::kAgain;
    }
    if (!moved) return moved.error();
    context.notes.line(wanted == Discarding::kRun
                           ? "Discarded what this run changed; what others changed is kept:"
                           : "Discarded what agents changed; yours is kept:");
    context.notes.print(change_lines(heaped(moved->changes), kMostShown, colour_of(context.notes)));
    print_kept(context.notes, *moved);
    context.notes.line("\"unwrite redo\" brings it back.");
    return Turn::kSettled;
}

Result<Turn> put(Context& context, Workspace& workspace, const Question& question) {
    const Answers answers{{"commit", "discard", "review", "keep"}, 'k'};
    switch (ask(context, question.choices + "  [K]eep (Enter)", answers)) {
        case 'c':
            return accept(context, workspace, question);
        case 'd':
            return take_back(context, workspace, question);
        case 'r': {
            TRY_ASSIGN(const bool decided, review(context, workspace, question));
            return decided ? Turn::kSettled : Turn::kAgain;
        }
        case 'k':
            tell_kept(context, question);
            return Turn::kSettled;
        default:
            return Turn::kUnanswered;
    }
}

Result<bool> put_until_settled(Context& context, Workspace& workspace, const Question& question) {
    context.notes.print(bell());  // a run may have taken long
    for (;;) {
        TRY_ASSIGN(const Turn turn, put(context, workspace, question));
        if (turn == Turn::kUnanswered) tell_kept(context, question);
        if (turn != Turn::kAgain) return turn == Turn::kSettled;
    }
}

}  // namespace

Result<Ending> parse_ending(const std::string& option, const std::string& word) {
    if (word == "ask") return Ending::kAsk;
    if (word == "keep") return Ending::kKeep;
    if (word == "commit") return Ending::kCommit;
    if (word == "discard") return Ending::kDiscard;
    return Error(ErrorKind::kUsage, EINVAL, option + " cannot be " + quote_name(word),
                 "it is one of ask, keep, commit and discard");
}

namespace {

/// What the run itself changed; what others changed meanwhile stays. Without a step of its own it
/// is what the question is about.
Result<> discard_unasked(Context& context, overlay::Operations& operations,
                         const Question& question) {
    TRY_ASSIGN(const overlay::Log log, operations.log("", false, false));
    const auto step =
        std::find_if(log.entries.begin(), log.entries.end(), [&](const overlay::LogEntry& entry) {
            const auto session = entry.node.tags.find("session");
            return entry.node.kind == overlay::NodeKind::kRun && session != entry.node.tags.end() &&
                   session->second == question.session;
        });
    if (question.session.empty() || step == log.entries.end()) {
        TRY(announce_and_act(context, act_of(operations, question)));
    } else {
        TRY_ASSIGN(const overlay::Moved moved,
                   operations.revert(asker(), fmt::format("n{}", step->node.number), false));
        print_kept(context.notes, moved);
    }
    tell_discarded(context);
    return {};
}

}  // namespace

Result<bool> settle(Context& context, Workspace& workspace, Ending ending,
                    const Question& question) {
    if (ending == Ending::kAsk && can_ask()) return put_until_settled(context, workspace, question);
    if (ending == Ending::kAsk) {
        tell_kept(context, question);
        return false;
    }
    if (ending == Ending::kCommit) {
        TRY(workspace.operations().commit(asker(), "", false));
        context.notes.line("Accepted for good; these changes can no longer be undone.");
    }
    if (ending == Ending::kDiscard) TRY(discard_unasked(context, workspace.operations(), question));
    return true;
}

bool was_interrupted(const overlay::Status& status) {
    return status.tags.contains(overlay::kInterruptedTag);
}

Result<bool> tell_unfinished(Context& context, Workspace& workspace) {
    TRY_ASSIGN(const overlay::Status status, workspace.operations().status("", false));
    const std::uint64_t files = overlay::files_in(status.changes);
    if (!status.task_open || files == 0) {
        // A rollback has taken all back, say: nothing is left to ask about.
        if (was_interrupted(status))
            ignore(workspace.note_answered(), "the words are said once more, then");
        return false;
    }
    const std::string count = fmt::format("{} {} modified.", counted(files, "file", "files"),
                                          files == 1 ? "was" : "were");
    context.notes.line(was_interrupted(status) ? "unwrite was interrupted during a task. " + count
                                               : "The last task is still open. " + count);
    context.notes.print(change_lines(heaped(status.changes), kMostShown, colour_of(context.notes)));
    context.notes.print(path_lines(kOutsideTitle, status.outside));
    return true;
}

Result<> settle_unfinished(Context& context, Workspace& workspace, Ending ending) {
    TRY_ASSIGN(const bool open, tell_unfinished(context, workspace));
    if (!open) return {};
    const Question question{"", "", "[C]ommit changes  [D]iscard and restore  [R]eview", ""};
    if (ending == Ending::kAsk && !can_ask()) {
        context.notes.line(question.choices + "  [K]eep");
        context.notes.line(
            "Kept: there is no terminal to ask. `unwrite recover --commit`, `--discard` or "
            "`--keep` decide, "
            "or `--on-unfinished` at the mount.");
        return {};
    }
    TRY_ASSIGN(const bool answered, settle(context, workspace, ending, question));
    if (answered) ignore(workspace.note_answered(), "the words are said once more, then");
    return {};
}

void warn_of_moved(Context& context, const overlay::Moved& moved) {
    if (!moved.others.empty()) {
        context.notes.line("This undoes changes made by " + origins_words(moved.others) +
                           (moved.own ? ", and your own." : "."));
    }
    warn_of_behind(context, moved);
}

void warn_of_behind(Context& context, const overlay::Moved& moved) {
    for (const std::string& line : editor_lines(editors_of_workspace(context.base), moved.changes))
        context.notes.line(line);
    context.notes.print(
        path_lines("This also undoes what was changed outside the mount:", moved.behind));
}

namespace {

/// Where that leads: a state from before, or a new one without the step. As log marks it, which
/// does not show the beginning of a run.
std::string where_words(const overlay::Moved& moved, const Said& said, bool dry_run) {
    if (moved.to == 0) return "";
    overlay::NodeNumber at = moved.to;
    if (said.marked_by != nullptr && !dry_run) {
        const Result<overlay::NodeNumber> marked = said.marked_by->marked();
        if (marked) at = *marked;
    }
    const std::string to = fmt::format("n{}", at);
    if (said.is_return) return said.done.ends_with(' ' + to) ? "" : " (" + to + ")";
    return dry_run || at < moved.from ? " (back to " + to + ")" : " (now at " + to + ")";
}

}  // namespace

GitBefore::GitBefore(const Workspace& workspace)
    : root_(workspace.root()), before_(git_state_of(root_)) {}

void GitBefore::print_difference(Context& context) const {
    const std::string words = git_change_words(before_, git_state_of(root_));
    if (!context.json && !words.empty()) context.out.line("In git: " + words + '.');
}

void print_kept(Output& to, const overlay::Moved& moved) {
    to.print(path_lines("In these files, other changes stay:", moved.merged));
    to.print(path_lines("These were changed again later, so they stay as they are:", moved.left));
}

void print_moved(Context& context, const overlay::Moved& moved, const Said& said, bool dry_run) {
    if (context.json) {
        context.out.line(control::dump(control::encode(moved)));
        return;
    }
    std::string line = dry_run ? "Would " + said.would : said.done;
    line += where_words(moved, said, dry_run);
    context.out.line(line + (moved.changes.empty() ? ". No file differs." : ":"));
    context.out.print(
        change_lines(heaped(moved.changes), dry_run ? 0 : 40, colour_of(context.out)));
    print_kept(context.out, moved);
    if (dry_run || !said.can_redo || !moved.can_redo || moved.from == 0) return;
    context.out.line(
        said.is_return && moved.from != moved.to
            ? fmt::format("You were at n{}; \"unwrite redo\" returns to it.", moved.from)
            : "\"unwrite redo\" reverses this.");
}

namespace {

/// What was changed outside the mount has been listed: it goes only when somebody says so.
Result<> agree_to_outside(Context& context, const overlay::Moved& foreseen, Outside outside) {
    if (foreseen.behind.empty() || outside == Outside::kGoesToo) return {};
    TRY(context.notes.flush());
    if (can_ask() && !context.json) {
        if (confirm(context, "Undo these too? (y/n)")) return {};
        return Error(ErrorKind::kNothing, ECANCELED, "nothing was done");
    }
    return Error(ErrorKind::kConflict, EBUSY,
                 "nothing was done, because files were changed outside the mount",
                 "look at these files; `unwrite rollback --outside` and `unwrite discard "
                 "--outside` take them back too");
}

}  // namespace

Result<overlay::Moved> announce_and_act(Context& context, const Act& act, Outside outside) {
    // An editor is told of before its swap file goes, also where nothing else needs a word.
    if (!editors_of_workspace(context.base).empty()) {
        TRY_ASSIGN(const overlay::Moved foreseen, act(overlay::Consent::kNone));
        warn_of_moved(context, foreseen);
        TRY(agree_to_outside(context, foreseen, outside));
        TRY(context.notes.flush());
        return act(overlay::Consent::kAll);
    }
    TRY_ASSIGN(const overlay::Moved own, act(overlay::Consent::kOwn));
    if (own.from != 0) return own;
    warn_of_moved(context, own);
    TRY(agree_to_outside(context, own, outside));
    TRY(context.notes.flush());
    return act(overlay::Consent::kAll);
}

Result<int> restore(Context& context, bool dry_run, const Said& said, const Act& act,
                    Outside outside) {
    if (dry_run) {
        TRY_ASSIGN(const overlay::Moved foreseen, act(overlay::Consent::kNone));
        warn_of_moved(context, foreseen);
        print_moved(context, foreseen, said, true);
        return kDone;
    }
    TRY_ASSIGN(const overlay::Moved moved, announce_and_act(context, act, outside));
    print_moved(context, moved, said, false);
    return kDone;
}

}  // namespace unwrite::cli
