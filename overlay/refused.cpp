#include "overlay/refused.h"

#include <algorithm>
#include <cstdint>

namespace unwrite::overlay {

namespace {

bool is_same(const AuditEntry& one, const AuditEntry& other) {
    return one.path == other.path && one.operation == other.operation &&
           one.session == other.session && one.executable == other.executable &&
           one.detail == other.detail;
}

}  // namespace

RefusedKind kind_of(const AuditEntry& refusal) {
    const bool reads = refusal.operation == "look up" || refusal.operation.starts_with("diff ");
    if (reads) return RefusedKind::kRead;
    return refusal.path.empty() && !refusal.operation.empty() ? RefusedKind::kCommand
                                                              : RefusedKind::kWrite;
}

Refused gather_refused(const std::vector<AuditEntry>& entries, std::int64_t since_ns,
                       const std::string& session) {
    Refused refused;
    for (auto at = entries.rbegin(); at != entries.rend(); ++at) {
        if (at->event != "refused" || at->time_ns < since_ns) continue;
        if (!session.empty() && at->session != session) continue;
        const RefusedKind kind = kind_of(*at);
        (kind == RefusedKind::kWrite  ? refused.writes
         : kind == RefusedKind::kRead ? refused.reads
                                      : refused.commands) += at->count;
        const auto known =
            std::find_if(refused.entries.begin(), refused.entries.end(),
                         [&](const AuditEntry& other) { return is_same(*at, other); });
        if (known != refused.entries.end()) {
            known->count += at->count;
        } else if (refused.entries.size() < Refused::kMostEntries) {
            refused.entries.push_back(*at);
        }
    }
    return refused;
}

Result<Refused> refused_in(Oversight& oversight, Operations& operations, std::int64_t since_ns,
                           const std::string& session) {
    TRY_ASSIGN(const AuditTrail trail, oversight.audit(UINT64_MAX));
    if (since_ns == 0 && !trail.entries.empty()) {
        TRY_ASSIGN(const std::vector<Node> trunk, operations.trunk(0, SIZE_MAX));
        // History that was kept may go on below the root.
        const auto root = std::find_if(trunk.begin(), trunk.end(), [](const Node& node) {
            return node.kind == NodeKind::kRoot;
        });
        if (root != trunk.end()) since_ns = root->time_ns;
    }
    return gather_refused(trail.entries, since_ns, session);
}

}  // namespace unwrite::overlay
