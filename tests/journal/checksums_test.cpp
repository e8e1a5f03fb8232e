// Checksums of captured bytes: what they find, and what of their own file may be damaged.
#include "journal/checksums.h"

#include <gtest/gtest.h>

#include "journal/data_file.h"
#include "journal/delta_format.h"
#include "tests/base/scratch.h"

namespace unwrite::journal {
namespace {

using tests::bytes_of;
using tests::Scratch;

constexpr std::uint64_t kBlock = kChecksumBlock;
constexpr const char* kLog = "checksums.log";

class ChecksumsTest : public ::testing::Test {
 protected:
    /// Three and a half blocks: bytes, bytes, a hole, bytes.
    void make_data(DeltaNumber number) const {
        const UniqueFd fd = scratch_.open(delta_data_name(number), O_RDWR | O_CREAT);
        const std::string bytes(2 * kBlock, static_cast<char>('a' + number));
        ASSERT_OK(sys::write_all_at(fd.get(), bytes_of(bytes), 0));
        ASSERT_OK(sys::write_all_at(fd.get(), bytes_of(std::string(kBlock / 2, 'r')), 3 * kBlock));
    }
    ChecksumsPtr measure(DeltaNumber number) const {
        const auto data = open_delta_data(scratch_.fd(), number);
        const auto sums = data ? (*data)->measure({}) : Result<ChecksumsPtr>(data.error());
        EXPECT_TRUE(sums.ok());
        return sums ? *sums : nullptr;
    }
    std::string problem(DeltaNumber number, const ChecksumsPtr& sums, std::uint64_t position,
                        std::uint64_t length) {
        const auto data = open_delta_data(scratch_.fd(), number, sums);
        if (!data) return data.error().message();
        const Result<> whole = (*data)->verify(position, length);
        return whole ? "" : whole.error().message();
    }
    void flip(const std::string& name, std::uint64_t position) const {
        const char byte = static_cast<char>(scratch_.read(name).at(position) ^ 1);
        const UniqueFd fd = scratch_.open(name, O_WRONLY);
        ASSERT_OK(sys::write_all_at(fd.get(), bytes_of(std::string_view(&byte, 1)), position));
    }
    std::unique_ptr<Checksums> open() const {
        auto opened = Checksums::open(scratch_.fd());
        EXPECT_TRUE(opened.ok());
        return opened ? *std::move(opened) : nullptr;
    }

    Scratch scratch_;
};

TEST_F(ChecksumsTest, S76_a_flipped_bit_is_found_where_it_is) {
    make_data(1);
    const ChecksumsPtr sums = measure(1);
    ASSERT_NE(sums, nullptr);
    EXPECT_EQ(sums->runs.size(), 2U);
    EXPECT_EQ(problem(1, sums, 0, sums->size), "");
    flip("1.dat", kBlock + 5);
    EXPECT_EQ(problem(1, sums, 0, kBlock), "");
    EXPECT_NE(problem(1, sums, 0, kBlock + 1), "");
    EXPECT_NE(problem(1, sums, kBlock + 100, 1), "");
    EXPECT_EQ(problem(1, sums, 3 * kBlock, kBlock / 2), "");
}

TEST_F(ChecksumsTest, S76_bytes_in_a_hole_are_found) {
    make_data(1);
    const ChecksumsPtr sums = measure(1);
    flip("1.dat", 2 * kBlock + 77);
    EXPECT_EQ(problem(1, sums, 0, 2 * kBlock), "");
    EXPECT_NE(problem(1, sums, 2 * kBlock, 10), "");
}

TEST_F(ChecksumsTest, S76_another_file_in_its_place_is_found) {
    make_data(1);
    make_data(2);
    const ChecksumsPtr sums = measure(1);
    std::filesystem::rename(scratch_.path() / "2.dat", scratch_.path() / "1.dat");
    EXPECT_NE(problem(1, sums, 0, 1).find("another file"), std::string::npos);
    std::filesystem::resize_file(scratch_.path() / "1.dat", 3 * kBlock);
    EXPECT_NE(problem(1, sums, 0, 1), "");
}

TEST_F(ChecksumsTest, S76_they_are_there_again_when_the_journal_is_opened) {
    make_data(1);
    make_data(2);
    const ChecksumsPtr first = measure(1);
    const ChecksumsPtr second = measure(2);
    {
        const auto log = open();
        EXPECT_EQ(log->find(1), nullptr);
        ASSERT_OK(log->add(1, first));
        ASSERT_OK(log->add(2, second));
        EXPECT_EQ(log->of_file(second->file), second);
    }
    // A kill in the middle of an append.
    const std::string whole = scratch_.read(kLog);
    std::filesystem::resize_file(scratch_.path() / kLog, whole.size() - 3);
    {
        const auto log = open();
        ASSERT_NE(log->find(1), nullptr);
        EXPECT_EQ(*log->find(1), *first);
        EXPECT_EQ(log->find(2), nullptr);
        EXPECT_TRUE(log->problems().empty());
        ASSERT_OK(log->add(2, second));
    }
    EXPECT_EQ(scratch_.read(kLog), whole);
    {
        const auto log = open();
        ASSERT_OK(log->keep_only({1, 2}, 2));  // a cut: number 2 may be given out again
    }
    const auto log = open();
    EXPECT_NE(log->find(1), nullptr);
    EXPECT_EQ(log->find(2), nullptr);
    EXPECT_EQ(log->of_file(second->file), nullptr);
}

TEST_F(ChecksumsTest, S76_damage_of_their_own_file_costs_proof_and_is_named) {
    make_data(1);
    make_data(2);
    {
        const auto log = open();
        ASSERT_OK(log->add(1, measure(1)));
        ASSERT_OK(log->add(2, measure(2)));
    }
    const std::string whole = scratch_.read(kLog);
    for (std::size_t at = 0; at < whole.size(); ++at) {
        flip(kLog, at);
        const auto log = open();
        const bool all = log->find(1) && log->find(2);
        EXPECT_TRUE(!all || !log->problems().empty()) << "byte " << at;
        for (const DeltaNumber number : {DeltaNumber{1}, DeltaNumber{2}}) {
            const ChecksumsPtr found = log->find(number);
            EXPECT_TRUE(!found || *found == *measure(number)) << at;
        }
        flip(kLog, at);
    }
}

TEST_F(ChecksumsTest, S76_what_is_no_record_is_not_believed) {
    make_data(1);
    const std::string good = encode_checksums(*measure(1));
    ASSERT_TRUE(decode_checksums(bytes_of(good)));
    for (std::size_t size = 0; size < good.size(); ++size) {
        EXPECT_FALSE(decode_checksums(bytes_of(good).first(size)));
    }
    BlockChecksums sums = *measure(1);
    sums.runs.push_back(sums.runs.front());  // backwards
    EXPECT_FALSE(decode_checksums(bytes_of(encode_checksums(sums))));
    sums = *measure(1);
    sums.runs.back().checksums.push_back(7);  // behind the end
    EXPECT_FALSE(decode_checksums(bytes_of(encode_checksums(sums))));
    sums = *measure(1);
    sums.runs.front().checksums.clear();
    EXPECT_FALSE(decode_checksums(bytes_of(encode_checksums(sums))));
}

}  // namespace
}  // namespace unwrite::journal
