#include "cli/settle.h"

#include <fmt/format.h>

#include <cerrno>

#include "cli/decision.h"
#include "cli/heaps.h"
#include "cli/prompt.h"
#include "cli/render.h"
#include "cli/reviewing.h"
#include "cli/screen/curses_display.h"
#include "cli/text.h"
#include "overlay/changes.h"

namespace unwrite::cli {

namespace {

constexpr std::size_t kMostShown = 12;

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
    TRY_ASSIGN(const std::optional<Reviewed> reviewed,
               review_on_screen(workspace, std::move(display), "review", greeting,
                                [](const overlay::Decision&) { return Result<>(); }));
    if (!reviewed) return false;
    context.notes.print(decided_words(reviewed->decided, Saying::kDone, colour_of(context.notes)));
    TRY_ASSIGN(const overlay::Status status, workspace.operations().status("", false));
    if (!status.changes.empty()) context.notes.line("Still open: " + summary_words(status.changes));
    return true;
}

Result<Ending> choose(Context& context, Workspace& workspace, const Question& question) {
    context.notes.print(bell());  // a run may have taken long
    for (;;) {
        // The last letter is the answer where there is no more input: nothing is changed then.
        switch (ask(context, question.choices, "cdrk")) {
            case 'c':
                return Ending::kCommit;
            case 'd':
                return Ending::kDiscard;
            case 'r': {
                TRY_ASSIGN(const bool decided, review(context, workspace, question));
                if (decided) return Ending::kKeep;
                break;
            }
            default:
                return Ending::kKeep;
        }
    }
}

Result<> discard(Context& context, overlay::Operations& operations, const Question& question) {
    const Act act = [&](overlay::Consent consent) -> Result<overlay::Moved> {
        TRY_ASSIGN(overlay::Moved moved,
                   question.discard_to.empty()
                       ? operations.discard(asker(), false, consent)
                       : operations.rollback(asker(), question.discard_to, false, consent));
        std::erase_if(moved.others, [&](const overlay::Origin& origin) {
            return origin.session == question.session;
        });
        return moved;
    };
    TRY_ASSIGN(const overlay::Moved moved, announce_and_act(context, act));
    context.notes.line("Discarded; " + way_back(moved) + ".");
    return {};
}

}  // namespace

Result<Ending> parse_ending(const std::string& word) {
    if (word == "ask") return Ending::kAsk;
    if (word == "keep") return Ending::kKeep;
    if (word == "commit") return Ending::kCommit;
    if (word == "discard") return Ending::kDiscard;
    return Error(ErrorKind::kUsage, EINVAL,
                 "read " + quote_name(word) + ": not ask, keep, commit or discard");
}

Result<> settle(Context& context, Workspace& workspace, Ending ending, const Question& question) {
    if (ending == Ending::kAsk && can_ask()) {
        TRY_ASSIGN(ending, choose(context, workspace, question));
    } else if (ending == Ending::kAsk) {
        context.notes.line(
            "Kept. `unwrite diff` shows it, `unwrite commit` accepts it, `unwrite discard` takes "
            "it back.");
        ending = Ending::kKeep;
    }
    if (ending == Ending::kCommit) {
        TRY(workspace.operations().commit(asker(), "", false));
        context.notes.line("Committed.");
    }
    if (ending == Ending::kDiscard) TRY(discard(context, workspace.operations(), question));
    return {};
}

Result<> settle_unfinished(Context& context, Workspace& workspace, bool interrupted,
                           Ending ending) {
    TRY_ASSIGN(const overlay::Status status, workspace.operations().status("", false));
    const std::uint64_t files = overlay::files_in(status.changes);
    if (!status.task_open || files == 0) return {};
    const std::string count = fmt::format("{} {} modified.", counted(files, "file", "files"),
                                          files == 1 ? "was" : "were");
    context.notes.line(interrupted ? "unwrite was interrupted during a task. " + count
                                   : "A task was left unfinished. " + count);
    context.notes.print(change_lines(heaped(status.changes), kMostShown, colour_of(context.notes)));
    const Question question{"", "", "[C]ommit changes  [D]iscard and restore  [R]eview", ""};
    if (ending == Ending::kAsk && !can_ask()) {
        context.notes.line(question.choices);
        context.notes.line(
            "Kept: there is no terminal to ask. `unwrite recover --commit`, `--discard` or "
            "`--keep` decide, "
            "or `--on-unfinished` at the mount.");
        return {};
    }
    return settle(context, workspace, ending, question);
}

void warn_of_moved(Context& context, const overlay::Moved& moved) {
    if (!moved.others.empty()) {
        context.notes.line("unwrite: this takes along the work of " + origins_words(moved.others));
    }
    if (!moved.behind.empty()) {
        context.notes.line("unwrite: this takes along what changed behind the mount:");
        for (std::size_t i = 0; i < std::min(moved.behind.size(), kMostShown); ++i) {
            context.notes.line("  " + quote_name(moved.behind[i]));
        }
        if (moved.behind.size() > kMostShown) {
            context.notes.line(fmt::format("  ... and {} more", moved.behind.size() - kMostShown));
        }
    }
}

std::string way_back(const overlay::Moved& moved) {
    return fmt::format("`unwrite rollback n{}` brings it all back, `unwrite redo` step by step",
                       moved.from);
}

void print_moved(Context& context, const overlay::Moved& moved, const std::string& done,
                 bool dry_run) {
    if (context.json) {
        context.out.line(control::dump(control::encode(moved)));
        return;
    }
    std::string line = (dry_run ? "dry run: " : "") + done;
    if (moved.to != 0) line += fmt::format(", to n{}", moved.to);
    if (!dry_run && moved.from != 0) line += fmt::format(" (before: n{})", moved.from);
    context.out.line(line + (moved.changes.empty() ? "; no file differs" : ":"));
    context.out.print(change_lines(moved.changes, dry_run ? 0 : 40, colour_of(context.out)));
}

Result<overlay::Moved> announce_and_act(Context& context, const Act& act) {
    TRY_ASSIGN(const overlay::Moved own, act(overlay::Consent::kOwn));
    if (own.from != 0) return own;
    warn_of_moved(context, own);
    return act(overlay::Consent::kAll);
}

Result<int> restore(Context& context, bool dry_run, const std::string& done, const Act& act) {
    if (dry_run) {
        TRY_ASSIGN(const overlay::Moved foreseen, act(overlay::Consent::kNone));
        warn_of_moved(context, foreseen);
        print_moved(context, foreseen, done, true);
        return kDone;
    }
    TRY_ASSIGN(const overlay::Moved moved, announce_and_act(context, act));
    print_moved(context, moved, done, false);
    return kDone;
}

}  // namespace unwrite::cli
