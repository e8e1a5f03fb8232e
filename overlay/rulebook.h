// Rulebook: the policy in force. It can be replaced while it is asked, and the user can allow
// single paths for a while. Each change makes a new generation, so that what was judged under an
// older one is judged again. Asking is a look at two numbers. Thread-safe.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "overlay/policy.h"

namespace unwrite::overlay {

/// One path (and what is below it) that the user allowed.
struct Allowance {
    std::string path;           ///< relative to the root, bytes
    bool agents = false;        ///< to agents, too
    std::int64_t until_ns = 0;  ///< wall clock, ns since 1970; 0: as long as the workspace is open
};

class Rulebook {
 public:
    explicit Rulebook(std::shared_ptr<const Policy> policy);
    Rulebook(const Rulebook&) = delete;
    Rulebook& operator=(const Rulebook&) = delete;

    /// What is in force now. The reference is good for as long as the rulebook lives.
    const Policy& now();
    /// Grows with each change; begins with 0.
    unsigned generation() const { return generation_.load(std::memory_order_acquire); }
    /// True once a replacement may have made names matter that did not before: what was never
    /// judged may need judging.
    bool was_replaced() const { return replaced_.load(std::memory_order_acquire); }

    /// Whether an allowance is in force that ends by itself.
    bool will_end() const { return next_end_ns_.load(std::memory_order_relaxed) != 0; }

    /// Allowances stay.
    Result<> replace(std::shared_ptr<const Policy> policy);
    /// Over all rules, until its time comes. kUsage for a path that cannot be one.
    Result<> allow(const Allowance& allowance);
    std::vector<Allowance> allowances();

 private:
    Result<> compile();   // mutex_ held
    bool drop_expired();  // mutex_ held

    std::atomic<const Policy*> current_;
    std::atomic<unsigned> generation_{0};
    std::atomic<bool> replaced_{false};
    std::atomic<std::int64_t> next_end_ns_{0};  // of an allowance; 0: none ends
    std::mutex mutex_;
    std::shared_ptr<const Policy> base_;               // guarded by mutex_
    std::vector<Allowance> allowances_;                // guarded by mutex_
    std::vector<std::shared_ptr<const Policy>> kept_;  // all there ever were; guarded by mutex_
};

}  // namespace unwrite::overlay
