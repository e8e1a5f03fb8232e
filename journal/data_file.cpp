#include "journal/data_file.h"

#include <fcntl.h>

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

}  // namespace

Result<bool> DataFile::is_of(const ObjectKey& file) const {
    if (packed_ && packed_->table().raw_file == file) return true;
    TRY_ASSIGN(const sys::StatX x, sys::statx_at(packed_ ? packed_->fd() : raw_.get(), ""));
    return ObjectKey{x.st.st_ino, x.birth} == file;
}

bool DataFile::is_outdated() const {
    if (!raw_) return false;
    const auto st = sys::stat_fd(raw_.get());
    return st && st->st_nlink == 0;
}

Result<std::size_t> DataFile::read(sys::Bytes out, std::uint64_t position) const {
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
    if (packed_) return packed_->copy(position, out, offset, length);
    return sys::copy_bytes(raw_.get(), position, out, offset, length);
}

// The raw file goes when the compressed one has its name, and never comes back; that one goes with
// the delta alone. So in this order nothing is missed, also by who holds no lock.
Result<OpenData> open_delta_data(int deltas, DeltaNumber number) {
    auto raw = sys::open_at(deltas, delta_data_name(number), O_RDONLY);
    if (raw) return std::make_shared<const DataFile>(*std::move(raw));
    if (!is_absent(raw.error())) return std::move(raw).error();
    auto file = sys::open_at(deltas, packed_data_name(number), O_RDONLY);
    if (!file && is_absent(file.error())) return OpenData();
    if (!file) return std::move(file).error();
    TRY_ASSIGN(auto packed, PackedData::open(*std::move(file), shown(number)));
    return std::make_shared<const DataFile>(std::move(packed));
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
