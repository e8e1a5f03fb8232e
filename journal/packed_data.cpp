#include "journal/packed_data.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>

#include "base/compression.h"
#include "base/crc32c.h"
#include "journal/codec.h"

namespace unwrite::journal {

namespace {

// The table is what zstd calls a skippable frame, so that its own tools take the file.
constexpr std::uint32_t kSkippable = 0x184D2A5E;
constexpr std::size_t kSkippableHeader = 8;
constexpr std::size_t kEntry = 20;
constexpr std::size_t kFooter = 44;
constexpr std::size_t kUnchecked = 12;  // at its end: the checksum and what follows
constexpr const char* kTheTable = "the table of its blocks";
constexpr std::string_view kMagic = "UNWRZST\n";
constexpr std::uint32_t kVersion = 1;
constexpr std::uint64_t kMostRaw = std::uint64_t{1} << 63;
// As sys::copy_bytes() has it: no holes are looked for in less.
constexpr std::uint64_t kSmallCopy = std::uint64_t{128} << 10;

Error damaged(const std::string& name, const std::string& what) {
    return Error(ErrorKind::kCorrupt, EIO, "read " + name + ": " + what + " is damaged",
                 "run `unwrite check`");
}

/// What was decompressed last, of all files: most ranges are much shorter than a block, and
/// neighbours are asked for together.
class BlockCache {
 public:
    using Block = std::shared_ptr<const std::vector<std::byte>>;

    Block find(const void* file, std::size_t index) {
        const std::lock_guard lock(mutex_);
        for (auto entry = entries_.begin(); entry != entries_.end(); ++entry) {
            if (entry->file != file || entry->index != index) continue;
            std::rotate(entries_.begin(), entry, entry + 1);
            return entries_.front().block;
        }
        return nullptr;
    }
    void put(const void* file, std::size_t index, Block block) {
        const std::lock_guard lock(mutex_);
        entries_.push_front({file, index, std::move(block)});
        if (entries_.size() > kMost) entries_.pop_back();
    }
    void drop(const void* file) {
        const std::lock_guard lock(mutex_);
        std::erase_if(entries_, [&](const Entry& entry) { return entry.file == file; });
    }

