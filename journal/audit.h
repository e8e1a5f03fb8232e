// The audit log: what the policy refused, what was asked and answered, who looked at what is
// watched. Text, one entry a line, appended and never changed:
//   <SHA-256 of the line before and of what follows here> <time> <event> <count> <pid> <uid>
//   <agent 0|1> <operation> <path> <executable> <session> <detail>
// in bytes that a terminal can show; others are %XX. audit.log is the newest part; when it is full
// it becomes audit.log.1 (whose predecessor goes), and the chain goes on from one to the other.
//
// What a chain shows: a line that was changed, added or taken out anywhere but at the end. Who can
// write the state directory can make a new chain; agents cannot reach it.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/digest.h"
#include "base/result.h"
#include "base/unique_fd.h"

namespace unwrite::journal {

struct AuditEntry {
    std::int64_t time_ns = 0;  ///< since 1970
    std::string event;         ///< "refused", "read", "approved"...: one word
    std::uint64_t count = 1;   ///< how often; of equal ones later than the first
    std::int64_t pid = 0;
    std::uint32_t uid = 0;
    bool agent = false;
    std::string operation;   ///< "write", "unlink"...: one word
    std::string path;        ///< relative to the root, bytes
    std::string executable;  ///< of the process, as the kernel tells it
    std::string session;     ///< of the run; empty for the user
    std::string detail;      ///< the rule that decided, what was answered
    bool operator==(const AuditEntry&) const = default;
};

/// The lines of both parts, read and compared with the chain.
struct AuditTrail {
    std::vector<AuditEntry> entries;    ///< oldest first; lines that make no sense are left out
    std::vector<std::string> problems;  ///< "audit.log: line 7 was changed, ..."
};

/// Appends. Thread-safe.
class AuditLog {
 public:
    static constexpr const char* kName = "audit.log";
    static constexpr const char* kOldName = "audit.log.1";
    static constexpr const char* kBrokenName = "audit.log.broken";
    static constexpr std::uint64_t kMostBytes = std::uint64_t{8} << 20;  ///< of one part

    /// Opens or makes it in the state directory (which outlives it). A last line that a kill cut
    /// short is cut off. `durable`: each entry is on the disk when append() returns.
    static Result<std::unique_ptr<AuditLog>> open(int state_dir, bool durable,
                                                  std::uint64_t most_bytes = kMostBytes);
    Result<> append(const AuditEntry& entry);
    /// Puts both parts away as kBrokenName (what was there goes) and begins a new chain.
    Result<> set_aside();

 private:
    AuditLog(int state_dir, bool durable, std::uint64_t most_bytes)
        : state_dir_(state_dir), durable_(durable), most_bytes_(most_bytes) {}
    Result<> continue_file();  // mutex_ held
    Result<> begin_new();      // mutex_ held

    const int state_dir_;
    const bool durable_;
    const std::uint64_t most_bytes_;
    std::mutex mutex_;
    UniqueFd file_;          // guarded by mutex_
    std::uint64_t end_ = 0;  // guarded by mutex_
    Digest last_;            // of the last line; guarded by mutex_
};

/// For anyone, at any time; an absent log is an empty one. A last line without an end is not a
/// problem: it is being written, or was cut short by a kill.
Result<AuditTrail> read_audit(int state_dir);

/// One line without its newline.
std::string format_audit(const Digest& before, const AuditEntry& entry);

}  // namespace unwrite::journal
