#include <gtest/gtest.h>
#include <sys/stat.h>

#include <random>
#include <thread>

#include "tests/base/scratch.h"

namespace unwrite {
namespace {

using tests::bytes_of;
using tests::Scratch;

std::string noise(std::size_t size, unsigned seed) {
    std::mt19937 random(seed);
    std::string text(size, '\0');
    for (char& c : text)
        c = static_cast<char>(random());
    return text;
}

class Copy : public ::testing::Test {
 protected:
    UniqueFd in(const std::string& text) const {
        scratch_.write("in", text);
        return scratch_.open("in", O_RDONLY);
    }
    UniqueFd out() const { return scratch_.open("out", O_RDWR | O_CREAT); }
    Scratch scratch_;
};

TEST_F(Copy, CopiesAnyRangeToAnyOffset) {
    const std::string text = noise(300'000, 1);
    const UniqueFd source = in(text);
    for (const std::size_t offset : {0U, 1U, 4096U, 131'071U}) {
        for (const std::size_t length : {0U, 1U, 4096U, 65'536U, 160'000U}) {
            for (const std::size_t to : {0U, 5U, 8192U}) {
                const UniqueFd target = out();
                ASSERT_OK(sys::truncate(target.get(), 0));
                ASSERT_OK(sys::copy_bytes(source.get(), offset, target.get(), to, length));
                const std::string expected =
                    length == 0 ? "" : std::string(to, '\0') + text.substr(offset, length);
                EXPECT_EQ(scratch_.read("out") == expected, true)
                    << offset << " " << length << " " << to;
            }
        }
    }
}

TEST_F(Copy, RefusesToInventBytes) {
    const UniqueFd source = in("12345");
    EXPECT_NUMBER(EIO, sys::copy_bytes(source.get(), 0, out().get(), 0, 6));
    EXPECT_NUMBER(EIO, sys::copy_bytes(source.get(), 6, out().get(), 0, 1));
    EXPECT_NUMBER(EIO, sys::copy_bytes(source.get(), 1, out().get(), 0, ~std::uint64_t{0}));
}

TEST_F(Copy, KeepsHoles) {
    const UniqueFd source = in("");
    const UniqueFd hole = scratch_.open("in", O_RDWR);
    ASSERT_OK(sys::write_all_at(hole.get(), bytes_of("begin"), 1U << 20));
    ASSERT_OK(sys::truncate(hole.get(), 64U << 20));
    const UniqueFd target = out();
    ASSERT_OK(sys::copy_bytes(source.get(), 0, target.get(), 4096, 64U << 20));
    ASSERT_ASSIGN(const struct stat st, sys::stat_fd(target.get()));
    EXPECT_EQ(st.st_size, (64 << 20) + 4096) << "a hole at the end counts for the size";
    EXPECT_LT(st.st_blocks * 512, 1 << 20);
    EXPECT_EQ(scratch_.read("out").substr((1U << 20) + 4096, 6), std::string("begin\0", 6));
}

TEST_F(Copy, HolesBecomeZerosWhereThereWereBytes) {
    const UniqueFd source = in("");
    const UniqueFd hole = scratch_.open("in", O_RDWR);
    ASSERT_OK(sys::truncate(hole.get(), 100'000));
    ASSERT_OK(sys::write_all_at(hole.get(), bytes_of("middle"), 50'000));
    const std::string old = noise(200'000, 2);
    scratch_.write("out", old);
    ASSERT_OK(sys::copy_bytes(source.get(), 0, out().get(), 10'000, 100'000));
    std::string expected = old;
    expected.replace(10'000, 100'000, 100'000, '\0');
    expected.replace(60'000, 6, "middle");
    EXPECT_TRUE(scratch_.read("out") == expected);
}

TEST_F(Copy, FallsBackToABufferAcrossFilesystems) {
    auto source = sys::open_at(AT_FDCWD, "/proc/version", O_RDONLY);
    if (!source) GTEST_SKIP() << "no /proc";
    // Such a file says that it is empty; it is shorter than asked, however it is read.
    EXPECT_NUMBER(EIO, sys::copy_bytes(source->get(), 0, out().get(), 0, 50'000));
    EXPECT_NUMBER(EIO, sys::copy_bytes(source->get(), 0, out().get(), 0, 1'000'000));
    // A target opened for appending is what copy_file_range refuses.
    const std::string text = noise(400'000, 3);
    const UniqueFd from = in(text);
    const UniqueFd target = scratch_.open("out", O_RDWR | O_CREAT | O_APPEND);
    ASSERT_OK(sys::copy_bytes(from.get(), 0, target.get(), 0, text.size()));
    EXPECT_TRUE(scratch_.read("out") == text);
}

TEST_F(Copy, ThreadsMayFillDisjointRangesOfOneFile) {
    const std::string text = noise(1U << 20, 4);
    const UniqueFd source = in(text);
    const UniqueFd target = out();
    constexpr std::size_t kPart = 65'536;
    std::vector<std::thread> threads;
    for (std::size_t begin = 0; begin < 4; ++begin) {
        threads.emplace_back([&, begin] {
            for (std::size_t part = begin; part < text.size() / kPart; part += 4) {
                const std::uint64_t at = part * kPart;
                EXPECT_TRUE(sys::copy_bytes(source.get(), at, target.get(), at, kPart).ok());
            }
        });
    }
    for (std::thread& thread : threads)
        thread.join();
    EXPECT_TRUE(scratch_.read("out") == text);
}

}  // namespace
}  // namespace unwrite
