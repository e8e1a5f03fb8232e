#include "control/remote_reverts.h"

#include "control/asking.h"
#include "control/fields.h"

namespace unwrite::control {

Result<std::string> RemoteReverts::request_revert(const overlay::Asker& asker,
                                                  const std::string& arguments, bool for_agent) {
    const Json request{{"session", encode_bytes(asker.session)},
                       {"cause", encode_bytes(asker.cause)},
                       {"arguments", encode_bytes(arguments)},
                       {"for_agent", for_agent}};
    TRY_ASSIGN(const Json answer, ask_daemon(mount_, 1, "request_revert", request));
    std::string acknowledgement;
    TRY(Fields(answer).get("acknowledgement", acknowledgement).done());
    return acknowledgement;
}

Result<std::vector<std::string>> RemoteReverts::apply_reverts(const overlay::Asker& asker) {
    const Json request{{"session", encode_bytes(asker.session)}};
    TRY_ASSIGN(const Json answer, ask_daemon(mount_, 1, "apply_reverts", request));
    std::vector<std::string> events;
    TRY(Fields(answer).get("events", events).done());
    return events;
}

}  // namespace unwrite::control
