// Compression of single blocks (zstd, which is known here alone). What is decompressed is hostile:
// no call takes more memory than the block that it is told to expect. Thread-safe.
#pragma once

#include <memory>
#include <vector>

#include "base/syscalls.h"

namespace unwrite {

/// Compresses one block after the other; each can be decompressed without the others. One thread at
/// a time.
class BlockCompressor {
 public:
    BlockCompressor();
    ~BlockCompressor();
    BlockCompressor(const BlockCompressor&) = delete;
    BlockCompressor& operator=(const BlockCompressor&) = delete;

    /// The compressed bytes, valid until the next call. ENOMEM.
    Result<sys::ConstBytes> compress(sys::ConstBytes block);

 private:
    struct State;
    std::unique_ptr<State> state_;
};

/// The most that a block of `size` bytes can take, compressed.
std::size_t most_compressed(std::size_t size);
/// Decompresses a block that has exactly out.size() bytes; EBADMSG when `stored` is anything else.
Result<> decompress_block(sys::ConstBytes stored, sys::Bytes out);

}  // namespace unwrite
