// Attack 42: an agent that rewrites files for ever does not fill the user's disk through the
// journal.
#include "overlay/reserve.h"

#include <gtest/gtest.h>
#include <linux/falloc.h>

#include "tests/base/small_disk.h"
#include "tests/overlay/asking.h"

namespace unwrite::tests {
namespace {

constexpr std::uint64_t kMoreThanThereIs = std::uint64_t{1} << 62;

class ReserveTest : public Asking {
 protected:
    void begin_with(std::optional<std::uint64_t> reserve) {
        before("old", std::string(300'000, 'o'));
        overlay::SessionOptions options;
        auto policy = overlay::Policy::compile({});
        ASSERT_TRUE(policy.ok());
        options.policy = *policy;
        options.reserve = reserve;
        begin_asking(options);
    }
    bool is_out_of_room() {
        const auto status = operations().status("", false);
        EXPECT_TRUE(status.ok());
        return status && status->out_of_room;
    }
};

TEST_F(ReserveTest, AnAgentCopiesNothingIntoItA42S165) {
    begin_with(kMoreThanThereIs);
    const Snapshot whole = world_->look();
    EXPECT_EQ(actor().write("old", 0, "x"), ENOSPC);
    EXPECT_EQ(actor().truncate("old", 5), ENOSPC);
    EXPECT_EQ(actor().fallocate("old", FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE, 0, 4096),
              ENOSPC);
    EXPECT_EQ(question(), 0U) << "nobody can give room by an answer";
    EXPECT_EQ(difference(whole, world_->look()), "");
    ASSERT_ASSIGN(const auto checked, operations().check(false));
    EXPECT_EQ(checked.records, 0U);
    EXPECT_TRUE(is_out_of_room());
    ASSERT_ASSIGN(const auto trail, world_->session().oversight().audit(10));
    ASSERT_FALSE(trail.entries.empty());
    EXPECT_NE(trail.entries[0].detail.find("journal.reserve"), std::string::npos);
}

TEST_F(ReserveTest, AnAgentPutsNothingNewIntoItA42S165) {
    begin_with(kMoreThanThereIs);
    EXPECT_EQ(actor().create("new", 0644), ENOSPC);
    EXPECT_EQ(actor().mkdir("dir", 0755), ENOSPC);
    EXPECT_EQ(actor().symlink("link", "old"), ENOSPC);
    user();
    EXPECT_EQ(actor().create("new", 0644), 0);
    EXPECT_EQ(actor().write("new", 0, "text"), 0);
    agent();
    const Snapshot whole = world_->look();
    EXPECT_EQ(actor().write("new", 2, "more"), ENOSPC);
    EXPECT_EQ(actor().fallocate("new", 0, 0, 10'000), ENOSPC);
    EXPECT_EQ(difference(whole, world_->look()), "");
    ASSERT_ASSIGN(const auto trail, world_->session().oversight().audit(10));
    ASSERT_FALSE(trail.entries.empty());
    EXPECT_NE(trail.entries[0].detail.find("journal.reserve"), std::string::npos);
}

TEST_F(ReserveTest, WhatTakesNoRoomAndTheUserGoOnA42) {
    begin_with(kMoreThanThereIs);
    user();
    EXPECT_EQ(actor().create("new", 0644), 0);
    EXPECT_EQ(actor().write("new", 0, "text"), 0);
    EXPECT_EQ(actor().write("old", 0, "x"), 0);
    agent();
    EXPECT_EQ(actor().write("old", 1, "y"), 0) << "that is captured already";
    EXPECT_EQ(actor().unlink("old"), 0);
    ASSERT_TRUE(operations().discard(World::asker(), false, overlay::Consent::kAll).ok());
    EXPECT_TRUE(actor().read("old").value_or("") == std::string(300'000, 'o'));
}

TEST(Reserve, IsNotFallenShortOfByOneWriterS165) {
    const SmallDisk disk("size=64m");
    if (!disk.mounted()) GTEST_SKIP() << "needs privileges";
    const UniqueFd top(*sys::open_at(AT_FDCWD, disk.path().string(), O_RDONLY | O_DIRECTORY));
    constexpr std::uint64_t kReserve = std::uint64_t{8} << 20;
    const overlay::Reserve reserve(top.get(), kReserve);
    std::ofstream file(disk.path() / "file", std::ios::binary);
    const std::string piece(100'000, 'p');
    std::uint64_t written = 0;
    for (; reserve.lasts(piece.size()) && written < (std::uint64_t{64} << 20);
         written += piece.size())
        file << piece << std::flush;
    const auto st = sys::statvfs_fd(top.get());
    ASSERT_TRUE(st);
    const std::uint64_t free = st->f_bavail * st->f_frsize;
    EXPECT_GE(free + (std::uint64_t{64} << 10), kReserve) << "but for what a file takes beside";
    EXPECT_LT(free, kReserve + (std::uint64_t{1} << 20)) << "it is not refused before";
    EXPECT_GT(written, std::uint64_t{50} << 20);
}

TEST_F(ReserveTest, ThereIsNoneUnlessItIsSaid) {
    begin_with(0);
    EXPECT_EQ(actor().write("old", 0, "x"), 0);
    EXPECT_FALSE(is_out_of_room());
    EXPECT_FALSE(overlay::Reserve(scratch_.fd(), kMoreThanThereIs).allows(0));
    EXPECT_FALSE(overlay::Reserve(scratch_.fd(), kMoreThanThereIs).lasts(1));
    EXPECT_TRUE(overlay::Reserve(scratch_.fd(), 0).lasts(kMoreThanThereIs));
    EXPECT_TRUE(overlay::Reserve(scratch_.fd(), 0).allows(kMoreThanThereIs));
    const overlay::Reserve usual(scratch_.fd(), std::nullopt);
    EXPECT_GT(usual.bytes(), 0U);
    EXPECT_LE(usual.bytes(), std::uint64_t{64} << 20);
    EXPECT_FALSE(usual.allows(kMoreThanThereIs));
}

}  // namespace
}  // namespace unwrite::tests
