// Sequences that a review suspected of losing something.
#include <gtest/gtest.h>

#include <filesystem>
#include <thread>

#include "tests/model/operation.h"
#include "tests/support/plain_actor.h"
#include "tests/support/scratch.h"
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
    ASSERT_TRUE(world.operations().checkpoint(World::asker(), journal::NodeKind::kCheckpoint, "c", ""));
    ASSERT_EQ(world.actor().rename("a/d", "b/d", 0), 0);
    const Snapshot moved = world.look();
    const auto restored = world.operations().restore_paths(World::asker(), {"a/d"}, "c", false);
    if (!restored) {
        EXPECT_EQ(difference(moved, world.look()), "");
        return;
    }
    const auto undone = world.operations().undo(World::asker(), 1, false);
    ASSERT_TRUE(undone) << undone.error().message();
    EXPECT_EQ(difference(moved, world.look()), "");
}

TEST_F(Review, TrustedAttributesOfASymlinkComeBack) {
    World world(scratch_.path());
    if (world.actor().set_xattr("link", "trusted.kept", "1", 0) != 0) GTEST_SKIP() << "needs privileges";
    ASSERT_TRUE(world.operations().checkpoint(World::asker(), journal::NodeKind::kCheckpoint, "c", ""));
    const Snapshot before = world.look();
    ASSERT_EQ(world.actor().set_xattr("link", "trusted.kept", "2", 0), 0);
    ASSERT_EQ(world.actor().set_xattr("link", "trusted.new", "2", 0), 0);
    ASSERT_TRUE(world.operations().rollback(World::asker(), "c", false, false));
    EXPECT_EQ(difference(before, world.look()), "");
}

// Anchors that nothing needs any more, since the step that made them was collected, while the objects are displaced.
TEST_F(Review, ASweepSparesWhatARestoreDisplacesMeanwhile) {
    constexpr int kDirectories = 3000;  // keep the sweep busy
    constexpr int kFiles = 60;
    World world(scratch_.path());
    TreeActor& actor = world.actor();
    for (int i = 0; i < kFiles; ++i) ASSERT_EQ(actor.create("a/" + std::to_string(i), 0644), 0);
    ASSERT_TRUE(world.operations().checkpoint(World::asker(), journal::NodeKind::kCheckpoint, "c", ""));
    const Snapshot before = world.look();
    for (int i = 0; i < kFiles; ++i) ASSERT_EQ(actor.chmod("a/" + std::to_string(i), 0600), 0);
    ASSERT_EQ(actor.mkdir("big", 0755), 0);
    for (int i = 0; i < kDirectories; ++i) std::filesystem::create_directory(scratch_.path() / "big" / std::to_string(i));
    ASSERT_TRUE(world.operations().rollback(World::asker(), "c", false, false));
    std::thread sweeper([&] { EXPECT_TRUE(world.operations().gc({.max_bytes = 1})); });
    while (world.operations().log("", true, false)->entries.size() > 2) std::this_thread::yield();
    EXPECT_TRUE(world.operations().rollback(World::asker(), "root", false, false));
    sweeper.join();
    const auto again = world.operations().rollback(World::asker(), "c", false, false);
    ASSERT_TRUE(again) << again.error().message();
    EXPECT_EQ(difference(before, world.look()), "");
}

}  // namespace
}  // namespace unwrite::tests
