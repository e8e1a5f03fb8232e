// Session: one workspace opened for writing: the journal, the tree that the mount serves, the
// operations. Made once by the daemon (which then mounts tree()) or by a command on a workspace
// that is not mounted.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "overlay/oversight.h"
#include "overlay/policy.h"
#include "overlay/tree.h"

namespace unwrite::overlay {

/// So long nothing is done with what was just sealed: it is what an undo will most likely want, and
/// what a commit most likely drops.
inline constexpr std::chrono::milliseconds kCold{60'000};

/// So long captured bytes have no checksums: what is dropped at once needs none.
inline constexpr std::chrono::milliseconds kSoon{1'000};

struct SessionOptions {
    bool create = true;      ///< make the state directory when absent (else kNotFound)
    bool durable = false;    ///< durability = "power"
    bool mtime_now = false;  ///< restore.mtime = "now" (D16)
    std::shared_ptr<const Policy> policy{};  ///< null: everything is allowed
    /// What to keep as tags of each node, beside the journal: read from the raw root, an open
    /// directory, with the gate closed. It takes no long time and uses no mount. May be empty.
    std::function<std::map<std::string, std::string>(int root)> tags{};
    /// How long a question waits for its answer.
    std::chrono::milliseconds ask_patience{60'000};
    /// Beyond, a person is asked. For nothing where before-images are shared by reflink.
    SizeCap size_cap{};
    /// Beyond, a person is asked.
    BreakerLimits breaker{};
    /// Free space in bytes that agents' before-images leave alone (reserve.h); 0: none.
    std::optional<std::uint64_t> reserve = 0;
    /// How long after an interval was sealed its captured bytes are compressed (kCold, but in
    /// tests; 0: also what is not worth it); without it never.
    std::optional<std::chrono::milliseconds> compress_after{};
    /// How long after an interval was sealed its captured bytes get checksums; without it never.
    std::optional<std::chrono::milliseconds> checksum_after = kSoon;
    /// durability = "ordered". With neither this nor `durable` only crashes of processes count.
    bool ordered = false;
    /// The repository of a linked work tree: a directory elsewhere, absolute, that belongs to the
    /// workspace from here on (Objects::attach()); empty: none. Once noted, it stays that one.
    std::string annex{};
};

/// The root node has this tag from the open that finds a task interrupted until answered().
inline constexpr const char* kInterruptedTag = "interrupted";

/// What the open found.
struct Found {
    bool fresh = false;             ///< the state directory was made now
    bool interrupted = false;       ///< the last writer did not close it
    bool finished_restore = false;  ///< an unfinished restore or commit was finished
    bool task_open = false;         ///< there are changes since the root
    /// What somebody changed between the interruption and now, where that restore was to write
    /// (overlay/set_aside.h): paths.
    std::vector<std::string> set_aside{};
    /// Files that a process of a mount that is gone can still write to, without a rule: paths.
    std::vector<std::string> in_use{};
    /// After a power cut: what cannot be taken back, because what it was may not have reached the
    /// disk. Paths.
    std::vector<std::string> unproved{};
};

class Session {
 public:
    /// `workspace` is an open directory descriptor of the raw directory (not through a mount),
    /// which the session takes. Takes the writer's lock, finishes what was begun, seals an interval
    /// that an earlier life left open.
    static Result<std::unique_ptr<Session>> open(UniqueFd workspace, const SessionOptions& options);
    virtual ~Session() = default;  ///< closes the journal cleanly

    virtual Tree& tree() = 0;
    virtual Operations& operations() = 0;
    virtual Oversight& oversight() = 0;
    /// Where the requests of the tree wait for answers.
    virtual Waiting& waiting() = 0;
    virtual const Found& found() const = 0;
    /// The user has been asked what becomes of an interrupted task, and has answered.
    virtual Result<> answered() = 0;
    /// True when the process is, or descends from, a registered run: what agents may not do is
    /// refused to it.
    virtual bool is_agent(std::int64_t pid) const = 0;
    /// Other rules from now on; allowances stay. What is open already and concerned no rule before
    /// is judged when its name is looked up again. In the audit log. kUsage when no policy is in
    /// force.
    virtual Result<> replace_policy(const Asker& asker, std::shared_ptr<const Policy> policy) = 0;
};

}  // namespace unwrite::overlay
