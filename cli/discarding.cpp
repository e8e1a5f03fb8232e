#include "cli/discarding.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "cli/failure.h"
#include "cli/git_losses.h"
#include "cli/git_words.h"
#include "cli/prompt.h"
#include "cli/render.h"
#include "cli/text.h"
#include "overlay/changes.h"
#include "overlay/git_index.h"

namespace unwrite::cli {

namespace {

constexpr const char* kAskForAll = "Discard all changes from this task? (y/n)";
constexpr const char* kAskForRun =
    "Discard only the changes of this run, and keep the others? (y/n)";
constexpr const char* kAskForAgents = "Discard only the agents' changes, and keep yours? (y/n)";

const Answers kYesOrNo{{"yes", "no"}};

/// Whose hands were in these changes.
struct Hands {
    bool run = false;
    bool other_agents = false;
    bool user = false;
};
Hands hands_in(const std::vector<overlay::Change>& changes,
               const std::vector<overlay::Origin>& origins, const std::string& run) {
    Hands hands;
    for (const overlay::Change& change : changes) {
        for (const overlay::Origin& origin : origins) {
            if (std::find(change.origins.begin(), change.origins.end(), origin.number) ==
                change.origins.end())
                continue;
            const bool of_run = !run.empty() && origin.session == run;
            // git writes it also for who only looks.
            if (!of_run && !origin.agent && overlay::is_git_index(change.path)) continue;
            (of_run ? hands.run : origin.agent ? hands.other_agents : hands.user) = true;
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

bool leaves_git(const overlay::Moved& kept) {
    return std::find(kept.left.begin(), kept.left.end(), ".git") != kept.left.end();
}

/// Nothing when there is no part that could go alone, or the answer is no. `git`: what git loses;
/// taken when it is printed.
std::optional<Discarding> ask_for_part(Context& context, overlay::Operations& operations,
                                       const Discardable& what, const Hands& hands,
                                       std::string& git) {
    const bool beside_agents = hands.run && hands.other_agents;
    const bool beside_user = hands.user && (hands.run || hands.other_agents);
    if (what.whole || !(beside_agents || beside_user)) return std::nullopt;
    const Discarding part = beside_agents ? Discarding::kRun : Discarding::kAgents;
    const auto kept = discard_part(operations, what, part, true);
    if (!kept) {
        context.notes.line(beside_agents ? "The changes of this run cannot be discarded alone:"
                                         : "The agents' changes cannot be discarded alone:");
        tell_failure(context, kept.error());
        return std::nullopt;
    }
    if (!leaves_git(*kept)) context.notes.print(std::exchange(git, {}));
    print_kept(context.notes, *kept);
    const char answer = ask(context, beside_agents ? kAskForRun : kAskForAgents, kYesOrNo);
    if (answer == kNoAnswer) return Discarding::kUnanswered;
    return answer == 'y' ? std::optional(part) : std::nullopt;
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
    const Result<std::string> found = git_losses(workspace, what.since, git_state_of(status.tags));
    std::string git =
        found ? *found
              : "unwrite: could not find out what git loses: " + harmless(found.error().message()) +
                    ".\n";
    const Hands hands = hands_in(status.changes, log.origins, what.run);
    if (const auto part = ask_for_part(context, operations, what, hands, git)) return *part;
    context.notes.print(git);
    const char answer = ask(context, kAskForAll, kYesOrNo);
    if (answer == kNoAnswer) return Discarding::kUnanswered;
    return answer == 'y' ? Discarding::kAll : Discarding::kNothing;
}

Result<overlay::Moved> discard_part(overlay::Operations& operations, const Discardable& what,
                                    Discarding part, bool dry_run) {
    const bool of_run = part == Discarding::kRun || !what.since.empty();
    return operations.revert(asker(), of_run ? what.run : ":agents", dry_run);
}

}  // namespace unwrite::cli
