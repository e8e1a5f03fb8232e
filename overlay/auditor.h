// Auditor: puts what the policy did into the audit log, and not the same again and again: of equal
// deeds (same event, operation, path, executable, session) within a while the first is written at
// once, and the rest as one line with their number, at the latest when the log is read or closed.
// So a loop of refused writes costs two lines a minute, a loop over different names some hundreds.
// Called for refusals and answers only, never for what is simply allowed. Thread-safe.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include "journal/audit.h"
#include "overlay/origins.h"

namespace unwrite::overlay {

using journal::AuditEntry;
using journal::AuditTrail;

/// What happened, without who did it.
struct Deed {
    std::string event;
    std::string operation;
    std::string path;
    std::string detail;
    /// Of the agent, for one that the origins do not know: a server of tools outside a run.
    std::optional<std::string> session{};
};

/// The program that a process runs, as the kernel tells it; "" when it cannot be told.
std::string executable_of(std::int64_t pid);

class Auditor {
 public:
    static constexpr auto kWhile = std::chrono::seconds(60);
    static constexpr std::size_t kMostDifferent = 256;  ///< within a while; more are counted alone

    /// The log and the origins outlive it.
    Auditor(journal::AuditLog& log, const Origins& origins,
            std::chrono::steady_clock::duration within = kWhile)
        : log_(log), origins_(origins), while_(within) {}
    ~Auditor() { flush(); }
    Auditor(const Auditor&) = delete;
    Auditor& operator=(const Auditor&) = delete;

    /// `pid` 0: unknown. A log that cannot be written is told to the daemon's log.
    void note(std::int64_t pid, std::uint32_t uid, const Deed& deed);
    /// Each time anew, and only then returns; the failure of the log is the answer.
    Result<> note_now(std::int64_t pid, std::uint32_t uid, const Deed& deed);
    /// Writes what was only counted so far.
    void flush();

 private:
    using Key = std::tuple<std::string, std::string, std::string, std::string, std::string>;
    struct Repeated {
        AuditEntry entry;
        std::uint64_t more = 0;  ///< than the one that was written
        std::chrono::steady_clock::time_point until;
    };
    AuditEntry entry_of(std::int64_t pid, std::uint32_t uid, const Deed& deed) const;
    void write(const AuditEntry& entry);            // mutex_ held
    void write_repeated(const Repeated& repeated);  // mutex_ held
    void sweep();                                   // mutex_ held

    journal::AuditLog& log_;
    const Origins& origins_;
    const std::chrono::steady_clock::duration while_;
    std::mutex mutex_;
    std::map<Key, Repeated> recent_;  // guarded by mutex_
    Repeated others_;                 // beyond kMostDifferent; guarded by mutex_
    bool failing_ = false;            // guarded by mutex_
};

}  // namespace unwrite::overlay
