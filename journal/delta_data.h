// The bytes of a delta's content images, whether they lie in <N>.dat or, compressed since it is
// cold, in <N>.dat.zst. Once opened it stays readable whatever becomes of the files. Reading is
// thread-safe.
#pragma once

#include <optional>

#include "journal/images.h"
#include "journal/packed_data.h"

namespace unwrite::journal {

class DeltaData {
 public:
    /// Nothing: no byte can be read.
    DeltaData() = default;
    /// A file that holds the bytes as they are.
    explicit DeltaData(UniqueFd raw) : raw_(std::move(raw)) {}
    explicit DeltaData(std::unique_ptr<PackedData> packed) : packed_(std::move(packed)) {}
    /// A damaged one: whoever reads gets this error, nobody else.
    explicit DeltaData(Error damage) : damage_(std::move(damage)) {}

    explicit operator bool() const { return raw_ || packed_ || damage_; }
    /// True when the file that is open has no name any more; the bytes may be compressed meanwhile,
    /// and whoever keeps this open keeps the space.
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
    std::optional<Error> damage_;
};

/// The data of a delta; nothing (not an error) when it has none.
Result<DeltaData> open_delta_data(int deltas, DeltaNumber number);
/// How many bytes there are to read, holes included. kCorrupt where that cannot be told.
Result<std::uint64_t> delta_data_size(int deltas, DeltaNumber number);

}  // namespace unwrite::journal
