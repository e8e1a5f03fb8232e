// Checksums of captured bytes, block by block: what the data file of an interval held when it was
// finished. A bit that a disk flips later, and a file that stands where another one belongs, are
// found with them (docs/decisions/0084). Holes have none: what was a hole is to read as zeros.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/object_key.h"
#include "base/syscalls.h"

namespace unwrite::journal {

/// A block begins at each multiple of this, in bytes.
inline constexpr std::uint64_t kChecksumBlock = std::uint64_t{128} << 10;
/// The most blocks that have checksums: 256 GiB of data. A file with more has none.
inline constexpr std::uint64_t kMostChecksums = std::uint64_t{1} << 21;

struct BlockChecksums {
    /// Neighbouring blocks: CRC-32C of each; the last block of the file may be short.
    struct Run {
        std::uint64_t first = 0;  ///< number of the first block
        std::vector<std::uint32_t> checksums{};
        std::uint64_t end() const { return first + checksums.size(); }
        bool operator==(const Run&) const = default;
    };
    ObjectKey file{};        ///< <N>.dat as it was captured, whether it was compressed since or not
    std::uint64_t size = 0;  ///< of it, in bytes
    std::vector<Run> runs{};  ///< by block; between them were holes

    /// Nothing: the block was a hole.
    std::optional<std::uint32_t> of(std::uint64_t block) const;
    bool operator==(const BlockChecksums&) const = default;
};

/// How bytes are had of whatever holds them now.
struct BlockSource {
    std::function<sys::DataRun(std::uint64_t offset, std::uint64_t end)> next_data;
    std::function<Result<>(sys::Bytes out, std::uint64_t position)> read_exactly;
};

/// Reads all of it: `sums.file` and `sums.size` are given, the runs are filled in. False: `stop`
/// said so (asked before each block), or there are too many blocks.
Result<bool> measure_blocks(const BlockSource& source, BlockChecksums& sums,
                            const std::function<bool()>& stop);
/// The first block in [first, end) that is not what it was; nothing when all are. `is_known` says
/// of a block that it need not be read; `known` is told of each that was read and is right.
Result<std::optional<std::uint64_t>> find_damaged_block(
    const BlockSource& source, const BlockChecksums& sums, std::uint64_t first, std::uint64_t end,
    const std::function<bool(std::uint64_t)>& is_known,
    const std::function<void(std::uint64_t)>& known);

/// As it is stored; checked by whoever stores it. `decode` takes any bytes, and gives nothing for
/// what encode() did not write.
std::string encode_checksums(const BlockChecksums& sums);
std::optional<BlockChecksums> decode_checksums(sys::ConstBytes bytes);

}  // namespace unwrite::journal
