#include "base/compression.h"

#include <zstd.h>

#include <cerrno>

namespace unwrite {

namespace {

// What the background has time for; decompression costs the same at any level.
constexpr int kLevel = 6;

struct Free {
    void operator()(ZSTD_CCtx* context) const { ::ZSTD_freeCCtx(context); }
    void operator()(ZSTD_DCtx* context) const { ::ZSTD_freeDCtx(context); }
};

}  // namespace

struct BlockCompressor::State {
    std::unique_ptr<ZSTD_CCtx, Free> context{::ZSTD_createCCtx()};
    std::vector<std::byte> stored{};
};

BlockCompressor::BlockCompressor() : state_(std::make_unique<State>()) {}
BlockCompressor::~BlockCompressor() = default;

Result<sys::ConstBytes> BlockCompressor::compress(sys::ConstBytes block) {
    if (!state_->context) return Error(ENOMEM);
    std::vector<std::byte>& stored = state_->stored;
    const std::size_t most = most_compressed(block.size());
    if (stored.size() < most) stored.resize(most);
    const std::size_t size = ::ZSTD_compressCCtx(state_->context.get(), stored.data(),
                                                 stored.size(), block.data(), block.size(), kLevel);
    if (::ZSTD_isError(size) != 0) return Error(ENOMEM);
    return sys::ConstBytes(stored).first(size);
}

std::size_t most_compressed(std::size_t size) {
    return ZSTD_COMPRESSBOUND(size);
}

// Into memory of the size that the block is to have: nothing in the stored bytes can ask for more.
Result<> decompress_block(sys::ConstBytes stored, sys::Bytes out) {
    static thread_local const std::unique_ptr<ZSTD_DCtx, Free> context(::ZSTD_createDCtx());
    if (!context) return Error(ENOMEM);
    const std::size_t size =
        ::ZSTD_decompressDCtx(context.get(), out.data(), out.size(), stored.data(), stored.size());
    if (::ZSTD_isError(size) != 0 || size != out.size()) return Error(EBADMSG);
    return {};
}

}  // namespace unwrite
