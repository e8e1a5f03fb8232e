// A file with captured bytes, open: what a delta's content images had, whether it lies in <N>.dat
// or, compressed since it is cold, in <N>.dat.zst. It stays readable whatever becomes of the names.
// Who reads those of many deltas has them from a pool (delta_data.h).
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "journal/checksums.h"
#include "journal/packed_data.h"

namespace unwrite::journal {

/// Reading is thread-safe. Of one that has checksums nothing is given that does not fit them:
/// kCorrupt instead.
class DataFile {
 public:
    /// One that holds the bytes as they are.
    explicit DataFile(UniqueFd raw) : raw_(std::move(raw)) {}
    explicit DataFile(std::unique_ptr<PackedData> packed) : packed_(std::move(packed)) {}

    /// Before it is shared: from now on the bytes are compared with these. `delta` is for messages.
    /// kCorrupt when they are of another file, or of one of another size. Null ones are nothing.
    Result<> set_checksums(ChecksumsPtr sums, DeltaNumber delta);

    /// It is that file, or was made from it.
    Result<bool> is_of(const ObjectKey& file) const;
    /// The raw file, also of one that was made from it.
    Result<ObjectKey> raw_key() const;
    /// True for a raw one that has no name any more: the bytes may be compressed meanwhile, and
    /// whoever keeps this open keeps the space.
    bool is_outdated() const;

    /// May be short at the end.
    Result<std::size_t> read(sys::Bytes out, std::uint64_t position) const;
    Result<> read_exactly(sys::Bytes out, std::uint64_t position) const;  ///< EIO when shorter
    /// As sys::copy_bytes().
    Result<> copy(std::uint64_t position, int out, std::uint64_t offset,
                  std::uint64_t length) const;
    /// Reads these bytes and compares them, where there are checksums.
    Result<> verify(std::uint64_t position, std::uint64_t length) const;
    /// The checksums of all there is, whether it has some or not. Null: as measure_blocks().
    Result<ChecksumsPtr> measure(const std::function<bool()>& stop) const;

 private:
    using Clock = std::chrono::steady_clock;
    BlockSource source() const;
    Result<std::uint64_t> size() const;

    UniqueFd raw_;
    std::unique_ptr<PackedData> packed_;
    ChecksumsPtr sums_{};
    DeltaNumber delta_ = 0;
    mutable std::mutex mutex_;
    /// Blocks that were right, and when that was seen; guarded by mutex_.
    mutable std::unordered_map<std::uint64_t, Clock::time_point> verified_;
};
/// An open file, for as long as this is kept.
using OpenData = std::shared_ptr<const DataFile>;

/// That of a delta; null (not an error) when it has none. kCorrupt when it is damaged, or not what
/// the checksums are of.
Result<OpenData> open_delta_data(int deltas, DeltaNumber number, ChecksumsPtr sums = nullptr);
/// How many bytes there are to read, holes included. kCorrupt where that cannot be told.
Result<std::uint64_t> delta_data_size(int deltas, DeltaNumber number);

}  // namespace unwrite::journal
