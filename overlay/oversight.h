// Oversight: what the user, and no agent, can see and decide of the policy at work. Beside
// Operations, which are about states. Thread-safe.
#pragma once

#include <string>
#include <vector>

#include "journal/audit.h"
#include "overlay/operations.h"

namespace unwrite::overlay {

using journal::AuditEntry;
using journal::AuditTrail;

/// A rule as people see it.
struct RuleShown {
    std::string pattern;
    std::string action;    ///< as the configuration names it; "allow" for an exception
    std::string subjects;  ///< "everyone", "agents", "user"
    std::string reason;
    std::string source;         ///< "profile default", "unwrite.toml:12", "policy allow"
    std::int64_t until_ns = 0;  ///< since 1970; 0: no end
};

/// What one subject may do at a path, and why.
struct Judged {
    bool may_read = true;
    bool may_write = true;
    bool hidden = false;
    std::string reading;  ///< the rule that decided, as describe() puts it; empty: none matched
    std::string writing;
};

struct Explained {
    Judged user;
    Judged agent;
};

class Oversight {
 public:
    virtual ~Oversight() = default;

    /// The newest `most` entries of the audit log, oldest first, and what is wrong with its chain.
    virtual Result<AuditTrail> audit(std::uint64_t most) = 0;
    /// Writes down that `asker` was refused a command of this name.
    virtual void note_refusal(const Asker& asker, const std::string& command) = 0;

    /// The rules in force, in order: of those that match, the last decides.
    virtual Result<std::vector<RuleShown>> rules() = 0;
    /// `path`: relative to the root; what is not there is taken for a file.
    virtual Result<Explained> explain(const std::string& path) = 0;
    /// `path` and what is below may be read and written, by the user and, with `agents`, by agents,
    /// whatever the rules say; for `seconds`, 0: as long as the workspace is open. In the audit
    /// log. kUsage when no policy is in force.
    virtual Result<> allow(const Asker& asker, const std::string& path, bool agents,
                           std::uint64_t seconds) = 0;
};

}  // namespace unwrite::overlay
