// What oversight.h has, as JSON.
#include "control/wire.h"

namespace unwrite::control {

Json encode(const overlay::AuditEntry& entry) {
    return Json{{"time_ns", entry.time_ns},
                {"event", encode_bytes(entry.event)},
                {"count", entry.count},
                {"pid", entry.pid},
                {"uid", entry.uid},
                {"agent", entry.agent},
                {"operation", encode_bytes(entry.operation)},
                {"path", encode_bytes(entry.path)},
                {"executable", encode_bytes(entry.executable)},
                {"session", encode_bytes(entry.session)},
                {"detail", encode_bytes(entry.detail)}};
}

Result<> decode(const Json& json, overlay::AuditEntry& entry) {
    return Fields(json)
        .get("time_ns", entry.time_ns)
        .get("event", entry.event)
        .get("count", entry.count)
        .get("pid", entry.pid)
        .get("uid", entry.uid)
        .get("agent", entry.agent)
        .get("operation", entry.operation)
        .get("path", entry.path)
        .get("executable", entry.executable)
        .get("session", entry.session)
        .get("detail", entry.detail)
        .done();
}

Json encode(const overlay::AuditTrail& trail) {
    return Json{{"entries", encode_list(trail.entries)},
                {"problems", encode_texts(trail.problems)}};
}

Result<> decode(const Json& json, overlay::AuditTrail& trail) {
    return Fields(json).get_list("entries", trail.entries).get("problems", trail.problems).done();
}

Json encode(const overlay::RuleShown& rule) {
    return Json{{"pattern", encode_bytes(rule.pattern)},
                {"action", rule.action},
                {"for", rule.subjects},
                {"reason", encode_bytes(rule.reason)},
                {"source", encode_bytes(rule.source)},
                {"until_ns", rule.until_ns}};
}

Result<> decode(const Json& json, overlay::RuleShown& rule) {
    return Fields(json)
        .get("pattern", rule.pattern)
        .get("action", rule.action)
        .get("for", rule.subjects)
        .get("reason", rule.reason)
        .get("source", rule.source)
        .get("until_ns", rule.until_ns)
        .done();
}

Json encode(const overlay::Judged& judged) {
    return Json{{"may_read", judged.may_read},
                {"may_write", judged.may_write},
                {"asks", judged.asks},
                {"hidden", judged.hidden},
                {"reading", encode_bytes(judged.reading)},
                {"writing", encode_bytes(judged.writing)}};
}

Result<> decode(const Json& json, overlay::Judged& judged) {
    return Fields(json)
        .get("may_read", judged.may_read)
        .get("may_write", judged.may_write)
        .get("asks", judged.asks)
        .get("hidden", judged.hidden)
        .get("reading", judged.reading)
        .get("writing", judged.writing)
        .done();
}

Json encode(const overlay::Explained& explained) {
    return Json{{"user", encode(explained.user)},
                {"agent", encode(explained.agent)},
                {"tracked", explained.tracked}};
}

Result<> decode(const Json& json, overlay::Explained& explained) {
    return Fields(json)
        .get_object("user", explained.user)
        .get_object("agent", explained.agent)
        .get("tracked", explained.tracked)
        .done();
}

Json encode(const overlay::MayEdit& may) {
    return Json{{"granted", may.granted},
                {"asks", may.asks},
                {"denied", may.denied},
                {"hidden", may.hidden},
                {"by_content", may.by_content},
                {"pattern", encode_bytes(may.pattern)},
                {"source", encode_bytes(may.source)},
                {"reason", encode_bytes(may.reason)},
                {"question", may.question},
                {"waits", may.waits}};
}

Result<> decode(const Json& json, overlay::MayEdit& may) {
    return Fields(json)
        .get("granted", may.granted)
        .get("asks", may.asks)
        .get("denied", may.denied)
        .get("hidden", may.hidden)
        .get("by_content", may.by_content)
        .get("pattern", may.pattern)
        .get("source", may.source)
        .get("reason", may.reason)
        .get("question", may.question)
        .get("waits", may.waits)
        .done();
}

Json encode(const overlay::Question& question) {
    return Json{{"number", question.number},
                {"state", question.state},
                {"operation", encode_bytes(question.operation)},
                {"path", encode_bytes(question.path)},
                {"reason", encode_bytes(question.reason)},
                {"agent", question.agent},
                {"session", encode_bytes(question.session)},
                {"executable", encode_bytes(question.executable)},
                {"pid", question.pid},
                {"uid", question.uid},
                {"asked_ns", question.asked_ns},
                {"until_ns", question.until_ns},
                {"waiting", question.waiting}};
}

Result<> decode(const Json& json, overlay::Question& question) {
    return Fields(json)
        .get("number", question.number)
        .get("state", question.state)
        .get("operation", question.operation)
        .get("path", question.path)
        .get("reason", question.reason)
        .get("agent", question.agent)
        .get("session", question.session)
        .get("executable", question.executable)
        .get("pid", question.pid)
        .get("uid", question.uid)
        .get("asked_ns", question.asked_ns)
        .get("until_ns", question.until_ns)
        .get("waiting", question.waiting)
        .done();
}

Json encode(const overlay::Questioned& questioned) {
    return Json{{"version", questioned.version}, {"questions", encode_list(questioned.questions)}};
}

Result<> decode(const Json& json, overlay::Questioned& questioned) {
    return Fields(json)
        .get("version", questioned.version)
        .get_list("questions", questioned.questions)
        .done();
}

}  // namespace unwrite::control
