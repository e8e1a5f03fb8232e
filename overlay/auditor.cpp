#include "overlay/auditor.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/syscalls.h"

namespace unwrite::overlay {

std::string executable_of(std::int64_t pid) {
    if (pid <= 0) return {};
    const auto link = sys::read_link(AT_FDCWD, "/proc/" + std::to_string(pid) + "/exe");
    return link ? *link : std::string();
}

AuditEntry Auditor::entry_of(std::int64_t pid, std::uint32_t uid, const Deed& deed) const {
    AuditEntry entry;
    entry.time_ns = wall_clock_ns();
    entry.event = deed.event;
    entry.pid = pid;
    entry.uid = uid;
    entry.operation = deed.operation;
    entry.path = deed.path;
    entry.detail = deed.detail;
    entry.executable = executable_of(pid);
    const auto known = origins_.session_of_agent(pid);
    if (const auto& session = known ? known : deed.session) {
        entry.agent = true;
        entry.session = *session;
    }
    return entry;
}

Result<> Auditor::note_now(std::int64_t pid, std::uint32_t uid, const Deed& deed) {
    return log_.append(entry_of(pid, uid, deed));
}

void Auditor::note(std::int64_t pid, std::uint32_t uid, const Deed& deed) {
    AuditEntry entry = entry_of(pid, uid, deed);
    const std::lock_guard lock(mutex_);
    sweep();
    const Key key{entry.event, entry.operation, entry.path, entry.executable, entry.session};
    const auto until = std::chrono::steady_clock::now() + while_;
    if (const auto found = recent_.find(key); found != recent_.end()) {
        found->second.entry = std::move(entry);
        ++found->second.more;
    } else if (recent_.size() < kMostDifferent) {
        write(entry);
        recent_[key] = {std::move(entry), 0, until};
    } else {
        if (others_.more++ == 0) others_.until = until;
        others_.entry = std::move(entry);
        others_.entry.operation.clear();
        others_.entry.path.clear();
        others_.entry.detail = "different ones, too many to list";
    }
}

void Auditor::flush() {
    const std::lock_guard lock(mutex_);
    for (auto& [key, repeated] : recent_) {
        write_repeated(repeated);
        repeated.more = 0;
    }
    write_repeated(others_);
    others_.more = 0;
}

void Auditor::sweep() {
    const auto now = std::chrono::steady_clock::now();
    std::erase_if(recent_, [&](const auto& row) {
        if (now < row.second.until) return false;
        write_repeated(row.second);
        return true;
    });
    if (others_.more == 0 || now < others_.until) return;
    write_repeated(others_);
    others_.more = 0;
}

void Auditor::write_repeated(const Repeated& repeated) {
    if (repeated.more == 0) return;
    AuditEntry entry = repeated.entry;
    entry.count = repeated.more;
    write(entry);
}

void Auditor::write(const AuditEntry& entry) {
    const Result<> written = log_.append(entry);
    // Once, not for each of a loop of refusals.
    if (!written && !failing_) log::error("write the audit log: " + written.error().message());
    failing_ = !written;
}

}  // namespace unwrite::overlay
