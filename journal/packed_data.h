// A compressed data file, deltas/<N>.dat.zst: what <N>.dat held, block by block, with a table at
// its end (docs/journal-format.md). A range is read by decompressing the blocks that it touches.
// The file is trusted in nothing: no call takes more memory than the table and some blocks.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/object_key.h"
#include "base/syscalls.h"

namespace unwrite::journal {

/// The most that one block has, decompressed.
inline constexpr std::size_t kPackedBlock = std::size_t{128} << 10;
/// The most blocks that a table may have: 256 GiB where all are full.
inline constexpr std::size_t kMostPackedBlocks = std::size_t{1} << 21;

struct PackedBlock {
    std::uint64_t position = 0;  ///< where its bytes stood in <N>.dat
    std::uint64_t at = 0;        ///< where the compressed ones are
    std::uint32_t length = 0;
    std::uint32_t stored = 0;  ///< how many compressed ones there are
    std::uint32_t crc = 0;     ///< CRC-32C of the bytes as they were
};

struct PackedTable {
    std::uint64_t raw_size = 0;         ///< of <N>.dat
    std::vector<PackedBlock> blocks{};  ///< by position; between them there were holes
    ObjectKey raw_file{};               ///< <N>.dat itself: who found that takes this for it
};

/// The end of the file, after the blocks.
std::string encode_packed_table(const PackedTable& table);
/// kCorrupt, which names `name`, when the file does not end with a table that fits it.
Result<PackedTable> read_packed_table(int fd, const std::string& name);

/// Reading is thread-safe.
class PackedData {
 public:
    /// Errors as read_packed_table().
    static Result<std::unique_ptr<PackedData>> open(UniqueFd fd, std::string name);
    PackedData(const PackedData&) = delete;
    PackedData& operator=(const PackedData&) = delete;
    ~PackedData();

    const PackedTable& table() const { return table_; }
    int fd() const { return fd_.get(); }
    /// As sys::read_at() and sys::copy_bytes() of <N>.dat, and kCorrupt for a block that is not
    /// what it was; others can be read still.
    Result<std::size_t> read(sys::Bytes out, std::uint64_t position) const;
    Result<> copy(std::uint64_t position, int out, std::uint64_t offset,
                  std::uint64_t length) const;
    /// As sys::next_data() of <N>.dat.
    sys::DataRun next_data(std::uint64_t offset, std::uint64_t end) const;
    /// The bytes of one block, into `out`, which has its length.
    Result<> read_block(std::size_t index, sys::Bytes out) const;

 private:
    PackedData(UniqueFd fd, std::string name, PackedTable table);
    std::size_t first_block(std::uint64_t position) const;
    Result<std::shared_ptr<const std::vector<std::byte>>> block(std::size_t index) const;

    UniqueFd fd_;
    std::string name_;
    PackedTable table_;
};

}  // namespace unwrite::journal
