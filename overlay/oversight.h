// Oversight: what the user, and no agent, can see and decide of the policy at work. Beside
// Operations, which are about states. Thread-safe.
#pragma once

#include <string>

#include "journal/audit.h"
#include "overlay/operations.h"

namespace unwrite::overlay {

using journal::AuditEntry;
using journal::AuditTrail;

class Oversight {
 public:
    virtual ~Oversight() = default;

    /// The newest `most` entries of the audit log, oldest first, and what is wrong with its chain.
    virtual Result<AuditTrail> audit(std::uint64_t most) = 0;
    /// Writes down that `asker` was refused a command of this name.
    virtual void note_refusal(const Asker& asker, const std::string& command) = 0;
};

}  // namespace unwrite::overlay
