// The commands that oversight.h has. Agents may only see the rules.
#include <algorithm>
#include <cerrno>

#include "control/dispatch.h"
#include "control/refusals.h"

namespace unwrite::control {

namespace {

Error nobody_oversees() {
    return Error(ErrorKind::kUsage, ENOSYS, "cannot read the request: nothing is overseen here");
}

}  // namespace

void Dispatch::withhold(const Call& call, std::vector<overlay::FileDiff>& diffs) {
    if (service_.oversight == nullptr) return;
    const auto is_kept = [&](const std::string& path) {
        if (path.empty()) return false;
        const auto explained = service_.oversight->explain(path);
        return explained && (!explained->agent.may_read || explained->agent.hidden);
    };
    for (overlay::FileDiff& diff : diffs) {
        if (diff.text.empty()) continue;
        if (!is_kept(diff.change.path) && !is_kept(diff.change.old_path)) continue;
        diff.text.clear();
        diff.lines = {};
        service_.oversight->note_refusal(call.asker, "diff " + diff.change.path);
    }
}

Result<Json> Dispatch::audit(Call& call) {
    if (service_.oversight == nullptr) return nobody_oversees();
    std::uint64_t most = kMostAuditEntries;
    TRY(Fields(call.arguments).get("most", most).done());
    TRY_ASSIGN(const overlay::AuditTrail trail,
               service_.oversight->audit(std::min(most, kMostAuditEntries)));
    return encode(trail);
}

/// Of the run that an agent belongs to.
Result<std::string> Dispatch::session_of(const Client& agent) {
    const std::uint64_t run = agents_.run_of(agent.peer.pid).value_or(0);
    TRY_ASSIGN(const overlay::Log log, operations_.log("", true, false));
    for (const overlay::LogEntry& entry : log.entries) {
        const auto session = entry.node.tags.find("session");
        if (entry.node.number == run && session != entry.node.tags.end()) return session->second;
    }
    return "run-" + std::to_string(run);
}

Result<Json> Dispatch::refusals(Call& call) {
    if (!service_.refused) return nobody_oversees();
    std::int64_t since_ns = 0;
    std::string session;
    TRY(Fields(call.arguments).get("since_ns", since_ns).get("of_session", session).done());
    if (call.client.agent) {
        TRY_ASSIGN(session, session_of(call.client));
    }
    overlay::RefusedTo answer;
    answer.agent = call.client.agent;
    TRY_ASSIGN(answer.refused, service_.refused(since_ns, session));
    return encode(answer);
}

Result<Json> Dispatch::policy(Call& /*call*/) {
    if (service_.oversight == nullptr) return nobody_oversees();
    TRY_ASSIGN(const std::vector<overlay::RuleShown> rules, service_.oversight->rules());
    return Json{{"rules", encode_list(rules)}};
}

Result<Json> Dispatch::explain(Call& call) {
    if (service_.oversight == nullptr) return nobody_oversees();
    std::string path;
    TRY(Fields(call.arguments).get("path", path).done());
    TRY_ASSIGN(const overlay::Explained explained, service_.oversight->explain(path));
    return encode(explained);
}

Result<Json> Dispatch::may_edit(Call& call) {
    if (service_.oversight == nullptr) return nobody_oversees();
    overlay::EditAttempt attempt;
    Fields fields(call.arguments);
    fields.get("path", attempt.path)
        .get("write", attempt.write)
        .get("ask", attempt.ask)
        .get("as_session", attempt.session)
        .get("goes", attempt.goes)
        .get("directory", attempt.directory);
    if (fields.find("bytes") != nullptr) fields.get("bytes", attempt.bytes.emplace());
    TRY(fields.done());
    TRY_ASSIGN(const overlay::MayEdit may, service_.oversight->may_edit(call.asker, attempt));
    return encode(may);
}

Result<Json> Dispatch::allow(Call& call) {
    if (service_.oversight == nullptr) return nobody_oversees();
    std::string path;
    bool agents = false;
    std::uint64_t seconds = 0;
    TRY(Fields(call.arguments)
            .get("path", path)
            .get("agents", agents)
            .get("seconds", seconds)
            .done());
    TRY(service_.oversight->allow(call.asker, path, agents, seconds));
    return Json::object();
}

Result<Json> Dispatch::reload(Call& call) {
    if (!service_.reload) return nobody_oversees();
    bool check = false;
    TRY(Fields(call.arguments).get("check", check).done());
    TRY_ASSIGN(const std::vector<overlay::RuleShown> unmatched, service_.reload(call.asker, check));
    return Json{{"unmatched", encode_list(unmatched)}};
}

Result<Json> Dispatch::config(Call& /*call*/) {
    if (!service_.config_text) return nobody_oversees();
    TRY_ASSIGN(const std::string text, service_.config_text());
    return Json{{"text", encode_bytes(text)}};
}

Result<Json> Dispatch::set_config(Call& call) {
    if (!service_.set_config) return nobody_oversees();
    std::string before;
    std::string text;
    TRY(Fields(call.arguments).get("before", before).get("text", text).done());
    TRY_ASSIGN(const std::vector<overlay::RuleShown> unmatched,
               service_.set_config(call.asker, before, text));
    return Json{{"unmatched", encode_list(unmatched)}};
}

Result<Json> Dispatch::questions(Call& call) {
    if (service_.oversight == nullptr) return nobody_oversees();
    overlay::Watcher watcher;
    TRY(Fields(call.arguments)
            .get("seen", watcher.seen)
            .get("wait_ms", watcher.wait_ms)
            .get("of_session", watcher.session)
            .get("watcher", watcher.id)
            .get("present", watcher.present)
            .done());
    TRY_ASSIGN(const overlay::Questioned questioned, service_.oversight->questions(watcher));
    return encode(questioned);
}

Result<Json> Dispatch::answer(Call& call) {
    if (service_.oversight == nullptr) return nobody_oversees();
    std::uint64_t number = 0;
    bool approve = false;
    bool whole_rule = false;
    TRY(Fields(call.arguments)
            .get("number", number)
            .get("approve", approve)
            .get("whole_rule", whole_rule)
            .done());
    TRY_ASSIGN(const overlay::Question answered,
               service_.oversight->answer(call.asker, number, approve, whole_rule));
    return encode(answered);
}

Result<Json> Dispatch::pass_over(Call& call) {
    if (service_.oversight == nullptr) return nobody_oversees();
    std::uint64_t number = 0;
    std::uint64_t watcher = 0;
    TRY(Fields(call.arguments).get("number", number).get("watcher", watcher).done());
    TRY(service_.oversight->pass_over(number, watcher));
    return Json::object();
}

}  // namespace unwrite::control
