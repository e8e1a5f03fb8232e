// The commands that oversight.h has. None is for agents.
#include <algorithm>
#include <cerrno>

#include "control/dispatch.h"

namespace unwrite::control {

namespace {

Error nobody_oversees() {
    return Error(ErrorKind::kUsage, ENOSYS, "read request: nothing is overseen here");
}

}  // namespace

Result<Json> Dispatch::audit(Call& call) {
    if (service_.oversight == nullptr) return nobody_oversees();
    std::uint64_t most = kMostAuditEntries;
    TRY(Fields(call.arguments).get("most", most).done());
    TRY_ASSIGN(const overlay::AuditTrail trail,
               service_.oversight->audit(std::min(most, kMostAuditEntries)));
    return encode(trail);
}

}  // namespace unwrite::control
