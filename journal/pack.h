// Packing: the data of a cold delta is written again, compressed, beside what it was, and then that
// goes (docs/decisions/0026). Nobody waits for it and it holds no lock: whoever has the raw file
// open goes on with it, and whoever opens the data later finds the one or the other. Nothing is
// removed before what was written was read again and is the same.
#pragma once

#include <functional>

#include "journal/checksums.h"

namespace unwrite::journal {

struct PackRequest {
    bool durable = false;            ///< the names, too, survive a power cut before anything goes
    std::uint64_t least = 64 << 10;  ///< bytes; what is smaller is left alone
    bool always = false;             ///< however small, and whether it shrinks or not; for tests
    std::function<bool()> stop{};    ///< asked every some milliseconds; may be empty
    ChecksumsPtr sums{};             ///< what does not fit them is not compressed: kCorrupt
};

enum class Packed {
    kDone,
    kNotWorth,  ///< small, or would not shrink by a tenth, or there is nothing: not to be asked
                ///< again
    kShared,    ///< another delta has the same file, or a file the same blocks: nothing is won now
    kStopped,
};

/// Of a delta that is sealed: nothing is ever written to its data again. One call at a time. An
/// error leaves everything as it was; ENOSPC is one.
Result<Packed> pack_delta_data(int deltas, DeltaNumber number, const PackRequest& request);
/// What a kill left, for the writer before it packs anything: what is unfinished, and what is
/// compressed where the raw file is there still.
Result<> remove_pack_leftovers(int deltas);
/// Reads every block of the data again that has a checksum: those of `sums`, and the file's own
/// when it is compressed. What is damaged, in words.
Result<std::vector<std::string>> captured_problems(int deltas, DeltaNumber number,
                                                   const ChecksumsPtr& sums);

}  // namespace unwrite::journal
