#include "control/refusals.h"

#include "control/asking.h"
#include "control/fields.h"

namespace unwrite::control {

Json encode(const overlay::RefusedTo& refused) {
    return Json{{"agent", refused.agent},
                {"writes", refused.refused.writes},
                {"reads", refused.refused.reads},
                {"commands", refused.refused.commands},
                {"entries", encode_list(refused.refused.entries)}};
}

Result<> decode(const Json& json, overlay::RefusedTo& refused) {
    return Fields(json)
        .get("agent", refused.agent)
        .get("writes", refused.refused.writes)
        .get("reads", refused.refused.reads)
        .get("commands", refused.refused.commands)
        .get_list("entries", refused.refused.entries)
        .done();
}

Result<overlay::RefusedTo> ask_refused(const MountPoint& mount, std::int64_t since_ns,
                                       const std::string& session) {
    const Json arguments{{"since_ns", since_ns}, {"of_session", encode_bytes(session)}};
    TRY_ASSIGN(const Json answer, Conversation(mount).ask("refusals", arguments));
    overlay::RefusedTo refused;
    TRY(decode(answer, refused));
    return refused;
}

}  // namespace unwrite::control
