#include "base/crc32c.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "tests/base/scratch.h"

namespace unwrite {
namespace {

using tests::bytes_of;

std::vector<std::byte> filled(std::size_t size, unsigned first, int step) {
    std::vector<std::byte> bytes(size);
    for (std::size_t i = 0; i < size; ++i) {
        bytes[i] = static_cast<std::byte>(static_cast<int>(first) + step * static_cast<int>(i));
    }
    return bytes;
}

// The vectors of RFC 3720, appendix B.4 (which prints the bytes of the checksum in reverse).
TEST(Crc32c, AnswersTheVectorsOfTheStandard) {
    EXPECT_EQ(crc32c(filled(32, 0, 0)), 0x8A9136AAU);
    EXPECT_EQ(crc32c(filled(32, 0xFF, 0)), 0x62A8AB43U);
    EXPECT_EQ(crc32c(filled(32, 0, 1)), 0x46DD794EU);
    EXPECT_EQ(crc32c(filled(32, 31, -1)), 0x113FDB5CU);
    EXPECT_EQ(crc32c(bytes_of("123456789")), 0xE3069283U);
    EXPECT_EQ(crc32c({}), 0U);
}

TEST(Crc32c, TableAndInstructionAgree) {
    std::mt19937 random(11);
    for (std::size_t size = 0; size < 300; ++size) {
        std::vector<std::byte> bytes(size);
        for (std::byte& byte : bytes)
            byte = static_cast<std::byte>(random());
        EXPECT_EQ(crc32c(bytes), crc32c_by_table(bytes, 0)) << size;
        EXPECT_EQ(crc32c(bytes, 0xDEADBEEFU), crc32c_by_table(bytes, 0xDEADBEEFU)) << size;
    }
}

TEST(Crc32c, ContinuesWhereItStopped) {
    const std::string text = "the quick brown fox jumps over the lazy dog";
    for (std::size_t cut = 0; cut <= text.size(); ++cut) {
        const std::string_view whole = text;
        const auto front = crc32c(bytes_of(whole.substr(0, cut)));
        EXPECT_EQ(crc32c(bytes_of(whole.substr(cut)), front), crc32c(bytes_of(whole)));
    }
}

}  // namespace
}  // namespace unwrite
