#include "journal/block_checksums.h"

#include <algorithm>

#include "base/crc32c.h"
#include "journal/codec.h"

namespace unwrite::journal {

namespace {

constexpr std::uint64_t kMostSize = std::uint64_t{1} << 62;

std::uint64_t blocks_in(std::uint64_t size) {
    return (size + kChecksumBlock - 1) / kChecksumBlock;
}

/// The bytes of one block.
Result<sys::ConstBytes> read_block(const BlockSource& source, const BlockChecksums& sums,
                                   std::uint64_t block, std::vector<std::byte>& buffer) {
    const std::uint64_t begin = block * kChecksumBlock;
    const std::uint64_t length = std::min(kChecksumBlock, sums.size - begin);
    if (buffer.size() < length) buffer.resize(static_cast<std::size_t>(length));
    const sys::Bytes bytes = sys::Bytes(buffer).first(static_cast<std::size_t>(length));
    TRY(source.read_exactly(bytes, begin));
    return sys::ConstBytes(bytes);
}

bool is_zero(sys::ConstBytes bytes) {
    return std::ranges::all_of(bytes, [](std::byte byte) { return byte == std::byte{0}; });
}

/// The first block from `block` on that has a checksum, or else bytes; `end` when there is none.
std::uint64_t next_block(const BlockSource& source, const BlockChecksums& sums, std::uint64_t block,
                         std::uint64_t end) {
    if (block >= end || sums.of(block)) return block;
    const auto run = std::ranges::upper_bound(sums.runs, block, {}, &BlockChecksums::Run::first);
    const std::uint64_t stop = run == sums.runs.end() ? end : std::min(end, run->first);
    const std::uint64_t stop_byte = std::min(stop * kChecksumBlock, sums.size);
    const sys::DataRun data = source.next_data(block * kChecksumBlock, stop_byte);
    return data.begin >= stop_byte ? stop : data.begin / kChecksumBlock;
}

}  // namespace

std::optional<std::uint32_t> BlockChecksums::of(std::uint64_t block) const {
    const auto behind = std::ranges::upper_bound(runs, block, {}, &Run::first);
    if (behind == runs.begin()) return std::nullopt;
    const Run& run = *std::prev(behind);
    if (block >= run.end()) return std::nullopt;
    return run.checksums[static_cast<std::size_t>(block - run.first)];
}

Result<bool> measure_blocks(const BlockSource& source, BlockChecksums& sums,
                            const std::function<bool()>& stop) {
    sums.runs.clear();
    std::vector<std::byte> buffer;
    std::uint64_t count = 0;
    for (std::uint64_t at = 0; at < sums.size;) {
        const sys::DataRun data = source.next_data(at, sums.size);
        std::uint64_t block = std::max(at, data.begin) / kChecksumBlock;
        for (; block * kChecksumBlock < data.finish; ++block) {
            if (stop && stop()) return false;
            if (++count > kMostChecksums) return false;
            TRY_ASSIGN(const sys::ConstBytes bytes, read_block(source, sums, block, buffer));
            if (sums.runs.empty() || sums.runs.back().end() != block)
                sums.runs.push_back({block, {}});
            sums.runs.back().checksums.push_back(crc32c(bytes));
        }
        at = std::max(data.finish, block * kChecksumBlock);
    }
    return true;
}

Result<std::optional<std::uint64_t>> find_damaged_block(
    const BlockSource& source, const BlockChecksums& sums, std::uint64_t first, std::uint64_t end,
    const std::function<bool(std::uint64_t)>& is_known,
    const std::function<void(std::uint64_t)>& known) {
    std::vector<std::byte> buffer;
    end = std::min(end, blocks_in(sums.size));
    for (std::uint64_t block = next_block(source, sums, first, end); block < end;
         block = next_block(source, sums, block + 1, end)) {
        if (is_known(block)) continue;
        TRY_ASSIGN(const sys::ConstBytes bytes, read_block(source, sums, block, buffer));
        const std::optional<std::uint32_t> was = sums.of(block);
        if (was ? crc32c(bytes) != *was : !is_zero(bytes)) return std::optional(block);
        known(block);
    }
    return std::optional<std::uint64_t>();
}

std::string encode_checksums(const BlockChecksums& sums) {
    Encoder out;
    out.put(sums.file);
    out.put(sums.size);
    out.put(static_cast<std::uint32_t>(sums.runs.size()));
    for (const BlockChecksums::Run& run : sums.runs) {
        out.put(run.first);
        out.put(static_cast<std::uint32_t>(run.checksums.size()));
        for (const std::uint32_t one : run.checksums)
            out.put(one);
    }
    return out.text();
}

std::optional<BlockChecksums> decode_checksums(sys::ConstBytes bytes) {
    Decoder in(bytes);
    BlockChecksums sums;
    sums.file = in.get_key();
    sums.size = in.get<std::uint64_t>();
    const auto runs = in.get<std::uint32_t>();
    if (in.failed() || sums.size > kMostSize) return std::nullopt;
    std::uint64_t free_from = 0;  // no run begins before this block
    std::uint64_t left = std::min(kMostChecksums, blocks_in(sums.size));
    for (std::uint32_t i = 0; i < runs && !in.failed(); ++i) {
        BlockChecksums::Run run;
        run.first = in.get<std::uint64_t>();
        const auto count = in.get<std::uint32_t>();
        // No number is believed before there are that many bytes.
        if (in.failed() || count == 0 || count > left || run.first < free_from ||
            run.first > blocks_in(sums.size) - count || std::uint64_t{count} * 4 > bytes.size())
            return std::nullopt;
        run.checksums.resize(count);
        for (std::uint32_t& one : run.checksums)
            one = in.get<std::uint32_t>();
        left -= count;
        free_from = run.end();
        sums.runs.push_back(std::move(run));
    }
    if (!in.complete()) return std::nullopt;
    return sums;
}

}  // namespace unwrite::journal
