#include "journal/delta_data.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "journal/delta_format.h"
#include "journal/delta_log.h"
#include "journal/pack.h"
#include "tests/base/scratch.h"

namespace unwrite::journal {
namespace {

using tests::Scratch;

class DeltaDataTest : public ::testing::Test {
 protected:
    static std::string text_of(DeltaNumber number) {
        return "captured by " + std::to_string(number);
    }
    DeltaDataPtr make(DeltaNumber number) {
        scratch_.write(delta_data_name(number), text_of(number));
        return find(number);
    }
    DeltaDataPtr find(DeltaNumber number) {
        auto found = DeltaData::find(scratch_.fd(), number, pool_);
        EXPECT_TRUE(found.ok());
        return found ? *found : nullptr;
    }
    static std::string read(const OpenData& file) {
        std::string text(64, '\0');
        const auto got = file->read(std::as_writable_bytes(std::span(text)), 0);
        EXPECT_TRUE(got.ok());
        text.resize(got ? *got : 0);
        return text;
    }
    static void expect_gone(DeltaData& data) {
        const auto opened = data.open();
        ASSERT_FALSE(opened.ok());
        EXPECT_EQ(opened.error().kind(), ErrorKind::kCorrupt);
        EXPECT_NE(opened.error().message().find("removed"), std::string::npos);
    }
    void pack(DeltaNumber number) const {
        scratch_.write(delta_log_name(number), encode_delta_header(number));
        const auto packed = pack_delta_data(scratch_.fd(), number, {.always = true});
        EXPECT_TRUE(packed.ok() && *packed == Packed::kDone) << number;
    }
    static constexpr std::size_t kMost = 4;
    Scratch scratch_;
    std::shared_ptr<DeltaDataPool> pool_ = std::make_shared<DeltaDataPool>(nullptr, kMost);
};

TEST_F(DeltaDataTest, ADeltaWithoutBytesHasNone) {
    EXPECT_EQ(find(7), nullptr);
}

TEST_F(DeltaDataTest, NoMoreAreOpenThanThePoolAllows) {
    std::vector<DeltaDataPtr> all;
    for (DeltaNumber number = 1; number <= 20; ++number)
        all.push_back(make(number));
    EXPECT_EQ(pool_->open(), 0U);
    for (int time = 0; time < 3; ++time) {
        for (std::size_t i = 0; i < all.size(); ++i) {
            ASSERT_ASSIGN(const OpenData file, all[i]->open());
            EXPECT_EQ(read(file), text_of(i + 1));
            EXPECT_LE(pool_->open(), kMost);
        }
    }
    EXPECT_EQ(pool_->open(), kMost);
    all.clear();
    EXPECT_EQ(pool_->open(), 0U);
}

TEST_F(DeltaDataTest, WhatWasReadLastStaysOpen) {
    const DeltaDataPtr kept = make(1);
    ASSERT_ASSIGN(const OpenData first, kept->open());
    for (DeltaNumber number = 2; number <= 20; ++number) {
        const DeltaDataPtr other = make(number);
        ASSERT_ASSIGN(const OpenData file, other->open());
        ASSERT_ASSIGN(const OpenData again, kept->open());
        EXPECT_EQ(again, first);
    }
}

TEST_F(DeltaDataTest, WhoReadsOneKeepsItWhileOthersAreOpened) {
    const DeltaDataPtr one = make(1);
    ASSERT_ASSIGN(const OpenData file, one->open());
    std::vector<DeltaDataPtr> others;
    for (DeltaNumber number = 2; number <= 20; ++number) {
        others.push_back(make(number));
        ASSERT_ASSIGN(const OpenData other, others.back()->open());
    }
    EXPECT_EQ(read(file), text_of(1));
    ASSERT_OK(remove_delta(scratch_.fd(), 1));
    EXPECT_EQ(read(file), text_of(1));
}

TEST_F(DeltaDataTest, OneThatWasRemovedIsAnErrorAndNeverOtherBytes) {
    const DeltaDataPtr removed = make(1);
    const DeltaDataPtr replaced = make(2);
    ASSERT_OK(remove_delta(scratch_.fd(), 1));
    ASSERT_OK(sys::link(scratch_.fd(), delta_data_name(2), scratch_.fd(), "held"));  // its inode
    ASSERT_OK(remove_delta(scratch_.fd(), 2));
    scratch_.write(delta_data_name(2), "something else");
    expect_gone(*removed);
    expect_gone(*replaced);
}

TEST_F(DeltaDataTest, OneThatIsPinnedOutlivesItsRemoval) {
    const DeltaDataPtr pinned = make(1);
    ASSERT_OK(pinned->pin());
    ASSERT_OK(pinned->pin());
    ASSERT_OK(remove_delta(scratch_.fd(), 1));
    std::vector<DeltaDataPtr> others;
    for (DeltaNumber number = 2; number <= 20; ++number) {
        others.push_back(make(number));
        ASSERT_ASSIGN(const OpenData other, others.back()->open());
    }
    ASSERT_ASSIGN(const OpenData file, pinned->open());
    EXPECT_EQ(read(file), text_of(1));
    EXPECT_EQ(pool_->open(), kMost);
}

// Whether it was open, or was not any more, or was never.
TEST_F(DeltaDataTest, WhatIsCompressedMeanwhileIsReadOn) {
    std::vector<DeltaDataPtr> all;
    for (DeltaNumber number = 1; number <= 20; ++number) {
        all.push_back(make(number));
        if (number > 15) continue;
        ASSERT_ASSIGN(const OpenData file, all.back()->open());
    }
    ASSERT_ASSIGN(const OpenData held, all.front()->open());
    for (DeltaNumber number = 1; number <= 20; ++number)
        pack(number);
    for (int time = 0; time < 3; ++time) {
        for (std::size_t i = 0; i < all.size(); ++i) {
            ASSERT_ASSIGN(const OpenData file, all[i]->open());
            EXPECT_EQ(read(file), text_of(i + 1));
            EXPECT_LE(pool_->open(), kMost);
        }
    }
    EXPECT_EQ(read(held), text_of(1));
    const DeltaDataPtr later = find(7);
    ASSERT_TRUE(later);
    ASSERT_ASSIGN(const OpenData file, later->open());
    EXPECT_EQ(read(file), text_of(7));
}

TEST_F(DeltaDataTest, ManyThreadsReadWhatIsCompressedMeanwhile) {
    std::vector<DeltaDataPtr> all;
    for (DeltaNumber number = 1; number <= 20; ++number)
        all.push_back(make(number));
    std::atomic<bool> end = false;
    std::vector<std::thread> readers;
    for (std::size_t first = 0; first < 4; ++first) {
        readers.emplace_back([&, first] {
            for (std::size_t i = first; !end; i = (i + 7) % all.size()) {
                const auto file = all[i]->open();
                EXPECT_TRUE(file.ok() && read(*file) == text_of(i + 1)) << i;
            }
        });
    }
    for (DeltaNumber number = 1; number <= 20; ++number) {
        pack(number);
        pool_->close_outdated();
    }
    end = true;
    for (std::thread& reader : readers)
        reader.join();
    EXPECT_LE(pool_->open(), kMost);
}

TEST_F(DeltaDataTest, ARawFileIsLetGoWhenItIsCompressed) {
    const DeltaDataPtr one = make(1);
    const DeltaDataPtr two = make(2);
    ASSERT_ASSIGN(OpenData first, one->open());
    ASSERT_ASSIGN(const OpenData second, two->open());
    const std::weak_ptr<const DataFile> raw = first;
    first.reset();
    pack(1);
    EXPECT_EQ(pool_->open(), 2U);
    pool_->close_outdated();
    EXPECT_EQ(pool_->open(), 1U);
    EXPECT_TRUE(raw.expired());
    ASSERT_ASSIGN(const OpenData again, one->open());
    EXPECT_EQ(read(again), text_of(1));
    pool_->close_outdated();
    EXPECT_EQ(pool_->open(), 2U) << "none is outdated any more";
}

TEST_F(DeltaDataTest, WhatWasCompressedFromAnotherFileIsAnErrorAndNeverOtherBytes) {
    const DeltaDataPtr raw = make(1);
    make(2);
    pack(2);
    const DeltaDataPtr packed = find(2);
    make(3);
    pack(3);
    // Files of the same form and size, which say that they are whole, under the names of others.
    const std::string from = packed_data_name(3);
    ASSERT_OK(sys::link(scratch_.fd(), packed_data_name(2), scratch_.fd(), "held"));  // its inode
    ASSERT_OK(remove_delta(scratch_.fd(), 1));
    ASSERT_OK(remove_delta(scratch_.fd(), 2));
    ASSERT_OK(sys::link(scratch_.fd(), from, scratch_.fd(), packed_data_name(1)));
    ASSERT_OK(sys::link(scratch_.fd(), from, scratch_.fd(), packed_data_name(2)));
    expect_gone(*raw);
    expect_gone(*packed);
    scratch_.write(delta_data_name(2), text_of(2));
    expect_gone(*packed);
    ASSERT_OK(remove_delta(scratch_.fd(), 2));
    expect_gone(*packed);
}

TEST_F(DeltaDataTest, OneThatIsPinnedOutlivesThatItIsCompressedAndItsRemoval) {
    const DeltaDataPtr raw = make(1);
    ASSERT_OK(raw->pin());
    make(2);
    pack(1);
    pack(2);
    const DeltaDataPtr packed = find(2);
    ASSERT_OK(packed->pin());
    for (const DeltaNumber number : {DeltaNumber{1}, DeltaNumber{2}}) {
        ASSERT_OK(remove_delta(scratch_.fd(), number));
        pool_->close_outdated();
        ASSERT_ASSIGN(const OpenData file, (number == 1 ? raw : packed)->open());
        EXPECT_EQ(read(file), text_of(number));
    }
}

}  // namespace
}  // namespace unwrite::journal
