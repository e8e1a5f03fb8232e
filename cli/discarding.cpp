#include "cli/discarding.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/failure.h"
#include "cli/git_losses.h"
#include "cli/git_words.h"
#include "cli/prompt.h"
#include "cli/render.h"
#include "cli/text.h"
#include "overlay/changes.h"

namespace unwrite::cli {

namespace {

constexpr const char* kAskForAll = "Discard all changes from this task? (y/n)";
constexpr const char* kAskForAgents = "Discard only the agents' changes, and keep yours? (y/n)";

/// Whose hands were in these changes.
struct Hands {
    bool agents = false;
    bool user = false;
};
Hands hands_in(const std::vector<overlay::Change>& changes,
               const std::vector<overlay::Origin>& origins) {
    Hands hands;
    for (const overlay::Change& change : changes) {
        for (const overlay::Origin& origin : origins) {
            if (std::find(change.origins.begin(), change.origins.end(), origin.number) ==
                change.origins.end())
                continue;
            (origin.agent ? hands.agents : hands.user) = true;
        }
    }
    return hands;
}

/// "4 files changed since 2026-11-25 14:02:11 (n1)"
std::string since_words(const overlay::Status& status, const overlay::Log& log,
                        const std::string& since) {
    const std::uint64_t files = overlay::files_in(status.changes);
    std::string text = counted(files, "file", "files") + " changed";
    for (const overlay::LogEntry& entry : log.entries) {
        const std::string name = fmt::format("n{}", entry.node.number);
        if (since.empty() ? entry.node.number == status.root : name == since)
            return text + fmt::format(" since {} ({}):", time_words(entry.node.time_ns), name);
    }
    return text + ":";
}

}  // namespace

Result<Discarding> ask_to_discard(Context& context, Workspace& workspace, const Discardable& what) {
    overlay::Operations& operations = workspace.operations();
    TRY_ASSIGN(const overlay::Moved foreseen, what.act(overlay::Consent::kNone));
    TRY_ASSIGN(const overlay::Status status, operations.status(what.since, false));
    TRY_ASSIGN(const overlay::Log log, operations.log("", true, false));
    context.notes.line(since_words(status, log, what.since));
    context.notes.print(who_lines(status.changes, log.origins));
    if (!what.since.empty()) context.notes.line("What was changed before the run stays.");
    warn_of_behind(context, foreseen);
    const Result<std::string> git = git_losses(workspace, what.since, git_state_of(status.tags));
    context.notes.print(git ? *git
                            : "unwrite: could not find out what git loses: " +
                                  harmless(git.error().message()) + ".\n");
    const Answers answers{{"yes", "no"}};
    const Hands hands = hands_in(status.changes, log.origins);
    if (hands.agents && hands.user && !what.whole) {
        const auto kept = discard_of_agents(operations, what, true);
        if (!kept) {
            context.notes.line("The agents' changes cannot be discarded alone:");
            tell_failure(context, kept.error());
        } else {
            print_kept(context.notes, *kept);
            const char answer = ask(context, kAskForAgents, answers);
            if (answer == kNoAnswer) return Discarding::kUnanswered;
            if (answer == 'y') return Discarding::kAgents;
        }
    }
    const char answer = ask(context, kAskForAll, answers);
    if (answer == kNoAnswer) return Discarding::kUnanswered;
    return answer == 'y' ? Discarding::kAll : Discarding::kNothing;
}

Result<overlay::Moved> discard_of_agents(overlay::Operations& operations, const Discardable& what,
                                         bool dry_run) {
    return operations.revert(asker(), what.session.empty() ? ":agents" : what.session, dry_run);
}

}  // namespace unwrite::cli
