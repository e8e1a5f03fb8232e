// The watermark: how far the journal is certainly on the disk (durability "ordered"). Everything
// that was captured before `time_ns` is, with all states up to `node` and their files. What is
// younger may be missing after a power cut, in any mixture.
//
// It is a file of two halves, written in turn, so that one of them is whole at any time.
#pragma once

#include <sys/stat.h>

#include <optional>
#include <vector>

#include "journal/images.h"

namespace unwrite::journal {

struct Watermark {
    std::uint64_t sequence = 0;  ///< the higher one counts
    std::int64_t time_ns = 0;    ///< wall clock
    DeltaNumber delta = 0;       ///< of the open interval then, and how much of its files
    std::uint64_t log_end = 0;
    std::uint64_t data_end = 0;
    NodeNumber node = 0;  ///< the newest state whose files are on the disk
    bool ended = false;   ///< nothing changed afterwards: the mount ended
};

/// Nothing where there is none, or none that is whole.
Result<std::optional<Watermark>> read_watermark(int state);
/// On the disk when this returns.
Result<> write_watermark(int state, const Watermark& mark);
/// Durably: for a life that keeps none.
Result<> remove_watermark(int state);

/// It was changed, or got or lost a name, behind the watermark.
inline bool is_late(const struct stat& st, const Watermark& mark) {
    return std::int64_t{st.st_ctim.tv_sec} * 1'000'000'000 + st.st_ctim.tv_nsec > mark.time_ns;
}

/// A power cut came after this, and what is younger is not proved.
struct Cut {
    Watermark mark{};
    /// Objects of the attic that changed after it.
    std::vector<ObjectKey> late{};
    /// States whose records did not all reach the disk.
    std::vector<NodeNumber> broken{};
};

}  // namespace unwrite::journal
