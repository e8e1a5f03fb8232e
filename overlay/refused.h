// What was refused, for people: the audit log's entries of refusals, equal ones as one.
#pragma once

#include "overlay/oversight.h"

namespace unwrite::overlay {

struct Refused {
    static constexpr std::size_t kMostEntries = 200;
    std::uint64_t writes = 0;
    std::uint64_t reads = 0;
    std::uint64_t commands = 0;         ///< that are the user's alone
    std::vector<AuditEntry> entries{};  ///< newest first, at most kMostEntries
};

/// What was refused, as far as it concerns the process that asks.
struct RefusedTo {
    Refused refused;
    bool agent = false;  ///< it belongs to a run, and is told of that run's session alone
};

/// A refusal is of reading, of a command, or of a change.
enum class RefusedKind { kWrite, kRead, kCommand };
RefusedKind kind_of(const AuditEntry& refusal);

/// The refusals at or after `since_ns`, of `session` alone when it is given.
Refused gather_refused(const std::vector<AuditEntry>& entries, std::int64_t since_ns,
                       const std::string& session);

/// The same of a workspace; `since_ns` 0: since the task began.
Result<Refused> refused_in(Oversight& oversight, Operations& operations, std::int64_t since_ns,
                           const std::string& session);

}  // namespace unwrite::overlay
