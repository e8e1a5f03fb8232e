// Checksummer: gives the captured bytes of sealed intervals their checksums (journal/checksums.h),
// in its own thread, some time after the seal. Neither writers nor seals wait for it.
// Thread-safe.
#pragma once

#include <chrono>
#include <optional>

#include "journal/data_file.h"
#include "journal/journal.h"
#include "overlay/due_queue.h"

namespace unwrite::overlay {

class Checksummer {
 public:
    /// `journal` outlives this. `after`: how long after the seal; without it none are made.
    Checksummer(journal::Journal& journal, std::optional<std::chrono::milliseconds> after);

    /// That delta is sealed: nothing is written to its data from now on. It may be removed at any
    /// time.
    void add(journal::DeltaNumber sealed);

 private:
    bool measure(journal::DeltaNumber number);
    Result<journal::ChecksumsPtr> sums_of(const journal::DataFile& data);

    journal::Journal& journal_;
    DueQueue queue_;  // the last one: its thread uses the others
};

}  // namespace unwrite::overlay
