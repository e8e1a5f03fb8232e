// Compressor: packs the captured bytes of sealed intervals when they are cold (journal/pack.h), in
// a thread of its own. Thread-safe.
#pragma once

#include <chrono>
#include <optional>

#include "journal/checksums.h"
#include "overlay/due_queue.h"
#include "overlay/reserve.h"

namespace unwrite::overlay {

class Compressor {
 public:
    /// `deltas` is the open directory that holds them; it and `sums` outlive this. `cold`: how long
    /// after the seal; without it nothing is ever compressed. 0 is for tests: also what is not
    /// worth it is compressed.
    Compressor(int deltas, const journal::Checksums& sums,
               std::optional<std::chrono::milliseconds> cold, bool durable);

    /// That delta is sealed: nothing is written to its data from now on. It may be removed at any
    /// time.
    void add(journal::DeltaNumber sealed) { queue_.add(sealed); }

 private:
    /// Whether to ask for that one again later.
    bool pack(journal::DeltaNumber number);

    const int deltas_;
    const journal::Checksums& sums_;
    const bool always_;
    const bool durable_;
    Reserve reserve_;
    DueQueue queue_;  // the last one: its thread uses the others
};

}  // namespace unwrite::overlay
