// Sequences that a review suspected of losing something.
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/statvfs.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/base/small_disk.h"
#include "tests/support/plain_actor.h"
#include "tests/support/scratch.h"
#include "tests/support/thorough.h"
#include "tests/support/world.h"

namespace unwrite::tests {
namespace {

class Review : public testing::Test {
 protected:
    Review() {
        PlainActor actor(scratch_.path());
        actor.mkdir("a", 0755);
        actor.mkdir("b", 0755);
        actor.mkdir("a/d", 0755);
        actor.create("a/d/file", 0644);
        actor.write("a/d/file", 0, "content");
        actor.symlink("link", "a");
    }

    const Scratch scratch_;
};

TEST_F(Review, UndoOfARestoredPathPutsAMovedDirectoryBack) {
    World world(scratch_.path());
    ASSERT_TRUE(
        world.operations().checkpoint(World::asker(), journal::NodeKind::kCheckpoint, "c", ""));
    ASSERT_EQ(world.actor().rename("a/d", "b/d", 0), 0);
    const Snapshot moved = world.look();
    const auto restored = world.operations().restore_paths(World::asker(), {"a/d"}, "c", false);
    if (!restored) {
        EXPECT_EQ(difference(moved, world.look()), "");
        return;
    }
    const auto undone = world.operations().undo(World::asker(), 1, overlay::Consent::kAll);
    ASSERT_TRUE(undone) << undone.error().message();
    EXPECT_EQ(difference(moved, world.look()), "");
}

TEST_F(Review, ARenamedFileIsRestoredOnlyWithBothItsNames) {
    World world(scratch_.path());
    ASSERT_EQ(world.actor().rename("a/d/file", "b/file", 0), 0);
    ASSERT_EQ(world.actor().write("b/file", 0, "CONTENT, and more"), 0);
    const Snapshot then = world.look();
    const auto refused =
        world.operations().restore_paths(World::asker(), {"a/d/file"}, "root", false);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind(), ErrorKind::kConflict);
    EXPECT_NE(refused.error().message().find("b/file"), std::string::npos);
    EXPECT_EQ(difference(then, world.look()), "");
    ASSERT_OK(
        world.operations().restore_paths(World::asker(), {"a/d/file", "b/file"}, "root", false));
    const auto back = world.actor().read("a/d/file");
    ASSERT_OK(back);
    EXPECT_EQ(*back, "content");
    EXPECT_FALSE(std::filesystem::exists(scratch_.path() / "b/file"));
}

TEST_F(Review, S76_WhatIsAsItWasNeedsNoRestore) {
    World world(scratch_.path());
    const auto restore = [&](const std::string& path) {
        return world.operations().restore_paths(World::asker(), {path}, "root", false);
    };
    ASSERT_EQ(world.actor().write("a/d/file", 0, "CONTENT"), 0);
    ASSERT_EQ(world.actor().chmod("b", 0700), 0);
    ASSERT_OK(restore("a/d/file"));
    EXPECT_EQ(restore("a/d/file").error().kind(), ErrorKind::kNothing);
    ASSERT_EQ(world.actor().write("a/d/file", 0, "content"), 0);
    EXPECT_EQ(restore("a").error().kind(), ErrorKind::kNothing);
    ASSERT_EQ(world.actor().chmod("a/d/file", 0600), 0);
    ASSERT_ASSIGN(const auto moved, restore("a"));
    EXPECT_EQ(moved.changes.size(), 1U);
    // Saved as a new file, as editors do, with the text that it had.
    ASSERT_EQ(world.actor().create("a/d/new", 0644), 0);
    ASSERT_EQ(world.actor().write("a/d/new", 0, "content"), 0);
    ASSERT_EQ(world.actor().rename("a/d/new", "a/d/file", 0), 0);
    EXPECT_EQ(restore("a/d/file").error().kind(), ErrorKind::kNothing);
    ASSERT_EQ(world.actor().write("a/d/file", 0, "CONTENT"), 0);
    ASSERT_OK(restore("a/d/file"));
}

TEST_F(Review, AFileCutOffBehindTheMountCanStillBeWritten) {
    World world(scratch_.path());
    const std::string large(300'000, 'x');
    ASSERT_EQ(world.actor().write("a/d/file", 0, large), 0);
    ASSERT_TRUE(
        world.operations().checkpoint(World::asker(), journal::NodeKind::kCheckpoint, "c", ""));
    ASSERT_EQ(world.actor().write("a/d/file", 290'000, "y"), 0);  // captures the size
    std::filesystem::resize_file(scratch_.path() / "a/d/file", 70'000);
    EXPECT_EQ(world.actor().write("a/d/file", 60'000, std::string(20'000, 'z')), 0);
    EXPECT_EQ(world.actor().write("a/d/file", 200'000, "z"), 0);
    ASSERT_OK(world.operations().rollback(World::asker(), "c", false, overlay::Consent::kAll));
    const auto back = world.actor().read("a/d/file");
    ASSERT_OK(back);
    EXPECT_EQ(back->size(), large.size());
    EXPECT_EQ(back->substr(0, 70'000), large.substr(0, 70'000));
}

TEST_F(Review, TrustedAttributesOfASymlinkComeBack) {
    World world(scratch_.path());
    if (world.actor().set_xattr("link", "trusted.kept", "1", 0) != 0)
        GTEST_SKIP() << "needs privileges";
    ASSERT_TRUE(
        world.operations().checkpoint(World::asker(), journal::NodeKind::kCheckpoint, "c", ""));
    const Snapshot before = world.look();
    ASSERT_EQ(world.actor().set_xattr("link", "trusted.kept", "2", 0), 0);
    ASSERT_EQ(world.actor().set_xattr("link", "trusted.new", "2", 0), 0);
    ASSERT_TRUE(world.operations().rollback(World::asker(), "c", false, overlay::Consent::kAll));
    EXPECT_EQ(difference(before, world.look()), "");
}

// Anchors that nothing needs any more, since the step that made them was collected, while the
// objects are displaced.
TEST_F(Review, ASweepSparesWhatARestoreDisplacesMeanwhile) {
    constexpr int kDirectories = 3000;  // keep the sweep busy
    constexpr int kFiles = 60;
    World world(scratch_.path());
    TreeActor& actor = world.actor();
    for (int i = 0; i < kFiles; ++i)
        ASSERT_EQ(actor.create("a/" + std::to_string(i), 0644), 0);
    ASSERT_TRUE(
        world.operations().checkpoint(World::asker(), journal::NodeKind::kCheckpoint, "c", ""));
    const Snapshot before = world.look();
    for (int i = 0; i < kFiles; ++i)
        ASSERT_EQ(actor.chmod("a/" + std::to_string(i), 0600), 0);
    ASSERT_EQ(actor.mkdir("big", 0755), 0);
    for (int i = 0; i < kDirectories; ++i)
        std::filesystem::create_directory(scratch_.path() / "big" / std::to_string(i));
    ASSERT_TRUE(world.operations().rollback(World::asker(), "c", false, overlay::Consent::kAll));
    std::thread sweeper([&] { EXPECT_TRUE(world.operations().gc({.max_bytes = 1})); });
    while (world.operations().log("", true, false)->entries.size() > 2)
        std::this_thread::yield();
    EXPECT_TRUE(world.operations().rollback(World::asker(), "root", false, overlay::Consent::kAll));
    sweeper.join();
    const auto again =
        world.operations().rollback(World::asker(), "c", false, overlay::Consent::kAll);
    ASSERT_TRUE(again) << again.error().message();
    EXPECT_EQ(difference(before, world.look()), "");
}

// Whatever the step at which the disk is full: the state is the one before or the one after, and
// both can still be reached.
void go_back_with(std::uint64_t pages_left) {
    SCOPED_TRACE(pages_left);
    const SmallDisk disk;
    if (!disk.mounted()) GTEST_SKIP() << "needs privileges";
    std::filesystem::create_directory(disk.workspace());
    PlainActor plain(disk.workspace());
    plain.create("one", 0644);
    plain.write("one", 0, std::string(20'000, '1'));
    plain.create("two", 0644);
    plain.write("two", 0, std::string(40'000, '2'));
    World world(disk.workspace());
    const Snapshot root = world.look();
    const auto checkpoint = [&](const char* name) {
        ASSERT_TRUE(world.operations().checkpoint(World::asker(), journal::NodeKind::kCheckpoint,
                                                  name, ""));
    };
    world.actor().truncate("one", 0);
    world.actor().create("three", 0644);
    checkpoint("c1");
    const Snapshot first = world.look();
    world.actor().truncate("two", 0);
    world.actor().mkdir("dir", 0755);
    world.actor().rename("three", "dir/three", 0);
    checkpoint("c2");
    const Snapshot second = world.look();
    disk.fill(pages_left);
    const auto moved =
        world.operations().rollback(World::asker(), "root", false, overlay::Consent::kAll);
    const bool wounded = world.operations().status("", false)->wounded;
    const Snapshot now = world.look();
    if (moved) {
        EXPECT_EQ(difference(root, now), "");
    }
    if (!moved && !wounded) {
        EXPECT_TRUE(now == second || now == first) << moved.error().message() << "\n"
                                                   << difference(second, now);
    }
    // In another life nothing may move by itself unless the session said that it is wounded.
    disk.make_room();
    if (!wounded) {
        EXPECT_EQ(world.actor().create("later", 0644), 0);
        const Snapshot later = world.look();
        world.reopen();
        EXPECT_EQ(difference(later, world.look()), "");
    } else {
        const auto recovered = world.operations().recover();
        EXPECT_TRUE(recovered) << recovered.error().message();
        EXPECT_FALSE(world.operations().status("", false)->wounded);
    }
    for (int round = 0; round < 2; ++round) {
        const auto to = [&](const char* name, const Snapshot& state) {
            const auto there =
                world.operations().rollback(World::asker(), name, false, overlay::Consent::kAll);
            ASSERT_TRUE(there) << there.error().message();
            EXPECT_EQ(difference(state, world.look()), "") << name;
        };
        to("c2", second);
        to("root", root);
        to("c1", first);
    }
}

TEST_F(Review, AFullDiskLeavesAStateThatTheJournalKnowsS165) {
    for (std::uint64_t pages = 0; pages < 60 && !IsSkipped() && !HasFailure(); ++pages) {
        if (is_taken(pages)) go_back_with(pages);
    }
}

// The same for what is taken back alone.
void revert_with(std::uint64_t pages_left) {
    SCOPED_TRACE(pages_left);
    const SmallDisk disk;
    if (!disk.mounted()) GTEST_SKIP() << "needs privileges";
    std::filesystem::create_directory(disk.workspace());
    PlainActor plain(disk.workspace());
    plain.create("one", 0644);
    plain.write("one", 0, std::string(20'000, '1'));
    World world(disk.workspace());
    const Snapshot root = world.look();
    world.actor().truncate("one", 0);
    world.actor().create("three", 0644);
    ASSERT_TRUE(
        world.operations().checkpoint(World::asker(), journal::NodeKind::kCheckpoint, "c1", ""));
    const Snapshot first = world.look();
    disk.fill(pages_left);
    const auto moved = world.operations().revert(World::asker(), "c1", false);
    const bool wounded = world.operations().status("", false)->wounded;
    if (!moved && !wounded) {
        EXPECT_EQ(difference(first, world.look()), "") << moved.error().message();
    }
    disk.make_room();
    if (wounded) {
        EXPECT_TRUE(world.operations().recover());
    }
    const Snapshot now = world.look();
    EXPECT_TRUE(now == first || (moved && now == root)) << difference(first, now);
    world.reopen();
    EXPECT_EQ(difference(now, world.look()), "");
    ASSERT_TRUE(world.operations().rollback(World::asker(), "root", false, overlay::Consent::kAll));
    EXPECT_EQ(difference(root, world.look()), "");
    ASSERT_TRUE(world.operations().rollback(World::asker(), "c1", false, overlay::Consent::kAll));
    EXPECT_EQ(difference(first, world.look()), "");
}

TEST_F(Review, AFullDiskAtARevert) {
    for (std::uint64_t pages = 0; pages < 40 && !IsSkipped() && !HasFailure(); ++pages) {
        if (is_taken(pages)) revert_with(pages);
    }
}

// A step that someone makes while the changes are taken back is either taken back too or can be.
TEST_F(Review, PurgeKeepsTheWayBackFromStepsMadeMeanwhile) {
    World world(scratch_.path());
    const Snapshot root = world.look();
    std::atomic<bool> stop = false;
    std::thread other([&] {
        for (int i = 0; !stop; ++i) {
            EXPECT_EQ(world.actor().create("step" + std::to_string(i), 0644), 0);
            EXPECT_TRUE(
                world.operations().checkpoint(World::asker(), journal::NodeKind::kStep, "", ""));
        }
    });
    for (int i = 0; i < 40; ++i)
        ignore(world.operations().discard(World::asker(), true, overlay::Consent::kAll),
               "the other's steps may be in the way");
    stop = true;
    other.join();
    ignore(world.operations().discard(World::asker(), false, overlay::Consent::kAll),
           "nothing may be left");
    EXPECT_EQ(difference(root, world.look()), "");
}

}  // namespace
}  // namespace unwrite::tests
