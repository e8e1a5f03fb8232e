// Turns: sessions change a thing in turns. When one comes upon what another changed in the open
// interval, the interval is divided first: what the other left is a state of its own then (a node
// of kind `turn`), to which one can go back, and which a revert sees. Without it the later change
// would leave no trace of the earlier one, for an interval keeps only what was before both.
//
// Sessions that change the same thing in turns all day must not fill the journal: divisions come
// out of a bucket, and when it is empty the two share the interval (a revert of either is a
// conflict then). Thread-safe.
#pragma once

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
    /// Seals the open interval, for the sake of `who`. Called with no lock and no pass held.
    using Divide = std::function<Result<>(const Who& who)>;

    static constexpr double kMost = 64;      ///< divisions at once
    static constexpr double kPerSecond = 1;  ///< and then

    explicit Turns(Divide divide) : divide_(std::move(divide)) {}

    /// Runs `change(who)`; when it is out of turn, divides the interval and runs it again. `change`
    /// takes its locks anew each time.
    template <class Change>
    auto take(Who who, const Change& change) -> decltype(change(who)) {
        for (;;) {
            auto result = change(who);
            if (result || result.error().number() != ERESTART) return result;
            who.divides = may_divide();
            if (!who.divides) continue;
            TRY(divide_(who));
        }
    }

 private:
    bool may_divide() {
        const std::lock_guard lock(mutex_);
        const auto now = std::chrono::steady_clock::now();
        const std::chrono::duration<double> passed = now - filled_;
        filled_ = now;
        left_ = std::min(kMost, left_ + passed.count() * kPerSecond);
        if (left_ < 1) return false;
        left_ -= 1;
        return true;
    }

    const Divide divide_;
    std::mutex mutex_;
    double left_ = kMost;  // guarded by mutex_
    std::chrono::steady_clock::time_point filled_{std::chrono::steady_clock::now()};  // likewise
};

}  // namespace unwrite::overlay
