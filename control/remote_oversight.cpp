#include "control/remote.h"

namespace unwrite::control {

Result<overlay::AuditTrail> Remote::audit(std::uint64_t most) {
    TRY_ASSIGN(const Json json, ask("audit", Json{{"most", most}}));
    overlay::AuditTrail trail;
    TRY(decode(json, trail));
    return trail;
}

// The daemon notes what it refuses by itself.
void Remote::note_refusal(const overlay::Asker& /*asker*/, const std::string& /*command*/) {}

}  // namespace unwrite::control
