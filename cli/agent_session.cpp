#include "cli/agent_session.h"

#include <fmt/format.h>

#include <cctype>
#include <cstdlib>

#include "base/syscalls.h"
#include "cli/mounting.h"
#include "cli/parentage.h"
#include "cli/place.h"
#include "cli/refusals.h"
#include "cli/text.h"
#include "cli/told.h"
#include "cli/workspace.h"
#include "overlay/changes.h"

namespace unwrite::cli {

namespace {

constexpr std::size_t kIdInName = 8;
/// Of the steps that the user took back, those whose files are looked up.
constexpr std::size_t kMostLookedUp = 10;

/// "claude-0bb4bacb": what the agent calls its session, if that can be a name.
std::string session_name(const Hooked& hooked) {
    std::string name;
    for (const char c : hooked.id) {
        if (name.size() == kIdInName) break;
        if (std::isalnum(static_cast<unsigned char>(c)) != 0) name += c;
    }
    return hooked.agent + "-" + (name.empty() ? "session" : name);
}

/// Adopts the agent, or begins its next step. The session that it has; empty: it is nobody's.
Result<std::string> begin_step(const Workspace& workspace, const Hooked& hooked,
                               const std::string& title) {
    // In `unwrite run` it is an agent already, and the run is its step.
    const char* const session = std::getenv("UNWRITE_SESSION");
    overlay::Asker process = asker();
    process.pid = agent_above(hooked.agent);
    if (process.pid == 0) {
        return Error(ErrorKind::kNotFound, ESRCH,
                     "the process of " + hooked.agent + " cannot be told from others");
    }
    process.session = session_name(hooked);
    const Result<overlay::Node> node = workspace.remote()->adopt(process, title);
    if (!node && node.error().kind() == ErrorKind::kNothing)
        return std::string(session != nullptr ? session : "");
    if (!node) return node.error();
    const auto name = node->tags.find("session");
    return name == node->tags.end() ? process.session : name->second;
}

/// The top of the git work tree is mounted, and no other place: nobody has asked for it by name.
Result<Workspace> mounted(Context& context) {
    Result<Workspace> workspace = Workspace::open_mounted(context.base);
    if (workspace || workspace.error().kind() != ErrorKind::kNoWorkspace) return workspace;
    TRY_ASSIGN(const std::string here, real_path(context.base, "."));
    // What a mount says is for a terminal.
    Context quiet{here, false, Output(-1), Output(-1), "mount", {}};
    // Nobody can reach the files below a mount whose daemon is gone, nor see whose they are.
    TRY(clear_dead_mount(quiet, here));
    const std::string state = state_above(here);
    const std::string place = state.empty() ? usual_place(here) : state;
    const bool in_git = !state.empty() || has_git(place);
    if (holds_a_home(place) || !in_git) {
        return Error(ErrorKind::kUsage, EINVAL, quote_name(here) + " is not in a git work tree",
                     "unwrite mount " + quote_name(here));
    }
    MountRequest request;
    request.directory = place;
    request.with_sessions = true;
    TRY_ASSIGN(const control::DaemonInfo info, mount_directory(quiet, request));
    return Workspace::open_mounted(info.mount_point);
}

HookAnswer start(Context& context, const Hooked& hooked) {
    const auto cannot = [](const Error& why) {
        HookAnswer answer;
        answer.for_user = "unwrite: nothing can be taken back in this session: " + why.message() +
                          (why.advice().empty() ? "" : "\nhint: " + why.advice());
        return answer;
    };
    const Result<Workspace> workspace = mounted(context);
    if (!workspace) return hooked.again ? HookAnswer() : cannot(workspace.error());
    const Result<std::string> session = begin_step(*workspace, hooked, "start");
    if (hooked.again) return {};
    HookAnswer answer;
    const std::string root = quote_name(workspace->root());
    if (!session) {
        answer.for_user = "unwrite: changes in " + root +
                          " can be taken back, but count as yours: " + session.error().message();
        return answer;
    }
    if (session->empty() || std::getenv("UNWRITE_SESSION") != nullptr) return {};
    // Most agents show nothing at the end of a session.
    answer.for_user = "unwrite: every change in " + root +
                      " can be taken back, also after the session: `unwrite undo " +
                      quote_name(*session) + "`";
    answer.for_model =
        "unwrite records every change to files in " + root +
        ". The user can take back your steps at any time; you are told before the next prompt.";
    return answer;
}

/// The steps with what they changed; without where that cannot be told.
std::vector<StepTold> looked_up(overlay::Operations& operations, const overlay::Log& log,
                                const std::string& session,
                                const std::set<overlay::NodeNumber>& nodes) {
    std::vector<StepTold> steps;
    for (const overlay::LogEntry& entry : log.entries) {
        if (!nodes.contains(entry.node.number)) continue;
        const auto interrupted = title_of_interrupted(log, entry.node, session);
        StepTold step{entry.node.number, interrupted.value_or(entry.node.text), {}};
        if (steps.size() < kMostLookedUp) {
            const std::string name = fmt::format("n{}", step.node);
            const auto diffs = operations.diff(name + "^", name, {}, false);
            for (std::size_t i = 0; diffs && i < diffs->size(); ++i)
                step.changes.push_back((*diffs)[i].change);
        }
        // Others may have been at work in it too. An undo has what it took back, and is the user's.
        if (interrupted && entry.node.kind != overlay::NodeKind::kUndo)
            step.changes = by_session(std::move(step.changes), log.origins, session);
        if (interrupted && step.changes.empty()) continue;
        steps.push_back(std::move(step));
    }
    return steps;
}

std::set<overlay::NodeNumber> without(std::set<overlay::NodeNumber> from,
                                      const std::set<overlay::NodeNumber>& what) {
    for (const overlay::NodeNumber number : what)
        from.erase(number);
    return from;
}

Result<HookAnswer> prompt(Context& context, const Hooked& hooked) {
    // The command takes back what the last answer led to, and is no prompt of its own.
    if (hooked.prompt.starts_with("/unwrite:")) return HookAnswer();
    TRY_ASSIGN(Workspace workspace, Workspace::open_mounted(context.base));
    overlay::Operations& operations = workspace.operations();
    // What came since the last answer, or was interrupted, is not part of what comes now.
    const Result<std::string> adopted = begin_step(workspace, hooked, "after the answer");
    const std::string session = adopted ? *adopted : "";
    const std::string title = first_words(hooked.prompt);
    overlay::Asker who = asker();
    HookAnswer answer;
    if (!session.empty()) {
        TRY_ASSIGN(const overlay::Log log, operations.log("", true, false));
        const Turn last = last_turn(log, session);
        const auto undone = undone_of(log, session);
        who.cause = cause_of(session, undone);
        if (last.node != 0) {
            std::vector<overlay::Change> others;
            const auto status = operations.status(fmt::format("n{}", last.node), false);
            if (status) others = by_others(status->changes, log.origins, session);
            const auto refused = refused_of(workspace, session, last.time_ns);
            answer.for_model =
                told_words(looked_up(operations, log, session, without(undone, last.undone)),
                           looked_up(operations, log, session, without(last.undone, undone)),
                           others, refused ? refused->refused : overlay::Refused());
        }
    }
    ignore(operations.checkpoint(who, overlay::NodeKind::kCheckpoint, "", title),
           "without it the step can still be taken back");
    if (adopted) ignore(begin_step(workspace, hooked, title), "it stays in the step before");
    return answer;
}

Result<HookAnswer> stop(Context& context, const Hooked& hooked) {
    TRY_ASSIGN(const Workspace workspace, Workspace::open_mounted(context.base));
    TRY(begin_step(workspace, hooked, "after the answer"));
    return HookAnswer();
}

Result<HookAnswer> end(Context& context, const Hooked& hooked) {
    TRY_ASSIGN(Workspace workspace, Workspace::open_mounted(context.base));
    TRY_ASSIGN(const std::string session, begin_step(workspace, hooked, "after the end"));
    TRY_ASSIGN(const overlay::Status status, workspace.operations().status("", false));
    if (status.changes.empty() || std::getenv("UNWRITE_SESSION") != nullptr) return HookAnswer();
    HookAnswer answer;
    answer.for_user = fmt::format(
        "unwrite: {} kept; `unwrite undo {}` takes back what the session changed",
        counted(overlay::files_in(status.changes), "changed file is", "changed files are"),
        quote_name(session));
    return answer;
}

}  // namespace

HookAnswer answer_hook(Context& context, const Hooked& hooked) {
    if (hooked.event == HookEvent::kStart) return start(context, hooked);
    Result<HookAnswer> answer = hooked.event == HookEvent::kPrompt ? prompt(context, hooked)
                                : hooked.event == HookEvent::kStop ? stop(context, hooked)
                                                                   : end(context, hooked);
    return answer ? *std::move(answer) : HookAnswer();
}

}  // namespace unwrite::cli
