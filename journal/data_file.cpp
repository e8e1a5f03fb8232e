#include "journal/data_file.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>

#include "journal/delta_format.h"

namespace unwrite::journal {

namespace {

bool is_absent(const Error& error) {
    return error.number() == ENOENT;
}

/// In messages.
std::string shown(DeltaNumber number) {
    return "deltas/" + packed_data_name(number);
}

Error damaged(DeltaNumber number, const std::string& what) {
    return Error(ErrorKind::kCorrupt, EIO,
                 "delta " + std::to_string(number) + ": the captured bytes are damaged: " + what,
                 "run `unwrite check`");
}

// A block that was right is not read again for so long: otherwise a file that is read in small
// pieces would be read whole for each of them.
constexpr std::chrono::seconds kTrusted{60};

}  // namespace

Result<bool> DataFile::is_of(const ObjectKey& file) const {
    TRY_ASSIGN(const ObjectKey raw, raw_key());
    if (raw == file || !packed_) return raw == file;
    TRY_ASSIGN(const sys::StatX x, sys::statx_at(packed_->fd(), ""));
    return ObjectKey{x.st.st_ino, x.birth} == file;
}

Result<ObjectKey> DataFile::raw_key() const {
    if (packed_) return packed_->table().raw_file;
    TRY_ASSIGN(const sys::StatX x, sys::statx_at(raw_.get(), ""));
    return ObjectKey{x.st.st_ino, x.birth};
}

Result<std::uint64_t> DataFile::size() const {
    if (packed_) return packed_->table().raw_size;
    TRY_ASSIGN(const struct stat st, sys::stat_fd(raw_.get()));
    return static_cast<std::uint64_t>(st.st_size);
}

BlockSource DataFile::source() const {
    if (packed_) {
        return {[this](std::uint64_t offset, std::uint64_t end) {
                    return packed_->next_data(offset, end);
                },
                [this](sys::Bytes out, std::uint64_t position) -> Result<> {
                    TRY_ASSIGN(const std::size_t got, packed_->read(out, position));
                    return got == out.size() ? Result<>() : Error(EIO);
                }};
    }
    return {[this](std::uint64_t offset, std::uint64_t end) {
                return sys::next_data(raw_.get(), offset, end);
            },
            [this](sys::Bytes out, std::uint64_t position) {
                return sys::read_exactly_at(raw_.get(), out, position);
            }};
}

Result<> DataFile::set_checksums(ChecksumsPtr sums, DeltaNumber delta) {
    if (!sums) return {};
    TRY_ASSIGN(const ObjectKey key, raw_key());
    if (key != sums->file) return damaged(delta, "another file stands in their place");
    TRY_ASSIGN(const std::uint64_t now, size());
    if (now != sums->size) return damaged(delta, "there are not as many as there were");
    sums_ = std::move(sums);
    delta_ = delta;
    return {};
}

Result<> DataFile::verify(std::uint64_t position, std::uint64_t length) const {
    if (!sums_ || length == 0) return {};
    const auto is_known = [this](std::uint64_t block) {
        const std::lock_guard lock(mutex_);
        const auto found = verified_.find(block);
        return found != verified_.end() && Clock::now() - found->second < kTrusted;
    };
    const auto known = [this](std::uint64_t block) {
        const std::lock_guard lock(mutex_);
        verified_[block] = Clock::now();
    };
    const std::uint64_t end = (position + length + kChecksumBlock - 1) / kChecksumBlock;
    TRY_ASSIGN(const auto bad, find_damaged_block(source(), *sums_, position / kChecksumBlock, end,
                                                  is_known, known));
    if (!bad) return {};
    const std::uint64_t begin = *bad * kChecksumBlock;
    return damaged(delta_, "bytes " + std::to_string(begin) + " to " +
                               std::to_string(std::min(begin + kChecksumBlock, sums_->size)) +
                               " of deltas/" +
                               (packed_ ? packed_data_name(delta_) : delta_data_name(delta_)));
}

Result<ChecksumsPtr> DataFile::measure(const std::function<bool()>& stop) const {
    auto sums = std::make_shared<BlockChecksums>();
    TRY_ASSIGN(sums->file, raw_key());
    TRY_ASSIGN(sums->size, size());
    TRY_ASSIGN(const bool whole, measure_blocks(source(), *sums, stop));
    return whole ? ChecksumsPtr(std::move(sums)) : nullptr;
}

bool DataFile::is_outdated() const {
    if (!raw_) return false;
    const auto st = sys::stat_fd(raw_.get());
    return st && st->st_nlink == 0;
}

Result<std::size_t> DataFile::read(sys::Bytes out, std::uint64_t position) const {
    TRY(verify(position, out.size()));
    if (packed_) return packed_->read(out, position);
    return sys::read_at(raw_.get(), out, position);
}

Result<> DataFile::read_exactly(sys::Bytes out, std::uint64_t position) const {
    TRY_ASSIGN(const std::size_t got, read(out, position));
    if (got != out.size()) return Error(EIO);
    return {};
}

Result<> DataFile::copy(std::uint64_t position, int out, std::uint64_t offset,
                        std::uint64_t length) const {
    TRY(verify(position, length));
    if (packed_) return packed_->copy(position, out, offset, length);
    return sys::copy_bytes(raw_.get(), position, out, offset, length);
}

// The raw file goes when the compressed one has its name, and never comes back; that one goes with
// the delta alone. So in this order nothing is missed, also by who holds no lock.
Result<OpenData> open_delta_data(int deltas, DeltaNumber number, ChecksumsPtr sums) {
    std::shared_ptr<DataFile> data;
    auto raw = sys::open_at(deltas, delta_data_name(number), O_RDONLY);
    if (raw) {
        data = std::make_shared<DataFile>(*std::move(raw));
    } else {
        if (!is_absent(raw.error())) return std::move(raw).error();
        auto file = sys::open_at(deltas, packed_data_name(number), O_RDONLY);
        if (!file && is_absent(file.error())) return OpenData();
        if (!file) return std::move(file).error();
        TRY_ASSIGN(auto packed, PackedData::open(*std::move(file), shown(number)));
        data = std::make_shared<DataFile>(std::move(packed));
    }
    TRY(data->set_checksums(std::move(sums), number));
    return OpenData(std::move(data));
}

Result<std::uint64_t> delta_data_size(int deltas, DeltaNumber number) {
    const auto raw = sys::stat_at(deltas, delta_data_name(number));
    if (raw) return static_cast<std::uint64_t>(raw->st_size);
    if (!is_absent(raw.error())) return raw.error();
    const auto file = sys::open_at(deltas, packed_data_name(number), O_RDONLY);
    if (!file && is_absent(file.error())) return std::uint64_t{0};
    if (!file) return file.error();
    TRY_ASSIGN(const PackedTable table, read_packed_table(file->get(), shown(number)));
    return table.raw_size;
}

}  // namespace unwrite::journal
