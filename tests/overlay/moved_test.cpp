// What one session made or moved, and another moved again: going back and forth loses nothing of
// either.
#include <gmock/gmock.h>
#include <sys/mount.h>
#include <sys/statvfs.h>

#include <filesystem>
#include <fstream>

#include "tests/overlay/looking.h"
#include "tests/support/plain_actor.h"

namespace unwrite::tests {
namespace {

class Moved : public Looking {
 protected:
    void rename(const std::string& from, const std::string& to, unsigned flags = 0) {
        ASSERT_EQ(actor().rename(from, to, flags), 0);
    }
    void mkdir(const std::string& path) { ASSERT_EQ(actor().mkdir(path, 0755), 0); }
    /// Back to `node` and here again.
    void there_and_back(const std::string& node) {
        const Snapshot then = world_->look();
        ASSERT_OK(operations().rollback(World::asker(), node, false, overlay::Consent::kAll));
        ASSERT_OK(operations().redo(World::asker(), 1, overlay::Consent::kAll));
        EXPECT_EQ(difference(then, world_->look()), "");
    }
    /// Undoes `what` by name, and brings it back.
    void undo_and_back(const std::string& what) {
        const Snapshot then = world_->look();
        ASSERT_OK(operations().revert(World::asker(), what, false));
        EXPECT_NE(difference(then, world_->look()), "");
        ASSERT_OK(operations().redo(World::asker(), 1, overlay::Consent::kAll));
        EXPECT_EQ(difference(then, world_->look()), "");
    }
    void agents_file_in_the_users_directory() {
        begin();
        begin_run();
        as_user();
        mkdir("p");
        as_agent();
        make("p/y", "agent");
        as_user();
    }
    /// Undoing the agent's work would take what is the user's: refused, and nothing is changed.
    void expect_conflict() {
        const Snapshot then = world_->look();
        const auto moved = operations().revert(World::asker(), "agent", false);
        ASSERT_FALSE(moved);
        EXPECT_EQ(moved.error().kind(), ErrorKind::kConflict) << moved.error().message();
        EXPECT_EQ(difference(then, world_->look()), "");
    }
};

TEST_F(Moved, ADirectoryOfTheUserIntoOneOfTheAgentS49) {
    begin();
    begin_run();
    checkpoint("c");
    as_user();
    mkdir("d");
    mkdir("d/o");
    make("d/o/precious", "user's");
    as_agent();
    mkdir("b");
    rename("d/o", "b/o");
    there_and_back("c");
}

TEST_F(Moved, ADirectoryRenamedByTwoSessionsS49) {
    begin();
    begin_run();
    checkpoint("c");
    as_agent();
    mkdir("p");
    mkdir("p/x");
    make("p/x/file", "precious");
    as_user();
    rename("p/x", "p/x2");
    as_agent();
    rename("p/x2", "p/x3");
    there_and_back("c");
}

TEST_F(Moved, ACreatedDirectoryExchangedWithAnOlderOneS49) {
    before("d/o/old", "1");
    begin();
    checkpoint("c");
    mkdir("p");
    mkdir("p/x");
    make("p/x/file", "precious");
    rename("p/x", "d/o", RENAME_EXCHANGE);
    rename("d/o", "p/z");
    there_and_back("c");
}

TEST_F(Moved, AnOlderDirectoryIntoACreatedOneUndoneByRunS49) {
    before("d/e/precious", "older");
    begin();
    begin_run();
    as_agent();
    mkdir("a");
    rename("d/e", "a/b");
    undo_and_back("agent");
}

TEST_F(Moved, AnOlderDirectoryIntoACreatedOneUndoneByNumberS49) {
    before("d/e/precious", "older");
    begin();
    mkdir("a");
    rename("d/e", "a/b");
    const std::string node = checkpoint("c");
    make("later", "later");
    checkpoint("c2");
    undo_and_back(node);
}

TEST_F(Moved, AnOlderDirectoryRestoredByPathS49) {
    before("d/e/precious", "older");
    begin();
    mkdir("a");
    rename("d/e", "a/b");
    const Snapshot then = world_->look();
    ASSERT_OK(operations().restore_paths(World::asker(), {"d/e", "a"}, "root", false));
    ASSERT_OK(operations().undo(World::asker(), 1, overlay::Consent::kAll));
    EXPECT_EQ(difference(then, world_->look()), "");
}

// So whoever asks before a file goes asks.
TEST_F(Moved, S76_AFileThatMakesWayForADirectoryIsSaidToGo) {
    before("was/f", "v\n");
    begin();
    const std::string node = checkpoint();
    ASSERT_EQ(actor().unlink("was/f"), 0);
    ASSERT_EQ(actor().rmdir("was"), 0);
    make("was", "precious\n");
    const auto moved = operations().restore_paths(World::asker(), {"was/f"}, node, true);
    ASSERT_TRUE(moved.ok()) << moved.error().message();
    EXPECT_EQ(lines_of(moved->changes), (Lines{"deleted was", "created was/", "created was/f"}));
}

TEST_F(Moved, S76_AFileOfAMovedDirectoryIsNotRestoredElsewhere) {
    before("d/e/a", "one\n");
    begin();
    replace("d/e/a", "two\n");
    ASSERT_EQ(actor().rename("d", "q", 0), 0);
    const auto refused = operations().restore_paths(World::asker(), {"d/e/a"}, "root", false);
    EXPECT_KIND(ErrorKind::kConflict, refused);
    EXPECT_THAT(refused.error().message(), ::testing::HasSubstr("its directory is now q/e"));
    EXPECT_EQ(scratch_.read("work/q/e/a"), "two\n");
    ASSERT_OK(operations().restore_paths(World::asker(), {"d", "q"}, "root", false));
    EXPECT_EQ(scratch_.read("work/d/e/a"), "one\n");
}

TEST_F(Moved, TheUsersFileInTheAgentsDirectoryS60) {
    begin();
    begin_run();
    as_user();
    make("y", "user's own");
    as_agent();
    mkdir("p");
    rename("y", "p/y");
    undo_and_back("agent");
    ASSERT_OK(operations().revert(World::asker(), "agent", false));
    EXPECT_EQ(actor().read("y").value_or(""), "user's own");
    EXPECT_FALSE(std::filesystem::exists(raw() / "p"));
}

TEST_F(Moved, TheUsersFileInAnOlderDirectoryS60) {
    before("d/z", "1");
    begin();
    begin_run();
    as_user();
    make("y", "user's own");
    as_agent();
    rename("y", "d/y");
    undo_and_back("agent");
    ASSERT_OK(operations().revert(World::asker(), "agent", false));
    EXPECT_EQ(actor().read("y").value_or(""), "user's own");
}

TEST_F(Moved, TheUsersFileRenamedWithinTheAgentsDirectoryS60) {
    begin();
    begin_run();
    as_agent();
    mkdir("p");
    as_user();
    make("p/y", "user's own");
    as_agent();
    rename("p/y", "p/y2");
    expect_conflict();
}

TEST_F(Moved, TheUserSavesOverTheAgentsFileS60) {
    agents_file_in_the_users_directory();
    make("p/t", "user's own");
    rename("p/t", "p/y");
    expect_conflict();
}

TEST_F(Moved, TheUserMakesTheAgentsFileAnewS60) {
    agents_file_in_the_users_directory();
    ASSERT_EQ(actor().unlink("p/y"), 0);
    make("p/y", "user's own");
    expect_conflict();
}

TEST_F(Moved, AFullDiskDoesNotHideWhoWroteAfterwardsS60) {
    const std::filesystem::path disk = scratch_.path() / "disk";
    std::filesystem::create_directory(disk);
    if (::mount("none", disk.c_str(), "tmpfs", 0, "size=2m") != 0)
        GTEST_SKIP() << "needs the right to mount";
    std::filesystem::create_directory(disk / "w");
    {
        PlainActor plain(disk / "w");
        ASSERT_EQ(plain.create("f", 0644), 0);
        ASSERT_EQ(plain.write("f", 0, std::string(100, '1')), 0);
        World world(disk / "w");
        overlay::Asker asker = World::asker();
        asker.pid = kAgent;
        asker.session = "agent";
        ASSERT_OK(world.operations().begin_run(asker, "work"));
        world.actor().set_caller({0, 0, kAgent, 0022});
        ASSERT_EQ(world.actor().write("f", 0, "agent"), 0);
        world.actor().set_caller({0, 0, ::getpid(), 0022});
        ASSERT_EQ(world.actor().create("warm", 0644), 0);  // the user is known from here on
        // The log's page is filled, so that the next record needs room.
        std::filesystem::path log;
        for (const auto& entry : std::filesystem::directory_iterator(disk / "w/.unwrite/deltas"))
            if (entry.path().extension() == ".log") log = entry.path();
        for (int i = 0; i < 200 && std::filesystem::file_size(log) % 4096 < 4096 - 40; ++i)
            ASSERT_EQ(world.actor().create("fill" + std::to_string(i), 0644), 0);
        std::filesystem::remove(disk / "w/.unwrite/ballast");  // as after a while on a full disk
        struct statvfs room = {};
        ASSERT_EQ(::statvfs(disk.c_str(), &room), 0);
        std::ofstream(disk / "full") << std::string(room.f_bavail * 4096, 'f');
        EXPECT_EQ(world.actor().write("f", 0, "user!"), ENOSPC);
        std::filesystem::remove(disk / "full");
        EXPECT_EQ(world.actor().write("f", 0, "user!"), 0);
        EXPECT_FALSE(world.operations().revert(World::asker(), "agent", false));
        EXPECT_EQ(world.actor().read("f")->substr(0, 5), "user!");
    }
    ::umount2(disk.c_str(), MNT_DETACH);
}

}  // namespace
}  // namespace unwrite::tests
