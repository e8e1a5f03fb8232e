#include "journal/pack.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>

#include "base/compression.h"
#include "base/crash_point.h"
#include "base/crc32c.h"
#include "base/reflink.h"
#include "journal/data_file.h"
#include "journal/delta_format.h"
#include "journal/delta_log.h"
#include "journal/frames.h"
#include "journal/packed_data.h"

namespace unwrite::journal {

namespace {

// Written back bit by bit: one long fsync would have others' wait behind it.
constexpr std::uint64_t kSyncEach = std::uint64_t{8} << 20;
// After so much it is known whether the rest is worth reading.
constexpr std::uint64_t kSample = std::uint64_t{32} << 20;

class Packing {
 public:
    Packing(int deltas, DeltaNumber number, const PackRequest& request)
        : deltas_(deltas), number_(number), request_(request) {}

    Result<Packed> run() {
        TRY_ASSIGN(const Packed found, look());
        if (found != Packed::kDone) return found;
        TRY(check_before());
        const auto packed = pack();
        if (!packed || *packed != Packed::kDone)
            ignore(remove_whole(deltas_, unfinished()), "the next writer removes it");
        return packed;
    }

 private:
    std::string unfinished() const { return unfinished_pack_name(number_); }
    bool is_stopped() const { return (request_.stop && request_.stop()) || is_in_vain(); }
    bool is_in_vain() const;
    Result<Packed> look();
    Result<> check_before() const;
    Result<Packed> pack();
    Result<Packed> write_run(sys::DataRun run);
    Result<> write_block(std::uint64_t position, std::size_t length);
    bool is_worth(std::uint64_t read) const;
    Result<> finish_file();
    Result<Packed> verify();
    Result<bool> is_as_it_was() const;
    Result<Packed> install();

