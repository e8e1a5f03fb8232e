// The vectors are those of FIPS 180-4 and its annexes.
#include "base/digest.h"

#include <gtest/gtest.h>

namespace unwrite {
namespace {

std::string hex_of(std::string_view bytes) {
    return to_hex(digest_of(bytes));
}

TEST(Digest, KnownAnswers) {
    EXPECT_EQ(hex_of(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    EXPECT_EQ(hex_of("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    EXPECT_EQ(hex_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
              "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    EXPECT_EQ(hex_of(std::string(1000000, 'a')),
              "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Digest, Sha1OfGitsEmptyFile) {
    const std::string digest = sha1_of(std::string("blob 0\0", 7));
    ASSERT_EQ(digest.size(), 20U);
    EXPECT_EQ(digest.substr(0, 4), "\xe6\x9d\xe2\x9b");
}

// Around the length at which the padding needs a block of its own.
TEST(Digest, LengthsAroundABlock) {
    EXPECT_EQ(hex_of(std::string(55, 'a')),
              "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318");
    EXPECT_EQ(hex_of(std::string(56, 'a')),
              "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a");
    EXPECT_EQ(hex_of(std::string(64, 'a')),
              "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb");
}

TEST(Digest, TextIsReadBack) {
    const Digest digest = digest_of("abc");
    EXPECT_EQ(to_text(digest).substr(0, 7), "sha256:");
    EXPECT_EQ(digest_from(to_text(digest)), digest);
    EXPECT_EQ(digest_from(to_text(digest).substr(7)), digest);
    std::string upper = to_text(digest).substr(7);
    for (char& digit : upper)
        digit = static_cast<char>(std::toupper(static_cast<unsigned char>(digit)));
    EXPECT_EQ(digest_from(upper), digest);
}

TEST(Digest, OtherTextsAreNone) {
    const std::string good = to_text(digest_of("abc"));
    EXPECT_FALSE(digest_from(""));
    EXPECT_FALSE(digest_from("sha256:"));
    EXPECT_FALSE(digest_from(good + "0"));
    EXPECT_FALSE(digest_from(good.substr(0, good.size() - 1)));
    EXPECT_FALSE(digest_from("sha1:" + good.substr(7)));
    EXPECT_FALSE(digest_from("g" + good.substr(8)));
}

}  // namespace
}  // namespace unwrite
