#include "control/remote_reverts.h"

#include "control/asking.h"
#include "control/fields.h"
#include "control/wire.h"

namespace unwrite::control {

Result<std::string> RemoteReverts::request_revert(const overlay::Asker& asker,
                                                  const std::string& arguments, bool for_agent) {
    Json request = encode(asker);
    request["arguments"] = encode_bytes(arguments);
    request["for_agent"] = for_agent;
    TRY_ASSIGN(const Json answer, Conversation(mount_).ask("request_revert", request));
    std::string acknowledgement;
    TRY(Fields(answer).get("acknowledgement", acknowledgement).done());
    return acknowledgement;
}

Result<std::vector<std::string>> RemoteReverts::apply_reverts(const overlay::Asker& asker) {
    TRY_ASSIGN(const Json answer, Conversation(mount_).ask("apply_reverts", encode(asker)));
    std::vector<std::string> events;
    TRY(Fields(answer).get("events", events).done());
    return events;
}

}  // namespace unwrite::control
