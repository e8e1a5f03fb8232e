// A file with captured bytes, open: what a delta's content images had, whether it lies in <N>.dat
// or, compressed since it is cold, in <N>.dat.zst. It stays readable whatever becomes of the names.
// Who reads those of many deltas has them from a pool (delta_data.h).
#pragma once

#include <memory>

#include "journal/images.h"
#include "journal/packed_data.h"

namespace unwrite::journal {

/// Reading is thread-safe.
class DataFile {
 public:
    /// One that holds the bytes as they are.
    explicit DataFile(UniqueFd raw) : raw_(std::move(raw)) {}
    explicit DataFile(std::unique_ptr<PackedData> packed) : packed_(std::move(packed)) {}

    /// It is that file, or was made from it.
    Result<bool> is_of(const ObjectKey& file) const;
    /// True for a raw one that has no name any more: the bytes may be compressed meanwhile, and
    /// whoever keeps this open keeps the space.
    bool is_outdated() const;

    /// May be short at the end.
    Result<std::size_t> read(sys::Bytes out, std::uint64_t position) const;
    Result<> read_exactly(sys::Bytes out, std::uint64_t position) const;  ///< EIO when shorter
    /// As sys::copy_bytes().
    Result<> copy(std::uint64_t position, int out, std::uint64_t offset,
                  std::uint64_t length) const;

 private:
    UniqueFd raw_;
    std::unique_ptr<PackedData> packed_;
};
/// An open file, for as long as this is kept.
using OpenData = std::shared_ptr<const DataFile>;

/// That of a delta; null (not an error) when it has none. kCorrupt when it is damaged.
Result<OpenData> open_delta_data(int deltas, DeltaNumber number);
/// How many bytes there are to read, holes included. kCorrupt where that cannot be told.
Result<std::uint64_t> delta_data_size(int deltas, DeltaNumber number);

}  // namespace unwrite::journal
