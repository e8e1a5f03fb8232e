// Origins: who changes something. Every process that changes the workspace gets one row in the
// store (pid, executable, user, session); processes that descend from a registered run belong to
// that run's session, all others to "user"; one that has ended belongs to a run while there is one
// (docs/decisions/0076-who-cannot-be-asked.md). The answer for a process is cached for a second, so
// the hot path pays a look-up. Thread-safe.
#pragma once

#include <array>
#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <unordered_map>

#include "journal/journal.h"
#include "overlay/tree.h"

namespace unwrite::overlay {

using SessionNumber = std::uint32_t;
inline constexpr SessionNumber kUserSession = 0;

struct Who {
    journal::OriginNumber origin = 0;
    SessionNumber session = kUserSession;
    /// What another session changed in the open interval is kept in a state of its own before this
    /// one changes it. Not for who has no process (the write-back of a mapping).
    bool divides = false;
    bool shares = false;  ///< it would divide, but there is no division left (turns.h)

    Who together() const { return {origin, session, false, false}; }
};

class Origins {
 public:
    static constexpr const char* kUserName = "user";
    /// Reads the origins that are there.
    static Result<std::unique_ptr<Origins>> open(journal::Journal& journal);

    Who resolve(const Caller& caller);
    /// `pid` and its descendants belong to `session` until end_run. A later process with the same
    /// number does not.
    void begin_run(std::int64_t pid, const std::string& session, journal::NodeNumber step);
    void end_run(journal::NodeNumber step);
    /// The active run that was begun for exactly this process; 0: none.
    journal::NodeNumber run_of_process(std::int64_t pid) const;
    std::string session_of_run(journal::NodeNumber step) const;  ///< of an active one, else empty
    /// One run, or two that were begun for the same process, one after the other.
    bool are_kin(journal::NodeNumber one, journal::NodeNumber other) const;
    /// The same session, or runs that are kin.
    bool are_kin_origins(journal::OriginNumber one, journal::OriginNumber other) const;
    /// True when the process is, or descends from, a registered run.
    bool is_agent(std::int64_t pid) const { return session_of_agent(pid).has_value(); }
    /// How many runs are going on.
    std::size_t runs() const;
    bool has_runs() const { return runs() != 0; }
    /// The run's session; nothing when the process is no agent.
    std::optional<std::string> session_of_agent(std::int64_t pid) const;

    /// Whose process the caller is. Quick; without a row in the store.
    struct Belonging {
        SessionNumber session = kUserSession;
        bool agent = false;
    };
    Belonging belonging_of(const Caller& caller);

    SessionNumber session_of(journal::OriginNumber origin) const;
    std::string name_of(SessionNumber session) const;
    /// The origins of a session, by its name, or by the run's node number; empty when there is
    /// none.
    std::set<journal::OriginNumber> of_session(const std::string& name) const;
    std::set<journal::OriginNumber> of_run(journal::NodeNumber step) const;
    std::vector<journal::Origin> all() const;
    /// Runs that have begun and not ended, by the node that marks where they began.
    std::set<journal::NodeNumber> active_runs() const;
    /// The run whose process it was; 0: none's.
    journal::NodeNumber run_of_origin(journal::OriginNumber origin) const;
    /// Those of them that exist, by number.
    std::vector<journal::Origin> rows(const std::set<journal::OriginNumber>& numbers) const;

 private:
    struct Run {
        std::int64_t pid;
        std::string start;  ///< clock ticks since boot; empty: it could not be told
        std::string session;
        journal::NodeNumber step;
    };
    struct Cached {
        Who who;
        bool agent = false;
        std::chrono::steady_clock::time_point until;
    };
    struct Shard {
        std::mutex mutex;
        std::unordered_map<pid_t, Cached> cache;
    };
    static constexpr std::size_t kShards = 16;

    explicit Origins(journal::Journal& journal) : journal_(journal) {}
    Cached make(const Caller& caller);
    // Those that follow need mutex_.
    const Run* run_of(std::int64_t thread) const;
    /// The run that began at `pid` or above. False: the way up ended in a process that is gone.
    bool find_above(std::int64_t pid, const Run*& found) const;
    /// A run whose process has ended before it: what lives in its sandbox has lost its way up.
    const Run* left_alone() const;
    SessionNumber number_of(const std::string& session, journal::NodeNumber step);

    journal::Journal& journal_;
    std::array<Shard, kShards> shards_;
    mutable std::mutex mutex_;
    std::vector<Run> runs_;  // guarded by mutex_
    /// "pid/start" of the process that a run of this life was begun for; guarded by mutex_
    std::unordered_map<journal::NodeNumber, std::string> processes_;
    /// Threads of agents, by the last run that they were seen in; guarded by mutex_
    std::unordered_map<std::int64_t, journal::NodeNumber> agents_;
    // Two runs of one name are two sessions. Both guarded by mutex_.
    using SessionKey = std::pair<std::string, journal::NodeNumber>;
    std::vector<std::string> sessions_{kUserName};
    std::map<SessionKey, SessionNumber> session_numbers_{{{kUserName, 0}, kUserSession}};
    std::unordered_map<journal::OriginNumber, journal::Origin> origins_;  // guarded by mutex_
    std::unordered_map<std::string, journal::OriginNumber>
        known_;  // "pid/start/exe/session"; guarded by mutex_
};

}  // namespace unwrite::overlay
