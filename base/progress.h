// Progress: how far the long work of this process is, for whoever waits for it and asks.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>

namespace unwrite {

/// One piece of work while it lives; thread-safe, and cheap to step.
class Progress {
 public:
    struct Seen {
        const char* what = "";
        std::uint64_t done = 0;
        std::uint64_t total = 0;
    };

    /// `what`: a literal, as "restoring"; `total`: steps.
    Progress(const char* what, std::uint64_t total);
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    void step() { done_.fetch_add(1, std::memory_order_relaxed); }

    /// Of the work that began last and is not done; nothing when there is none.
    static std::optional<Seen> now();
    /// Called at the end of each piece of work, in its thread, when now() does not know it any
    /// more. One for the process; null for none.
    static void at_each_end(std::function<void()> call);

 private:
    const char* const what_;
    const std::uint64_t total_;
    std::atomic<std::uint64_t> done_{0};
};

}  // namespace unwrite
