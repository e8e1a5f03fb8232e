// Seals: what the files of a delta were when its interval ended. The store keeps them, so a log
// that is missing, shorter, or another one is found before anything is taken back with it, and is
// never taken for an empty interval.
#pragma once

#include <functional>
#include <vector>

#include "journal/images.h"

namespace unwrite::journal {

struct DeltaSeal {
    DeltaNumber delta = 0;
    std::uint64_t log_size = 0;  ///< 0: the interval was empty, and there is no log
    std::uint32_t log_crc = 0;   ///< CRC-32C of the whole log
    std::uint64_t data_size = 0;
    bool operator==(const DeltaSeal&) const = default;
};

/// A checksum of the seal itself, for whoever stores it.
std::uint32_t checksum_of(const DeltaSeal& seal);

/// Of the files as they are now; kCorrupt where they cannot be read as a delta.
Result<DeltaSeal> measure_delta(int deltas, DeltaNumber number);
/// `log` is the text of the delta's log. kCorrupt when it is none of those that were sealed; the
/// same when the data file is shorter than it was.
Result<> check_seal(int deltas, DeltaNumber number, const std::string& log,
                    const std::vector<DeltaSeal>& seals);

/// Is told what a log will be before it is written anew, so that no kill leaves one without a seal.
using NoteSeal = std::function<Result<>(const DeltaSeal&)>;

}  // namespace unwrite::journal
