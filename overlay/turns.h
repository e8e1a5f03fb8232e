// Turns: sessions change a thing in turns. When one comes upon what another changed in the open
// interval, the interval is divided first: what the other left is a state of its own then (a node
// of kind `turn`), to which one can go back, and which a revert sees. Without it the later change
// would leave no trace of the earlier one, for an interval keeps only what was before both.
//
// Sessions that change things in turns all day must not fill the journal: divisions come out of
// buckets, one for each thing and one for all, so that one thing that many write (a log, an index)
// leaves the others theirs. When one is empty the two share the interval until it has a division
// again (a revert of either is a conflict then). Thread-safe.
#pragma once

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <functional>
#include <mutex>

#include "overlay/origins.h"

namespace unwrite::overlay {

/// What a capture says when the interval must be divided first; nothing was changed.
inline Error out_of_turn() {
    return Error(ERESTART);
}

class Turns {
 public:
    /// Seals the open interval, for the sake of `who`; false when there was nothing in it. Called
    /// with no lock and no pass held.
    using Divide = std::function<Result<bool>(const Who& who)>;

    static constexpr double kMost = 32;             ///< divisions at once for one thing
    static constexpr double kPerSecond = 0.5;       ///< and then
    static constexpr double kMostOfAll = 256;       ///< for all of them
    static constexpr double kPerSecondOfAll = 1.0;  ///< and then

    explicit Turns(Divide divide) : divide_(std::move(divide)) {}

    /// Runs `change(who)`; when it is out of turn, divides the interval and runs it again. `change`
    /// takes its locks anew each time. `thing`: a hash of what is changed.
    template <class Change>
    auto take(Who who, std::size_t thing, const Change& change) -> decltype(change(who)) {
        for (;;) {
            auto result = change(who);
            if (result || result.error().number() != ERESTART) return result;
            who.shares = !may_divide(thing);
            if (who.shares) continue;
            TRY_ASSIGN(const bool divided, divide_(who));
            who.shares = !divided;
        }
    }

 private:
    using Clock = std::chrono::steady_clock;
    struct Bucket {
        double left = kMost;
        Clock::time_point filled{};
        void fill(Clock::time_point now, double most, double per_second) {
            const std::chrono::duration<double> passed = now - filled;
            filled = now;
            left = std::min(most, left + passed.count() * per_second);
        }
    };
    static constexpr std::size_t kBuckets = 256;

    bool may_divide(std::size_t thing) {
        const std::lock_guard lock(mutex_);
        const auto now = Clock::now();
        Bucket& its = buckets_[thing % kBuckets];
        its.fill(now, kMost, kPerSecond);
        all_.fill(now, kMostOfAll, kPerSecondOfAll);
        if (its.left < 1 || all_.left < 1) return false;
        its.left -= 1;
        all_.left -= 1;
        return true;
    }

    const Divide divide_;
    std::mutex mutex_;
    std::array<Bucket, kBuckets> buckets_{};  // guarded by mutex_
    Bucket all_{kMostOfAll, Clock::now()};    // likewise
};

}  // namespace unwrite::overlay
