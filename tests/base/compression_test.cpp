#include "base/compression.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "tests/base/scratch.h"

namespace unwrite {
namespace {

using tests::bytes_of;

TEST(Compression, ABlockComesBack) {
    BlockCompressor compressor;
    for (const std::string& text :
         {std::string(), std::string("x"), std::string(300'000, 'a'), std::string("\0\xff\0", 3)}) {
        ASSERT_ASSIGN(const sys::ConstBytes stored, compressor.compress(bytes_of(text)));
        EXPECT_LE(stored.size(), most_compressed(text.size()));
        std::string again(text.size(), '?');
        ASSERT_OK(decompress_block(stored, std::as_writable_bytes(std::span(again))));
        EXPECT_EQ(again, text);
    }
}

TEST(Compression, WhatIsNotThatBlockIsRefused) {
    BlockCompressor compressor;
    ASSERT_ASSIGN(const sys::ConstBytes stored,
                  compressor.compress(bytes_of(std::string(10'000, 'a'))));
    std::vector<std::byte> out(20'000);
    const sys::Bytes all(out);
    EXPECT_NUMBER(EBADMSG, decompress_block(stored, all.first(9'999)));
    EXPECT_NUMBER(EBADMSG, decompress_block(stored, all.first(10'001)));
    EXPECT_NUMBER(EBADMSG, decompress_block(stored.first(stored.size() - 1), all.first(10'000)));
    EXPECT_NUMBER(EBADMSG, decompress_block({}, all.first(10)));
    EXPECT_NUMBER(EBADMSG, decompress_block(bytes_of("no zstd at all"), all.first(10)));
    ASSERT_OK(decompress_block(stored, all.first(10'000)));
}

}  // namespace
}  // namespace unwrite
