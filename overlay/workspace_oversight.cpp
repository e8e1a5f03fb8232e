#include <algorithm>

#include "overlay/workspace.h"

namespace unwrite::overlay {

Result<AuditTrail> Workspace::audit(std::uint64_t most) {
    auditor_.flush();
    TRY_ASSIGN(AuditTrail trail, journal::read_audit(journal_->state_dir().fd()));
    const std::uint64_t surplus =
        trail.entries.size() - std::min<std::uint64_t>(most, trail.entries.size());
    trail.entries.erase(trail.entries.begin(),
                        trail.entries.begin() + static_cast<std::ptrdiff_t>(surplus));
    return trail;
}

// A chain cannot be mended: it is kept as it is, and another begins.
Result<> Workspace::repair_audit(Checked& checked) {
    TRY_ASSIGN(const AuditTrail trail, journal::read_audit(journal_->state_dir().fd()));
    if (trail.problems.empty()) return {};
    TRY(audit_log_->set_aside());
    for (std::size_t i = 0; i < trail.problems.size(); ++i)
        checked.repaired.push_back(std::string("put the audit log away as ") +
                                   journal::AuditLog::kBrokenName + " and began a new one");
    return {};
}

void Workspace::note_refusal(const Asker& asker, const std::string& command) {
    auditor_.note(asker.pid, asker.uid, {"refused", command, {}, "an agent may not do this"});
}

}  // namespace unwrite::overlay