 private:
    struct Entry {
        const void* file;
        std::size_t index;
        Block block;
    };
    static constexpr std::size_t kMost = 128;  // 16 MiB
    std::mutex mutex_;
    std::deque<Entry> entries_;  // guarded by mutex_; the newest first
};

BlockCache& cache() {
    static BlockCache* const the_cache = new BlockCache;  // threads may outlive main
    return *the_cache;
}

struct Footer {
    ObjectKey raw_file;
    std::uint64_t raw_size = 0;
    std::size_t count = 0;
    std::uint32_t version = 0;
    std::uint32_t crc = 0;
    bool is_one = false;
};

Footer parse_footer(sys::ConstBytes bytes) {
    Decoder in(bytes);
    Footer footer;
    footer.raw_file.ino = in.get<std::uint64_t>();
    footer.raw_file.birth = in.get<std::uint64_t>();
    footer.raw_size = in.get<std::uint64_t>();
    footer.count = in.get<std::uint32_t>();
    footer.version = in.get<std::uint32_t>();
    footer.crc = in.get<std::uint32_t>();
    footer.is_one = in.get_bytes(kMagic.size()) == kMagic && in.complete();
    return footer;
}

/// All that is not blocks. Each block has a byte at least, so this is not larger than the file says
/// by its size.
Result<std::vector<std::byte>> read_tail(int fd, std::uint64_t size, const std::string& name) {
    std::vector<std::byte> bytes(kFooter);
    if (size < kSkippableHeader + kFooter) return damaged(name, kTheTable);
    TRY(sys::read_exactly_at(fd, bytes, size - kFooter));
    const Footer footer = parse_footer(bytes);
    if (!footer.is_one || footer.count > kMostPackedBlocks) return damaged(name, kTheTable);
    const std::size_t length = kSkippableHeader + footer.count * kEntry + kFooter;
    if (size < length + footer.count) return damaged(name, kTheTable);
    bytes.resize(length);
    TRY(sys::read_exactly_at(fd, bytes, size - length));
    return bytes;
}

Result<PackedTable> parse_tail(sys::ConstBytes tail, const std::string& name) {
    const Footer footer = parse_footer(tail.last(kFooter));
    const sys::ConstBytes body = tail.subspan(kSkippableHeader);
    Decoder in(tail);
    if (body.size() != footer.count * kEntry + kFooter) return damaged(name, kTheTable);
    if (in.get<std::uint32_t>() != kSkippable || in.get<std::uint32_t>() != body.size() ||
        footer.crc != crc32c(body.first(body.size() - kUnchecked)))
        return damaged(name, kTheTable);
    if (footer.version != kVersion) {
        return Error(ErrorKind::kRecovery, EINVAL, "read " + name + ": it is of a newer version",
                     "use the program that wrote it");
    }
    PackedTable table;
    table.raw_file = footer.raw_file;
    table.raw_size = footer.raw_size;
    table.blocks.resize(footer.count);
    std::uint64_t at = 0;
    for (PackedBlock& block : table.blocks) {
        block.position = in.get<std::uint64_t>();
        block.length = in.get<std::uint32_t>();
        block.stored = in.get<std::uint32_t>();
        block.crc = in.get<std::uint32_t>();
        block.at = at;
        at += block.stored;
    }
    return table;
}

/// The blocks stand one behind the other in the file, and apart where they came from.
bool fits(const PackedTable& table, std::uint64_t blocks_end) {
    std::uint64_t at = 0;
    std::uint64_t end = 0;
    for (const PackedBlock& block : table.blocks) {
        if (block.at != at || block.stored == 0 || block.stored > most_compressed(block.length))
            return false;
        if (block.length == 0 || block.length > kPackedBlock || block.position < end) return false;
        if (block.position > table.raw_size || block.length > table.raw_size - block.position)
            return false;
        at += block.stored;
        end = block.position + block.length;
    }
    return at == blocks_end && table.raw_size < kMostRaw;
}

}  // namespace

std::string encode_packed_table(const PackedTable& table) {
    Encoder body;
    for (const PackedBlock& block : table.blocks) {
        body.put(block.position);
        body.put(block.length);
        body.put(block.stored);
        body.put(block.crc);
    }
    body.put(table.raw_file.ino);
    body.put(table.raw_file.birth);
    body.put(table.raw_size);
    body.put(static_cast<std::uint32_t>(table.blocks.size()));
    body.put(kVersion);
    body.put(crc32c(std::as_bytes(std::span(body.text()))));
    body.put_bytes(kMagic);
    Encoder out;
    out.put(kSkippable);
    out.put(static_cast<std::uint32_t>(body.text().size()));
    out.put_bytes(body.text());
    return out.text();
}

Result<PackedTable> read_packed_table(int fd, const std::string& name) {
    TRY_ASSIGN(const struct stat st, sys::stat_fd(fd));
    const auto size = static_cast<std::uint64_t>(st.st_size);
    TRY_ASSIGN(const std::vector<std::byte> tail, read_tail(fd, size, name));
    TRY_ASSIGN(PackedTable table, parse_tail(tail, name));
    if (!fits(table, size - tail.size())) return damaged(name, kTheTable);
    return table;
}

Result<std::unique_ptr<PackedData>> PackedData::open(UniqueFd fd, std::string name) {
    TRY_ASSIGN(PackedTable table, read_packed_table(fd.get(), name));
    return std::unique_ptr<PackedData>(
        new PackedData(std::move(fd), std::move(name), std::move(table)));
}

PackedData::PackedData(UniqueFd fd, std::string name, PackedTable table)
    : fd_(std::move(fd)), name_(std::move(name)), table_(std::move(table)) {}

PackedData::~PackedData() {
    cache().drop(this);
}

/// The first block that ends behind `position`.
std::size_t PackedData::first_block(std::uint64_t position) const {
    const auto found = std::partition_point(
        table_.blocks.begin(), table_.blocks.end(),
        [&](const PackedBlock& block) { return block.position + block.length <= position; });
    return static_cast<std::size_t>(found - table_.blocks.begin());
}

sys::DataRun PackedData::next_data(std::uint64_t offset, std::uint64_t end) const {
    const std::size_t first = first_block(offset);
    if (first == table_.blocks.size() || table_.blocks[first].position >= end) return {end, end};
    const PackedBlock& block = table_.blocks[first];
    return {std::max(offset, block.position), std::min(end, block.position + block.length)};
}

Result<> PackedData::read_block(std::size_t index, sys::Bytes out) const {
    const PackedBlock& block = table_.blocks[index];
    const auto memory = std::make_unique_for_overwrite<std::byte[]>(block.stored);
    const sys::Bytes stored(memory.get(), block.stored);
    TRY(sys::read_exactly_at(fd_.get(), stored, block.at));
    const Result<> whole = decompress_block(stored, out);
    if (!whole && whole.error().number() != EBADMSG) return whole;
    if (whole && crc32c(out) == block.crc) return {};
    return damaged(name_, "the block for bytes " + std::to_string(block.position) + " to " +
                              std::to_string(block.position + block.length));
}

Result<std::shared_ptr<const std::vector<std::byte>>> PackedData::block(std::size_t index) const {
    if (auto known = cache().find(this, index)) return known;
    auto bytes = std::make_shared<std::vector<std::byte>>(table_.blocks[index].length);
    TRY(read_block(index, *bytes));
    std::shared_ptr<const std::vector<std::byte>> whole = std::move(bytes);
    cache().put(this, index, whole);
    return whole;
}

Result<std::size_t> PackedData::read(sys::Bytes out, std::uint64_t position) const {
    if (position >= table_.raw_size || out.empty()) return std::size_t{0};
    const auto size =
        static_cast<std::size_t>(std::min<std::uint64_t>(out.size(), table_.raw_size - position));
    const std::uint64_t end = position + size;
    std::ranges::fill(out.first(size), std::byte{0});
    for (std::size_t i = first_block(position);
         i < table_.blocks.size() && table_.blocks[i].position < end; ++i) {
        const PackedBlock& here = table_.blocks[i];
        const std::uint64_t begin = std::max(position, here.position);
        const std::uint64_t stop = std::min(end, here.position + here.length);
        TRY_ASSIGN(const auto bytes, block(i));
        std::memcpy(out.data() + (begin - position), bytes->data() + (begin - here.position),
                    static_cast<std::size_t>(stop - begin));
    }
    return size;
}

Result<> PackedData::copy(std::uint64_t position, int out, std::uint64_t offset,
                          std::uint64_t length) const {
    if (length > table_.raw_size || position > table_.raw_size - length) return Error(EIO);
    if (length <= kSmallCopy) {
        std::vector<std::byte> bytes(static_cast<std::size_t>(length));
        TRY(read(bytes, position));
        return sys::write_all_at(out, bytes, offset);
    }
    TRY_ASSIGN(const struct stat target, sys::stat_fd(out));
    const auto out_size = static_cast<std::uint64_t>(target.st_size);
    const std::uint64_t end = position + length;
    // Where nothing was, and beyond the end of `out`, nothing is written.
    const auto make_hole = [&](std::uint64_t begin, std::uint64_t stop) -> Result<> {
        const std::uint64_t to = offset + (begin - position);
        if (begin >= stop || to >= out_size) return {};
        return sys::write_zeros(out, to, std::min(stop - begin, out_size - to));
    };
    std::uint64_t done = position;
    for (std::size_t i = first_block(position);
         i < table_.blocks.size() && table_.blocks[i].position < end; ++i) {
        const PackedBlock& here = table_.blocks[i];
        const std::uint64_t begin = std::max(position, here.position);
        const std::uint64_t stop = std::min(end, here.position + here.length);
        TRY(make_hole(done, begin));
        TRY_ASSIGN(const auto bytes, block(i));
        TRY(sys::write_all_at(
            out,
            sys::ConstBytes(*bytes).subspan(static_cast<std::size_t>(begin - here.position),
                                            static_cast<std::size_t>(stop - begin)),
            offset + (begin - position)));
        done = stop;
    }
    TRY(make_hole(done, end));
    // The size is grown as sys::copy_bytes() does.
    if (done == end || offset + length <= out_size) return {};
    constexpr std::byte kZero{0};
    return sys::write_all_at(out, sys::ConstBytes(&kZero, 1), offset + length - 1);
}

}  // namespace unwrite::journal
