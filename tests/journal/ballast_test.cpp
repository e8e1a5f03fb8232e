#include "journal/ballast.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tests/base/small_disk.h"

namespace unwrite::journal {
namespace {

using tests::Scratch;
using Part = Ballast::Part;

constexpr std::uint64_t kSize = std::uint64_t{1} << 20;

/// Bytes of the disk.
std::uint64_t taken(const Scratch& scratch) {
    const auto st = sys::stat_at(scratch.fd(), Ballast::kFile);
    return st ? static_cast<std::uint64_t>(st->st_blocks) * 512 : 0;
}

TEST(BallastTest, TakesRoomAndGivesItUpInTwoPartsS165) {
    const Scratch scratch;
    Ballast ballast(scratch.fd(), kSize);
    ASSERT_EQ(ballast.size(), kSize);
    EXPECT_FALSE(ballast.give(Part::kAll)) << "there is none yet";
    ballast.fill();
    EXPECT_EQ(taken(scratch), kSize);
    EXPECT_TRUE(ballast.give(Part::kHalf));
    EXPECT_EQ(taken(scratch), kSize / 2);
    EXPECT_FALSE(ballast.give(Part::kHalf)) << "the other half is for going back";
    EXPECT_TRUE(ballast.give(Part::kAll));
    EXPECT_EQ(taken(scratch), 0U);
    EXPECT_FALSE(ballast.give(Part::kAll));
    ballast.fill(Ballast::When::kBack);
    EXPECT_EQ(taken(scratch), kSize);
}

TEST(BallastTest, WhatAnEarlierLifeGaveUpIsPutByAgainS165) {
    const Scratch scratch;
    Ballast(scratch.fd(), kSize).fill();
    Ballast(scratch.fd(), kSize).give(Part::kHalf);
    Ballast later(scratch.fd(), kSize);
    later.fill();
    EXPECT_EQ(taken(scratch), kSize);
}

TEST(BallastTest, OfANearlyFullDiskItIsAPartOfWhatIsLeftS165) {
    const tests::SmallDisk disk("size=64m");
    if (!disk.mounted()) GTEST_SKIP() << "needs privileges";
    const UniqueFd state(*sys::open_at(AT_FDCWD, disk.path().string(), O_RDONLY | O_DIRECTORY));
    disk.fill(200);
    Ballast ballast(state.get(), kSize);
    ballast.fill();
    EXPECT_EQ(ballast.held(), 0U) << "in the middle of something";
    ballast.fill(Ballast::When::kCalm);
    const std::uint64_t whole = ballast.held();
    EXPECT_GE(whole, 90U * 4096);
    EXPECT_LE(whole, 100U * 4096) << "as much stays free";
    ballast.fill(Ballast::When::kCalm);
    EXPECT_EQ(ballast.held(), whole);
    EXPECT_TRUE(ballast.give(Part::kHalf));
    EXPECT_EQ(ballast.held(), whole / 2);
    ballast.fill(Ballast::When::kBack);
    EXPECT_EQ(ballast.held(), whole);
    EXPECT_TRUE(ballast.give(Part::kAll));
    disk.make_room();
    ballast.fill();
    EXPECT_EQ(ballast.held(), kSize);
}

TEST(BallastTest, IsASmallPartOfTheDiskS165) {
    const Scratch scratch;
    const std::uint64_t huge = std::uint64_t{1} << 60;
    Ballast ballast(scratch.fd(), huge);
    const auto st = sys::statvfs_fd(scratch.fd());
    ASSERT_TRUE(st);
    EXPECT_LE(ballast.size(), st->f_blocks * st->f_frsize / 32);
}

}  // namespace
}  // namespace unwrite::journal
