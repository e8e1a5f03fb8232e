// Breaker: counts what each session destroys of what was there when the task began, and says when
// that is more than the user wants to happen unseen. Knows no files: it is told. Thread-safe.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/object_key.h"
#include "overlay/origins.h"
#include "overlay/policy.h"

namespace unwrite::overlay {

/// What a request would destroy. Only of what was there when the task began.
struct Loss {
    std::string deleted{};  ///< the path of a file that goes; empty: none does
    std::uint64_t bytes = 0;
    std::vector<ObjectKey> directories{};  ///< each once
    bool empty() const { return deleted.empty() && bytes == 0 && directories.empty(); }
};

class Breaker {
 public:
    using Clock = std::chrono::steady_clock;
    static constexpr std::uint64_t kFewest = 5;  ///< deletions, before their share counts

    explicit Breaker(const BreakerLimits& limits,
                     std::function<Clock::time_point()> now = Clock::now)
        : limits_(limits), now_(std::move(now)) {}

    const BreakerLimits& limits() const { return limits_; }

    /// A limit that the loss goes beyond.
    struct Excess {
        std::string key;     ///< "policy.breaker.deletions = 100"
        std::string detail;  ///< of this case
    };
    /// Counts it, unless a limit says no. With an excess nothing is counted; what a person allowed
    /// all the same is counted with `count`. The share of deletions is not looked at.
    std::vector<Excess> weigh(SessionNumber session, const Loss& loss);
    void count(SessionNumber session, const Loss& loss);

    /// How many files must be there, beside those that the session deleted, so that one more
    /// deletion is within the share; 0: any number does.
    std::uint64_t needed(SessionNumber session) const;
    Excess share_excess(SessionNumber session) const;
    /// So many are there, at least.
    void know_there(std::uint64_t files);
    std::uint64_t known_there() const;

    /// A file stands at that path (again): nobody has deleted it.
    void stands(const std::string& path);
    /// Whether anything was deleted, so that stands() has a meaning.
    bool has_deleted() const { return has_deleted_.load(std::memory_order_relaxed); }
    /// Another task begins.
    void begin();

 private:
    /// Of the second that runs.
    struct Rate {
        Clock::time_point since{};
        std::uint64_t amount = 0;
        void roll(Clock::time_point now) {
            if (now - since < std::chrono::seconds(1)) return;
            since = now;
            amount = 0;
        }
    };
    struct Counts {
        std::unordered_set<std::size_t> gone{};  ///< hashes of paths
        std::uint64_t deletions = 0;
        std::uint64_t bytes = 0;
        std::unordered_set<ObjectKey> directories{};
        Rate deletion_rate{};
        Rate byte_rate{};
        Rate directory_rate{};
    };
    Counts& counts_of(SessionNumber session);            // mutex_ held; of this second
    std::uint64_t gone_of(SessionNumber session) const;  // mutex_ held
    static std::uint64_t fresh(const Counts& counts, const Loss& loss);
    void add(Counts& counts, const Loss& loss);  // mutex_ held

    const BreakerLimits limits_;
    const std::function<Clock::time_point()> now_;
    mutable std::mutex mutex_;
    std::unordered_map<SessionNumber, Counts> sessions_;  // guarded by mutex_
    std::uint64_t there_ = 0;                             // guarded by mutex_
    std::atomic<bool> has_deleted_{false};
};

}  // namespace unwrite::overlay
