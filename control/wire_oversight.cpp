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

}  // namespace unwrite::control