    const int deltas_;
    const DeltaNumber number_;
    const PackRequest& request_;
    UniqueFd raw_;
    struct stat raw_stat_ {};
    std::uint64_t most_ = 0;  // bytes that the result may have
    UniqueFd out_;
    std::uint64_t end_ = 0;     // of what is written
    std::uint64_t synced_ = 0;  // of it
    PackedTable table_;
    BlockCompressor compressor_;
    std::vector<std::byte> buffer_;
};

/// kDone: it may be worth it.
Result<Packed> Packing::look() {
    auto raw = sys::open_at(deltas_, delta_data_name(number_), O_RDONLY);
    if (!raw && raw.error().number() == ENOENT) return Packed::kNotWorth;
    if (!raw) return std::move(raw).error();
    raw_ = *std::move(raw);
    TRY_ASSIGN(const sys::StatX x, sys::statx_at(raw_.get(), ""));
    raw_stat_ = x.st;
    table_.raw_file = {x.st.st_ino, x.birth};
    if (raw_stat_.st_nlink > 1) return Packed::kShared;
    table_.raw_size = static_cast<std::uint64_t>(raw_stat_.st_size);
    if (request_.always) most_ = ~std::uint64_t{0};
    if (request_.always) return Packed::kDone;
    const auto allocated = static_cast<std::uint64_t>(raw_stat_.st_blocks) * 512;
    if (std::min(table_.raw_size, allocated) < request_.least) return Packed::kNotWorth;
    // Blocks that a file of the workspace has as well take no space, until that is overwritten (and
    // written back).
    TRY_ASSIGN(const std::uint64_t own, sys::own_bytes(raw_.get()));
    if (own < request_.least) return Packed::kShared;
    most_ = own - own / 10;
    return Packed::kDone;
}

// Else the damage would get checksums of its own.
Result<> Packing::check_before() const {
    if (!request_.sums) return {};
    TRY_ASSIGN(UniqueFd fd, sys::duplicate(raw_.get()));
    DataFile data(std::move(fd));
    TRY(data.set_checksums(request_.sums, number_));
    return data.verify(0, table_.raw_size);
}

Result<Packed> Packing::pack() {
    TRY_ASSIGN(out_,
               sys::open_at(deltas_, unfinished(), O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW, 0600));
    crash_point("pack.begun");
    for (std::uint64_t at = 0; at < table_.raw_size;) {
        const sys::DataRun run = sys::next_data(raw_.get(), at, table_.raw_size);
        TRY_ASSIGN(const Packed written, write_run(run));
        if (written != Packed::kDone) return written;
        at = run.finish;
    }
    TRY(finish_file());
    if (end_ > most_) return Packed::kNotWorth;
    crash_point("pack.written");
    TRY_ASSIGN(const Packed verified, verify());
    if (verified != Packed::kDone) return verified;
    crash_point("pack.verified");
    return install();
}

Result<Packed> Packing::write_run(sys::DataRun run) {
    for (std::uint64_t at = run.begin; at < run.finish;) {
        if (is_stopped()) return Packed::kStopped;
        const auto length =
            static_cast<std::size_t>(std::min<std::uint64_t>(kPackedBlock, run.finish - at));
        if (table_.blocks.size() == kMostPackedBlocks) return Packed::kNotWorth;
        TRY(write_block(at, length));
        at += length;
        if (!is_worth(at)) return Packed::kNotWorth;
    }
    return Packed::kDone;
}

Result<> Packing::write_block(std::uint64_t position, std::size_t length) {
    if (buffer_.size() < length) buffer_.resize(length);
    const sys::Bytes bytes = sys::Bytes(buffer_).first(length);
    TRY(sys::read_exactly_at(raw_.get(), bytes, position));
    TRY_ASSIGN(const sys::ConstBytes stored, compressor_.compress(bytes));
    TRY(sys::write_all_at(out_.get(), stored, end_));
    table_.blocks.push_back({position, end_, static_cast<std::uint32_t>(length),
                             static_cast<std::uint32_t>(stored.size()), crc32c(bytes)});
    end_ += stored.size();
    if (end_ - synced_ < kSyncEach) return {};
    synced_ = end_;
    return sys::sync_data(out_.get());
}

bool Packing::is_worth(std::uint64_t read) const {
    if (request_.always) return true;
    return end_ <= most_ && (read < kSample || end_ <= read - read / 20);
}

// To the disk in any case: what was captured long ago is safe from a power cut by now, and so is to
// be what takes its place. The raw file first, for when both are found, it counts.
Result<> Packing::finish_file() {
    TRY(sys::sync(raw_.get()));
    const std::string tail = encode_packed_table(table_);
    TRY(sys::write_all_at(out_.get(), std::as_bytes(std::span(tail)), end_));
    end_ += tail.size();
    return sys::sync(out_.get());
}

// Through the name and the table, as who reads it later will.
Result<Packed> Packing::verify() {
    TRY_ASSIGN(UniqueFd file, sys::open_at(deltas_, unfinished(), O_RDONLY | O_NOFOLLOW));
    TRY_ASSIGN(const auto packed, PackedData::open(std::move(file), unfinished()));
    const Error differs(
        ErrorKind::kCorrupt, EIO,
        "compress " + delta_data_name(number_) + ": it does not come back the same");
    std::vector<std::byte> again(kPackedBlock);
    std::uint64_t end = 0;
    for (std::size_t i = 0; i < packed->table().blocks.size(); ++i) {
        if (is_stopped()) return Packed::kStopped;
        const PackedBlock& block = packed->table().blocks[i];
        const sys::Bytes was = sys::Bytes(buffer_).first(block.length);
        const sys::Bytes is = sys::Bytes(again).first(block.length);
        TRY(sys::read_exactly_at(raw_.get(), was, block.position));
        TRY(packed->read_block(i, is));
        if (std::memcmp(was.data(), is.data(), was.size()) != 0) return differs;
        if (sys::next_data(raw_.get(), end, block.position).begin != block.position) return differs;
        end = block.position + block.length;
    }
    const bool rest_is_hole =
        sys::next_data(raw_.get(), end, table_.raw_size).begin == table_.raw_size;
    TRY_ASSIGN(const bool same, is_as_it_was());
    if (packed->table().raw_size != table_.raw_size ||
        packed->table().raw_file != table_.raw_file || !rest_is_hole || !same)
        return differs;
    return Packed::kDone;
}

// Removed, and held on the disk by this alone, or another delta's as well since.
bool Packing::is_in_vain() const {
    const auto now = sys::stat_fd(raw_.get());
    return !now || now->st_nlink != 1;
}

Result<bool> Packing::is_as_it_was() const {
    TRY_ASSIGN(const struct stat now, sys::stat_fd(raw_.get()));
    return now.st_size == raw_stat_.st_size && now.st_mtim.tv_sec == raw_stat_.st_mtim.tv_sec &&
           now.st_mtim.tv_nsec == raw_stat_.st_mtim.tv_nsec;
}

// Who removes a delta removes its log first and this name last. So when the log is there after the
// name was made, whoever removes the delta will remove this as well; when not, it is done here.
Result<Packed> Packing::install() {
    const auto raw = sys::stat_at(deltas_, delta_data_name(number_));
    if (!raw || raw->st_ino != raw_stat_.st_ino) return Packed::kNotWorth;
    TRY(sys::rename(deltas_, unfinished(), deltas_, packed_data_name(number_)));
    crash_point("pack.renamed");
    const auto log = sys::stat_at(deltas_, delta_log_name(number_));
    if (!log && log.error().number() == ENOENT) {
        TRY(remove_whole(deltas_, packed_data_name(number_)));
        return Packed::kNotWorth;
    }
    if (request_.durable) TRY(sys::sync(deltas_));
    crash_point("pack.synced");
    TRY(remove_whole(deltas_, delta_data_name(number_)));
    crash_point("pack.raw-removed");
    return Packed::kDone;
}

}  // namespace

Result<Packed> pack_delta_data(int deltas, DeltaNumber number, const PackRequest& request) {
    auto packed = Packing(deltas, number, request).run();
    if (!packed) return packed.error().with_context("compress delta " + std::to_string(number));
    return packed;
}

// The raw file is what was captured; the other one may not have reached the disk before a power
// cut.
Result<> remove_pack_leftovers(int deltas) {
    TRY_ASSIGN(const UniqueFd fd, sys::open_at(deltas, ".", O_RDONLY | O_DIRECTORY));
    TRY_ASSIGN(const auto entries, sys::read_directory(fd.get()));
    std::set<std::string> names;
    for (const auto& entry : entries)
        names.insert(entry.name);
    // As a rule none of them, so nothing else is asked of the filesystem for each delta.
    TRY_ASSIGN(const auto numbers, list_deltas(deltas));
    for (const DeltaNumber number : numbers) {
        const std::string packed = packed_data_name(number);
        const std::string unfinished = unfinished_pack_name(number);
        if (names.contains(unfinished)) TRY(remove_whole(deltas, unfinished));
        if (names.contains(packed) && names.contains(delta_data_name(number)))
            TRY(remove_whole(deltas, packed));
    }
    return {};
}

namespace {

Result<std::vector<std::string>> packed_problems(int deltas, DeltaNumber number) {
    std::vector<std::string> problems;
    auto file = sys::open_at(deltas, packed_data_name(number), O_RDONLY);
    if (!file && file.error().number() == ENOENT) return problems;
    if (!file) return std::move(file).error();
    const auto packed = PackedData::open(*std::move(file), "deltas/" + packed_data_name(number));
    if (!packed) {
        problems.push_back(packed.error().message());
        return problems;
    }
    std::vector<std::byte> bytes(kPackedBlock);
    for (std::size_t i = 0; i < (*packed)->table().blocks.size(); ++i) {
        const std::size_t length = (*packed)->table().blocks[i].length;
        const Result<> whole = (*packed)->read_block(i, sys::Bytes(bytes).first(length));
        if (!whole) problems.push_back(whole.error().message());
    }
    return problems;
}

}  // namespace

Result<std::vector<std::string>> captured_problems(int deltas, DeltaNumber number,
                                                   const ChecksumsPtr& sums) {
    TRY_ASSIGN(std::vector<std::string> problems, packed_problems(deltas, number));
    if (!problems.empty() || !sums) return problems;
    const auto data = open_delta_data(deltas, number, sums);
    const auto whole =
        data ? (*data ? (*data)->verify(0, sums->size) : Result<>()) : Result<>(data.error());
    if (whole) return problems;
    if (whole.error().kind() != ErrorKind::kCorrupt) return whole.error();
    problems.push_back(whole.error().message());
    return problems;
}

}  // namespace unwrite::journal
