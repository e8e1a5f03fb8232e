#include "control/dispatch.h"

#include <cerrno>
#include <limits>
#include <utility>

#include "base/progress.h"
#include "overlay/reverts.h"

namespace unwrite::control {

using overlay::Consent;
using overlay::Moved;

const Dispatch::Command Dispatch::kCommands[] = {
    {"info", &Dispatch::info, true},
    {"size", &Dispatch::size, false},
    {"progress", &Dispatch::progress, true},
    {"stop", &Dispatch::stop, false},
    {"answered", &Dispatch::answered, false},
    {"checkpoint", &Dispatch::checkpoint, true},
    {"begin_run", &Dispatch::begin_run, true},
    {"end_run", &Dispatch::end_run, true},
    {"adopt", &Dispatch::adopt, true},
    {"rollback", &Dispatch::rollback, true},
    {"undo", &Dispatch::undo, true},
    {"revert", &Dispatch::revert, true},
    {"redo", &Dispatch::redo, true},
    {"discard", &Dispatch::discard, false},
    {"commit", &Dispatch::commit, false},
    {"decide", &Dispatch::decide, false},
    {"restore_paths", &Dispatch::restore_paths, true},
    {"request_revert", &Dispatch::request_revert, true},
    {"apply_reverts", &Dispatch::apply_reverts, true},
    {"status", &Dispatch::status, true},
    {"count", &Dispatch::count, true},
    {"log", &Dispatch::log, true},
    {"marked", &Dispatch::marked, true},
    {"trunk", &Dispatch::trunk, true},
    {"diff", &Dispatch::diff, true},
    {"marks", &Dispatch::marks, true},
    {"gc", &Dispatch::gc, false},
    {"check", &Dispatch::check, true},
    {"recover", &Dispatch::recover, false},
    {"audit", &Dispatch::audit, false},
    {"refusals", &Dispatch::refusals, true},
    {"policy", &Dispatch::policy, true},
    {"explain", &Dispatch::explain, true},
    {"may_edit", &Dispatch::may_edit, true},
    {"allow", &Dispatch::allow, false},
    {"reload", &Dispatch::reload, false},
    {"config", &Dispatch::config, false},
    {"set_config", &Dispatch::set_config, false},
    {"questions", &Dispatch::questions, false},
    {"answer", &Dispatch::answer, false},
    {"pass_over", &Dispatch::pass_over, false},
};

namespace {

Error for_the_user(const std::string& what) {
    return Error(ErrorKind::kRefused, EPERM, what + ": an agent may not do this",
                 "ask the person who started `unwrite run` to do it");
}

Error no_such_command() {
    return Error(ErrorKind::kUsage, EINVAL, "cannot read the request: there is no such command");
}

Error too_long_a_cause() {
    return Error(ErrorKind::kUsage, E2BIG, "cannot read the request: the cause is too long");
}

Error not_its_own() {
    return Error(
        ErrorKind::kRefused, EPERM, "this would also undo changes made by others",
        "`unwrite log --changes` shows whose; ask the person who started `unwrite run` to do it");
}

Result<Json> encoded(Result<> outcome) {
    if (!outcome) return std::move(outcome).error();
    return Json::object();
}

template <class T>
Result<Json> encoded(Result<T> outcome) {
    if (!outcome) return std::move(outcome).error();
    return encode(*outcome);
}

}  // namespace

Error Dispatch::refuse(const Client& client, const std::string& what) {
    if (service_.oversight != nullptr) {
        overlay::Asker asker;
        asker.uid = client.peer.uid;
        asker.pid = client.peer.pid;
        service_.oversight->note_refusal(asker, what);
    }
    return for_the_user(what);
}

Result<Json> Dispatch::call(const Client& client, const Request& request) {
    for (const Command& command : kCommands) {
        if (request.command != command.name) continue;
        if (client.agent && !command.for_agents) return refuse(client, request.command);
        Call call{client, request.arguments, {}};
        call.asker.uid = client.peer.uid;
        call.asker.pid = client.peer.pid;
        TRY(Fields(request.arguments)
                .get("session", call.asker.session)
                .get("cause", call.asker.cause)
                .done());
        if (call.asker.cause.size() > overlay::kMostOfCause) return too_long_a_cause();
        for (const std::uint64_t run : agents_.take_abandoned())
            ignore(operations_.end_run(run), "the next mount ends it");
        return (this->*command.handler)(call);
    }
    return no_such_command();
}

// An agent takes back its own work alone, whatever it says that it consents to.
Result<Json> Dispatch::restore(const Call& call, Consent consent, const Restore& act) {
    if (!call.client.agent || consent == Consent::kNone) return encoded(act(consent));
    TRY_ASSIGN(const Moved moved, act(Consent::kOwn));
    if (moved.from == 0 && !(moved.others.empty() && moved.behind.empty())) return not_its_own();
    return encode(moved);
}

Result<Json> Dispatch::revert(const Call& call, bool dry_run, const Revert& act) {
    if (call.client.agent && !dry_run) {
        TRY_ASSIGN(const Moved foreseen, act(true));
        if (!foreseen.others.empty()) return not_its_own();
    }
    return encoded(act(dry_run));
}

Result<Json> Dispatch::info(Call& /*call*/) {
    DaemonInfo info = service_.info;
    info.ending = service_.ending && service_.ending();
    info.runs = agents_.living();
    return encode(info);
}

Result<Json> Dispatch::size(Call& /*call*/) {
    if (!service_.journal_bytes) return Json{{"bytes", 0}};
    TRY_ASSIGN(const std::uint64_t bytes, service_.journal_bytes());
    return Json{{"bytes", bytes}};
}

Result<Json> Dispatch::progress(Call& /*call*/) {
    const auto busy = Progress::now();
    if (!busy) return Json::object();
    return Json{{"what", busy->what}, {"done", busy->done}, {"total", busy->total}};
}

Result<Json> Dispatch::stop(Call& /*call*/) {
    return encoded(service_.stop());
}

Result<Json> Dispatch::answered(Call& /*call*/) {
    if (!service_.answered) return no_such_command();
    return encoded(service_.answered());
}

Result<Json> Dispatch::checkpoint(Call& call) {
    std::string name;
    std::string text;
    std::string kind = "checkpoint";
    TRY(Fields(call.arguments).get("name", name).get("text", text).get("kind", kind).done());
    overlay::Node node;
    TRY(decode(Json{{"kind", kind}}, node));
    return encoded(operations_.checkpoint(call.asker, node.kind, name, text));
}

Result<Json> Dispatch::begin_run(Call& call) {
    std::string text;
    std::int64_t pid = 0;
    TRY(Fields(call.arguments).get("text", text).get("pid", pid).done());
    if (pid <= 0 || pid > std::numeric_limits<pid_t>::max()) {
        return Error(ErrorKind::kUsage, EINVAL, "begin run: bad pid");
    }
    const pid_t guard = static_cast<pid_t>(pid);
    TRY(agents_.check_new(guard, call.client.peer.pid));
    call.asker.pid = pid;
    // By a name an agent could take part in what another one did.
    if (call.client.agent) call.asker.session.clear();
    TRY_ASSIGN(const overlay::Node node, operations_.begin_run(call.asker, text));
    if (const Result<> added = agents_.add(node.number, guard, call.client.peer.pid); !added) {
        ignore(operations_.end_run(node.number),
               "the process is gone; that is the failure to report");
        return added.error();
    }
    return encode(node);
}

Result<Json> Dispatch::end_run(Call& call) {
    overlay::NodeNumber run = 0;
    TRY(Fields(call.arguments).get("run", run).done());
    if (!agents_.remove(run, call.client.peer.pid, !call.client.agent))
        return refuse(call.client, "end_run");
    return encoded(operations_.end_run(run));
}

Result<Json> Dispatch::rollback(Call& call) {
    std::string node;
    bool pop = false;
    Consent consent = Consent::kAll;
    Fields fields(call.arguments);
    fields.get("node", node).get("pop", pop);
    TRY(get_consent(fields, consent).done());
    return restore(call, consent, [&](Consent given) {
        return operations_.rollback(call.asker, node, pop, given);
    });
}

Result<Json> Dispatch::undo(Call& call) {
    std::uint32_t count = 1;
    Consent consent = Consent::kAll;
    Fields fields(call.arguments);
    fields.get("count", count);
    TRY(get_consent(fields, consent).done());
    return restore(call, consent,
                   [&](Consent given) { return operations_.undo(call.asker, count, given); });
}

Result<Json> Dispatch::revert(Call& call) {
    std::string what;
    bool dry_run = false;
    TRY(Fields(call.arguments).get("what", what).get("dry_run", dry_run).done());
    return revert(call, dry_run,
                  [&](bool dry) { return operations_.revert(call.asker, what, dry); });
}

Result<Json> Dispatch::redo(Call& call) {
    std::uint32_t count = 1;
    Consent consent = Consent::kAll;
    Fields fields(call.arguments);
    fields.get("count", count);
    TRY(get_consent(fields, consent).done());
    return restore(call, consent,
                   [&](Consent given) { return operations_.redo(call.asker, count, given); });
}

Result<Json> Dispatch::discard(Call& call) {
    bool purge = false;
    Consent consent = Consent::kAll;
    Fields fields(call.arguments);
    fields.get("purge", purge);
    TRY(get_consent(fields, consent).done());
    return encoded(operations_.discard(call.asker, purge, consent));
}

Result<Json> Dispatch::commit(Call& call) {
    std::string text;
    bool keep_history = false;
    TRY(Fields(call.arguments).get("text", text).get("keep_history", keep_history).done());
    return encoded(operations_.commit(call.asker, text, keep_history));
}

Result<Json> Dispatch::decide(Call& call) {
    overlay::Decision decision;
    bool dry_run = false;
    TRY(decode(call.arguments, decision));
    TRY(Fields(call.arguments).get("dry_run", dry_run).done());
    return encoded(operations_.decide(call.asker, decision, dry_run));
}

Result<Json> Dispatch::restore_paths(Call& call) {
    std::vector<std::string> paths;
    std::string node;
    bool dry_run = false;
    TRY(Fields(call.arguments)
            .get("paths", paths)
            .get("node", node)
            .get("dry_run", dry_run)
            .done());
    return revert(call, dry_run, [&](bool dry) {
        return operations_.restore_paths(call.asker, paths, node, dry);
    });
}

Result<Json> Dispatch::request_revert(Call& call) {
    std::string arguments;
    bool for_agent = true;
    TRY(Fields(call.arguments).get("arguments", arguments).get("for_agent", for_agent).done());
    overlay::Reverts* const reverts = overlay::reverts_of(operations_);
    if (reverts == nullptr) return no_such_command();
    TRY_ASSIGN(const std::string acknowledgement,
               reverts->request_revert(call.asker, arguments, for_agent || call.client.agent));
    return Json{{"acknowledgement", encode_bytes(acknowledgement)}};
}

Result<Json> Dispatch::apply_reverts(Call& call) {
    overlay::Reverts* const reverts = overlay::reverts_of(operations_);
    if (reverts == nullptr) return no_such_command();
    TRY_ASSIGN(const std::vector<std::string> events, reverts->apply_reverts(call.asker));
    return Json{{"events", encode_texts(events)}};
}

Result<Json> Dispatch::status(Call& call) {
    std::string since;
    bool count_lines = false;
    TRY(Fields(call.arguments).get("since", since).get("count_lines", count_lines).done());
    return encoded(operations_.status(since, count_lines));
}

Result<Json> Dispatch::count(Call& /*call*/) {
    return encoded(operations_.count());
}

Result<Json> Dispatch::log(Call& call) {
    std::string path;
    bool all = false;
    bool changes = false;
    TRY(Fields(call.arguments).get("path", path).get("all", all).get("changes", changes).done());
    return encoded(operations_.log(path, all, changes));
}

Result<Json> Dispatch::marked(Call& /*call*/) {
    TRY_ASSIGN(const overlay::NodeNumber node, operations_.marked());
    return Json{{"node", node}};
}

Result<Json> Dispatch::trunk(Call& call) {
    overlay::NodeNumber from = 0;
    std::uint64_t most = UINT64_MAX;
    TRY(Fields(call.arguments).get("from", from).get("most", most).done());
    TRY_ASSIGN(const std::vector<overlay::Node> nodes, operations_.trunk(from, most));
    return Json{{"nodes", encode_list(nodes)}};
}

Result<Json> Dispatch::diff(Call& call) {
    std::string from;
    std::string to;
    std::vector<std::string> paths;
    bool text = true;
    TRY(Fields(call.arguments)
            .get("from", from)
            .get("to", to)
            .get("paths", paths)
            .get("text", text)
            .done());
    TRY_ASSIGN(std::vector<overlay::FileDiff> diffs, operations_.diff(from, to, paths, text));
    if (text && call.client.agent) withhold(call, diffs);
    return Json{{"files", encode_list(diffs)}};
}

Result<Json> Dispatch::marks(Call& call) {
    std::vector<std::string> paths;
    TRY(Fields(call.arguments).get("paths", paths).done());
    TRY_ASSIGN(const std::vector<std::string> marks, operations_.marks(paths));
    return Json{{"marks", encode_texts(marks)}};
}

Result<Json> Dispatch::gc(Call& call) {
    overlay::Retention retention = service_.info.retention;
    TRY(decode(call.arguments, retention));
    return encoded(operations_.gc(retention));
}

Result<Json> Dispatch::check(Call& call) {
    bool repair = false;
    TRY(Fields(call.arguments).get("repair", repair).done());
    if (repair && call.client.agent) return refuse(call.client, "repair");
    return encoded(operations_.check(repair));
}

Result<Json> Dispatch::recover(Call& /*call*/) {
    return encoded(operations_.recover());
}

}  // namespace unwrite::control
