// A discard for good on a full disk: it needs no room for a way back, and is finished after a kill.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/crash_point.h"
#include "tests/base/small_disk.h"
#include "tests/support/plain_actor.h"
#include "tests/support/world.h"

namespace unwrite::tests {
namespace {

using overlay::Consent;

constexpr std::size_t kBig = 500'000;

void prepare(const SmallDisk& disk) {
    std::filesystem::create_directory(disk.workspace());
    PlainActor plain(disk.workspace());
    plain.create("big", 0644);
    plain.write("big", 0, std::string(kBig, 'b'));
    plain.create("old", 0644);
    plain.write("old", 0, "old");
    plain.mkdir("dir", 0755);
}

void checkpoint(World& world, const char* name) {
    const auto made =
        world.operations().checkpoint(World::asker(), journal::NodeKind::kCheckpoint, name, "");
    ASSERT_TRUE(made) << made.error().message();
}

/// Three steps, the last one open, and one that somebody went back from.
void change(World& world) {
    TreeActor& actor = world.actor();
    EXPECT_EQ(actor.create("dir/gone back", 0644), 0);
    checkpoint(world, "c0");
    ASSERT_TRUE(world.operations().rollback(World::asker(), "root", false, Consent::kAll));
    EXPECT_EQ(actor.write("big", 0, std::string(kBig, 'x')), 0);
    EXPECT_EQ(actor.rename("old", "dir/old", 0), 0);
    checkpoint(world, "c1");
    EXPECT_EQ(actor.create("new", 0644), 0);
    EXPECT_EQ(actor.write("dir/old", 0, "OLD and longer"), 0);
    checkpoint(world, "c2");
    EXPECT_EQ(actor.unlink("new"), 0);
    EXPECT_EQ(actor.write("big", 0, "y"), 0);
}

void is_at_the_start(World& world, const Snapshot& start) {
    EXPECT_EQ(difference(start, world.look()), "");
    const auto log = world.operations().log("", true, false);
    ASSERT_TRUE(log);
    EXPECT_EQ(log->entries.size(), 1U);
    EXPECT_FALSE(world.operations().status("", false)->wounded);
    EXPECT_FALSE(world.operations().redo(World::asker(), 1, Consent::kAll));
    const auto checked = world.operations().check(false);
    ASSERT_TRUE(checked);
    EXPECT_TRUE(checked->problems.empty()) << checked->problems.front();
    EXPECT_EQ(world.actor().unlink("old"), 0);
}

TEST(PurgeTest, ADiscardForGoodNeedsNoRoomS165) {
    const SmallDisk disk;
    if (!disk.mounted()) GTEST_SKIP() << "needs privileges";
    prepare(disk);
    World world(disk.workspace());
    const Snapshot start = world.look();
    change(world);
    const Snapshot changed = world.look();
    disk.fill(0);
    const auto refused = world.operations().discard(World::asker(), false, Consent::kAll);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().number(), ENOSPC);
    EXPECT_NE(refused.error().advice().find("--purge"), std::string::npos);
    EXPECT_EQ(difference(changed, world.look()), "");
    const auto purged = world.operations().discard(World::asker(), true, Consent::kAll);
    ASSERT_TRUE(purged) << purged.error().message();
    is_at_the_start(world, start);
}

TEST(PurgeTest, WhoAsksNothingIsOnlyShownS165) {
    const SmallDisk disk;
    if (!disk.mounted()) GTEST_SKIP() << "needs privileges";
    prepare(disk);
    World world(disk.workspace());
    change(world);
    const Snapshot changed = world.look();
    disk.fill(0);
    EXPECT_TRUE(world.operations().discard(World::asker(), true, Consent::kNone));
    EXPECT_EQ(difference(changed, world.look()), "");
}

/// Stands in for a disk that cannot be written to at some place.
class FileSizeLimit {
 public:
    explicit FileSizeLimit(rlim_t bytes) {
        ::getrlimit(RLIMIT_FSIZE, &before_);
        handler_ = ::signal(SIGXFSZ, SIG_IGN);
        const struct rlimit limit { bytes, before_.rlim_max };
        ::setrlimit(RLIMIT_FSIZE, &limit);
    }
    ~FileSizeLimit() {
        ::setrlimit(RLIMIT_FSIZE, &before_);
        ::signal(SIGXFSZ, handler_);
    }
    FileSizeLimit(const FileSizeLimit&) = delete;
    FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
    struct rlimit before_ {};
    sighandler_t handler_ = SIG_DFL;
};

TEST(PurgeTest, WhatStoppedItHalfWayIsCarriedOnByRecoverS165) {
    const SmallDisk disk;
    if (!disk.mounted()) GTEST_SKIP() << "needs privileges";
    prepare(disk);
    World world(disk.workspace());
    const Snapshot start = world.look();
    change(world);
    disk.fill(0);
    {
        const FileSizeLimit limit(kBig - 100'000);
        const auto purged = world.operations().discard(World::asker(), true, Consent::kAll);
        ASSERT_FALSE(purged);
        EXPECT_EQ(purged.error().kind(), ErrorKind::kRecovery) << purged.error().message();
        EXPECT_TRUE(world.operations().status("", false)->wounded);
        EXPECT_EQ(world.actor().write("big", 0, "z"), EROFS);
        EXPECT_FALSE(world.operations().recover());
    }
    ASSERT_TRUE(world.operations().recover());
    is_at_the_start(world, start);
}

/// False when the work came to its end.
bool is_killed_at(const SmallDisk& disk, int passage) {
    const pid_t child = ::fork();
    if (child == 0) {
        World world(disk.workspace());
        change(world);
        disk.fill(0);
        ::setenv("UNWRITE_CRASH_AT", ("*:" + std::to_string(passage)).c_str(), 1);
        reset_crash_points();
        const auto purged = world.operations().discard(World::asker(), true, Consent::kAll);
        ::_exit(purged ? 0 : 1);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    if (WIFSIGNALED(status)) return true;
    EXPECT_EQ(WEXITSTATUS(status), 0);
    return false;
}

TEST(PurgeTest, AKillAtAnyPointIsFinishedS165) {
    bool killed = true;
    for (int passage = 1; killed && !::testing::Test::HasFailure(); ++passage) {
        SCOPED_TRACE(passage);
        const SmallDisk disk;
        if (!disk.mounted()) GTEST_SKIP() << "needs privileges";
        prepare(disk);
        const Snapshot start = snapshot(disk.workspace());
        killed = is_killed_at(disk, passage);
        disk.make_room();
        World world(disk.workspace());
        const auto left = world.operations().log("", true, false);
        ASSERT_TRUE(left);
        // Before it began: all is there, and can be discarded.
        if (left->entries.size() > 1) {
            const auto purged = world.operations().discard(World::asker(), true, Consent::kAll);
            ASSERT_TRUE(purged) << purged.error().message();
        }
        is_at_the_start(world, start);
    }
}

}  // namespace
}  // namespace unwrite::tests
