#include "overlay/overwriting.h"

#include <gtest/gtest.h>

#include <deque>
#include <random>

#include "tests/support/scratch.h"

namespace unwrite::overlay {
namespace {

using tests::Scratch;

/// A file that was `was` and is `now`.
class OverwritingTest : public ::testing::Test {
 protected:
    void set(const std::string& was, const std::string& now) {
        scratch_.write("was", was);
        scratch_.write("now", now);
        fd_ = scratch_.open("now", O_RDWR);
        auto handle =
            std::make_shared<const Handle>(Handle{scratch_.open("was", O_RDONLY), Access::kRead});
        auto content = Content::open(std::move(handle), {1, 1}, {});
        ASSERT_TRUE(content.ok());
        was_.emplace(*std::move(content));
        file_.emplace(fd_.get(), *was_);
    }
    const journal::DataFile* source(const std::string& text) {
        const std::string name = "source" + std::to_string(sources_.size());
        scratch_.write(name, text);
        sources_.emplace_back(scratch_.open(name, O_RDONLY));
        return &sources_.back();
    }
    std::string now() const { return scratch_.read("now"); }

    Scratch scratch_;
    UniqueFd fd_;
    std::optional<Content> was_;
    std::optional<Overwriting> file_;
    std::deque<journal::DataFile> sources_;
};

TEST_F(OverwritingTest, S48_WhatIsAsItWasIsWritten) {
    set(std::string(20'000, 'a'), std::string(20'000, 'a'));
    ASSERT_OK(file_->write(5000, 10'000, source(std::string(12'000, 'b')), 2000));
    ASSERT_OK(file_->write(0, 100, nullptr, 0));
    ASSERT_OK(file_->end_at(16'000));
    EXPECT_EQ(now(), std::string(100, '\0') + std::string(4900, 'a') + std::string(10'000, 'b') +
                         std::string(1000, 'a'));
}

TEST_F(OverwritingTest, S48_APageThatWasChangedMeanwhileStays) {
    const std::string was(20'000, 'a');
    std::string changed = was;
    changed[9000] = 'X';  // the third page
    set(was, changed);
    ASSERT_OK(file_->write(0, 20'000, source(std::string(20'000, 'b')), 0));
    EXPECT_EQ(now(), std::string(8192, 'b') + changed.substr(8192, 4096) +
                         std::string(20'000 - 12'288, 'b'));
}

TEST_F(OverwritingTest, S48_OfRangesThatOverlapTheFirstCallCounts) {
    set(std::string(20'000, 'a'), std::string(20'000, 'a'));
    ASSERT_OK(file_->write(6000, 1000, source(std::string(1000, 'b')), 0));
    ASSERT_OK(file_->write(9000, 1000, source(std::string(1000, 'c')), 0));
    ASSERT_OK(file_->write(5000, 6000, source(std::string(6000, 'd')), 0));
    ASSERT_OK(file_->write(0, 20'000, source(std::string(20'000, 'e')), 0));
    EXPECT_EQ(now(), std::string(5000, 'e') + std::string(1000, 'd') + std::string(1000, 'b') +
                         std::string(2000, 'd') + std::string(1000, 'c') + std::string(1000, 'd') +
                         std::string(9000, 'e'));
}

TEST_F(OverwritingTest, S48_AnEndThatWasChangedOrGrewStays) {
    const std::string was(100'000, 'a');
    std::string changed = was;
    changed[90'000] = 'X';
    set(was, changed);
    ASSERT_OK(file_->end_at(10));
    EXPECT_EQ(now().size(), 98'304U) << "what was not changed is cut off, piece by piece";
    EXPECT_EQ(now().substr(0, 11), std::string(10, 'a') + '\0');
    EXPECT_EQ(now().substr(89'999, 3), "aXa");
    EXPECT_EQ(now().find_first_not_of('\0', 10), 90'000U / 4096 * 4096);
    set(was, was + "more");
    ASSERT_OK(file_->end_at(10));
    EXPECT_EQ(now(), std::string(10, 'a') + std::string(99'990, '\0') + "more");
    set(was, was);
    ASSERT_OK(file_->end_at(10));
    EXPECT_EQ(now(), std::string(10, 'a'));
    set("short", "short");
    ASSERT_OK(file_->end_at(8));
    EXPECT_EQ(now(), std::string("short\0\0\0", 8));
}

// With nobody beside, it is what is written in the other order.
TEST_F(OverwritingTest, S48_AnyRanges) {
    std::mt19937 random(7);
    for (int round = 0; round < 200; ++round) {
        const auto below = [&](std::size_t n) { return random() % n; };
        const std::string was(1 + below(60'000), 'a');
        set(was, was);
        std::vector<std::pair<std::size_t, std::string>> writes;
        for (std::size_t i = below(12); i > 0; --i)
            writes.emplace_back(below(was.size()),
                                std::string(1 + below(20'000), static_cast<char>('b' + i)));
        std::string wanted = was;
        for (auto write = writes.rbegin(); write != writes.rend(); ++write) {
            wanted.resize(std::max(wanted.size(), write->first + write->second.size()));
            wanted.replace(write->first, write->second.size(), write->second);
        }
        for (const auto& [offset, text] : writes)
            ASSERT_OK(file_->write(offset, text.size(), source(text), 0));
        EXPECT_TRUE(now() == wanted) << round;
        sources_.clear();
    }
}

}  // namespace
}  // namespace unwrite::overlay
