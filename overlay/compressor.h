// Compressor: a thread that packs the captured bytes of sealed intervals when they are cold
// (journal/pack.h), with the lowest priority that there is. It takes no lock but its own, and not
// for longer than a look into its queue: it is in nobody's way, and nobody waits for it.
// Thread-safe.
#pragma once

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

#include "journal/journal.h"
#include "overlay/reserve.h"

namespace unwrite::overlay {

class Compressor {
 public:
    /// `deltas` is the open directory that holds them and outlives this. `cold`: how long after the
    /// seal; without it nothing is ever compressed, and there is no thread. 0 is for tests: also
    /// what is not worth it is compressed.
    Compressor(int deltas, std::optional<std::chrono::milliseconds> cold, bool durable);
    Compressor(const Compressor&) = delete;
    Compressor& operator=(const Compressor&) = delete;
    /// What is under way is given up.
    ~Compressor();

    /// That delta is sealed: nothing is written to its data from now on. It may be removed at any
    /// time.
    void add(journal::DeltaNumber sealed);

 private:
    using Clock = std::chrono::steady_clock;
    void work();
    /// Whether to ask for that one again later.
    bool pack(journal::DeltaNumber number);

    const int deltas_;
    const std::optional<std::chrono::milliseconds> cold_;
    const bool durable_;
    Reserve reserve_;
    std::mutex mutex_;
    std::condition_variable wake_;
    std::multimap<Clock::time_point, journal::DeltaNumber> due_;  // guarded by mutex_
    bool stop_ = false;                                           // guarded by mutex_
    std::thread thread_;
};

}  // namespace unwrite::overlay
