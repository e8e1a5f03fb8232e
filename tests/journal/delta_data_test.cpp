#include "journal/delta_data.h"

#include <gtest/gtest.h>

#include "journal/delta_format.h"
#include "journal/delta_log.h"
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
        const auto got = sys::read_at(file->get(), std::as_writable_bytes(std::span(text)), 0);
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
    static constexpr std::size_t kMost = 4;
    Scratch scratch_;
    std::shared_ptr<DeltaDataPool> pool_ = std::make_shared<DeltaDataPool>(kMost);
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

}  // namespace
}  // namespace unwrite::journal
