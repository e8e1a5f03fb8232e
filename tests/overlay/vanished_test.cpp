// What is removed behind the mount comes back (S85, S49).
#include <gtest/gtest.h>

#include <fstream>

#include "tests/overlay/looking.h"
#include "tests/support/thorough.h"

namespace unwrite::tests {
namespace {

using overlay::Consent;

class VanishedTest : public Looking {
 protected:
    void SetUp() override { furnish(); }
    void furnish() {
        before("top", "top\n");
        before("src/a", "a\n");
        before("src/b", "b\n");
        before("src/never touched", "whole\n");
        before("src/sub/c", "c\n");
        begin();
        first_ = world_->look();
        replace("top", "changed\n");
        ASSERT_EQ(actor().write("src/a", 0, "A"), 0);
        ASSERT_EQ(actor().unlink("src/b"), 0);
        save("src/sub/c", "saved anew\n");
        make("src/sub/new", "new\n");
    }
    void remove_behind(const std::string& path) { std::filesystem::remove_all(raw() / path); }
    std::string text(const std::string& path) const {
        std::ifstream in(raw() / path, std::ios::binary);
        return {std::istreambuf_iterator<char>(in), {}};
    }
    bool exists(const std::string& path) const { return std::filesystem::exists(raw() / path); }
    void expect_captured_files() const {
        EXPECT_EQ(text("top"), "top\n");
        EXPECT_EQ(text("src/a"), "a\n");
        EXPECT_EQ(text("src/b"), "b\n");
        EXPECT_EQ(text("src/sub/c"), "c\n");
        EXPECT_FALSE(exists("src/sub/new"));
    }
    void expect_no_problem() {
        ASSERT_ASSIGN(const auto checked, operations().check(false));
        EXPECT_EQ(checked.problems, Lines());
    }
    /// In a process of its own; true when it did not live to the end.
    bool discard_killed_at(int point) { return discard_killed_at("*:" + std::to_string(point)); }
    bool discard_killed_at(const std::string& point) {
        return is_killed_at(point, [this] { return discard_all(); });
    }
    Snapshot first_;
};

TEST_F(VanishedTest, ADiscardMakesARemovedDirectoryAnewS85) {
    std::filesystem::permissions(raw() / "src", std::filesystem::perms{0750});
    remove_behind("src");
    ASSERT_ASSIGN(const auto moved, operations().discard(World::asker(), false, Consent::kOwn));
    EXPECT_EQ(moved.from, 0U) << "it must say first what it takes along";
    EXPECT_EQ(moved.behind, (Lines{"src/", "src/a", "src/sub/"}));
    EXPECT_EQ(text("top"), "changed\n");
    ASSERT_OK(operations().discard(World::asker(), false, Consent::kAll));
    expect_captured_files();
    expect_no_problem();
    ASSERT_OK(operations().redo(World::asker(), 9, Consent::kAll));
    EXPECT_EQ(text("top"), "changed\n");
    EXPECT_FALSE(exists("src/a"));
    ASSERT_OK(operations().rollback(World::asker(), "root", false, Consent::kAll));
    expect_captured_files();
    expect_no_problem();
}

TEST_F(VanishedTest, WhatWasMadeInItsPlaceIsUsedAndKeptS85) {
    remove_behind("src");
    before("src/mine", "mine\n");
    before("src/a", "mine too\n");
    ASSERT_OK(operations().discard(World::asker(), false, Consent::kAll));
    expect_captured_files();
    EXPECT_EQ(text("src/mine"), "mine\n");
    ASSERT_OK(operations().redo(World::asker(), 9, Consent::kAll));
    EXPECT_EQ(text("src/a"), "mine too\n");
    expect_no_problem();
}

TEST_F(VanishedTest, AFileInItsPlaceIsAConflictAndNothingIsDoneS85) {
    remove_behind("src");
    before("src", "a file\n");
    const auto moved = operations().discard(World::asker(), false, Consent::kAll);
    ASSERT_FALSE(moved);
    EXPECT_EQ(moved.error().kind(), ErrorKind::kConflict);
    EXPECT_EQ(text("src"), "a file\n");
    EXPECT_EQ(text("top"), "changed\n");
    remove_behind("src");
    ASSERT_OK(operations().discard(World::asker(), false, Consent::kAll));
    expect_captured_files();
}

TEST_F(VanishedTest, ItIsFoundAfterARestartAndOverSeveralStepsS85) {
    checkpoint("one");
    ASSERT_EQ(actor().write("src/sub/new", 0, "N"), 0);
    replace("top", "again\n");
    world_->reopen();
    remove_behind("src/sub");
    const auto undone = operations().undo(World::asker(), 1, Consent::kAll);
    ASSERT_FALSE(undone);
    EXPECT_EQ(undone.error().kind(), ErrorKind::kConflict);
    ASSERT_OK(operations().rollback(World::asker(), "one", false, Consent::kAll));
    EXPECT_EQ(text("src/sub/new"), "new\n");
    ASSERT_OK(operations().discard(World::asker(), false, Consent::kAll));
    expect_captured_files();
    EXPECT_EQ(text("src/never touched"), "whole\n");
    expect_no_problem();
}

TEST_F(VanishedTest, OnePathOfItCanBeHadBackS85) {
    remove_behind("src");
    ASSERT_OK(operations().restore_paths(World::asker(), {"src/b"}, "", false));
    EXPECT_EQ(text("src/b"), "b\n");
    EXPECT_FALSE(exists("src/a"));
    EXPECT_EQ(text("top"), "changed\n");
    ASSERT_OK(operations().discard(World::asker(), false, Consent::kAll));
    expect_captured_files();
}

TEST_F(VanishedTest, WhatIsMovedOutOfTheWorkspaceIsLeftAloneS85) {
    const auto outside = scratch_.path() / "outside";
    std::filesystem::create_directories(outside);
    // While somebody has it open: a descriptor must not lead there.
    ASSERT_EQ(actor().hold(0, "src"), 0);
    std::filesystem::rename(raw() / "src", outside / "src");
    std::filesystem::rename(raw() / "top", outside / "top");
    const Snapshot there = snapshot(outside.string());
    ASSERT_OK(operations().discard(World::asker(), false, Consent::kAll));
    EXPECT_EQ(difference(there, snapshot(outside.string())), "");
    expect_captured_files();
    actor().drop(0);
    expect_no_problem();
}

TEST_F(VanishedTest, AnotherHardLinkOutsideIsLeftAloneS85) {
    const auto outside = scratch_.path() / "outside";
    std::filesystem::create_hard_link(raw() / "top", outside);
    std::filesystem::remove(raw() / "top");
    ASSERT_OK(operations().discard(World::asker(), false, Consent::kAll));
    std::ifstream in(outside);
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), "changed\n");
    EXPECT_EQ(text("top"), "top\n");
}

TEST_F(VanishedTest, ADirectoryMovedToWhereAnotherWasIsNotMergedWithItS85) {
    before("d1/x", "one\n");
    before("d2/x", "two\n");
    checkpoint("A");
    save("d1/x", "ONE\n");
    save("d2/x", "TWO\n");
    remove_behind("d2");
    std::filesystem::rename(raw() / "d1", raw() / "d2");
    const auto refused = operations().rollback(World::asker(), "A", false, Consent::kAll);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind(), ErrorKind::kConflict);
    std::filesystem::rename(raw() / "d2", raw() / "d1");
    ASSERT_OK(operations().rollback(World::asker(), "A", false, Consent::kAll));
    EXPECT_EQ(text("d1/x"), "one\n");
    EXPECT_EQ(text("d2/x"), "two\n");
}

TEST_F(VanishedTest, WhatVanishedAndWasMadeAnewThroughTheMountComesBackS85) {
    checkpoint("A");
    const Snapshot a = world_->look();
    ASSERT_EQ(actor().write("src/a", 0, "B"), 0);
    std::filesystem::remove(raw() / "src/a");
    before("src/a", "behind\n");
    save("src/a", "agent\n");
    ASSERT_OK(operations().rollback(World::asker(), "A", false, Consent::kAll));
    EXPECT_EQ(text("src/a"), "A\n");
    ASSERT_OK(operations().discard(World::asker(), false, Consent::kAll));
    expect_captured_files();
}

TEST_F(VanishedTest, TwoReplacementsBehindInTwoIntervalsComeBackOneByOneS85) {
    checkpoint("A");
    std::filesystem::remove(raw() / "src/a");
    before("src/a", "first\n");
    ASSERT_EQ(actor().write("src/a", 0, "F"), 0);
    checkpoint("B");
    std::filesystem::remove(raw() / "src/a");
    before("src/a", "second\n");
    ASSERT_EQ(actor().write("src/a", 0, "S"), 0);
    ASSERT_OK(operations().rollback(World::asker(), "B", false, Consent::kAll));
    EXPECT_EQ(text("src/a"), "second\n") << "as B left it is not known; the state before is";
    ASSERT_OK(operations().discard(World::asker(), false, Consent::kAll));
    EXPECT_EQ(text("src/a"), "a\n");
}

TEST_F(VanishedTest, ADirectoryMadeAnewThroughTheMountGivesWayS85) {
    checkpoint("A");
    ASSERT_EQ(actor().write("src/sub/new", 0, "N"), 0);
    remove_behind("src/sub");
    ASSERT_EQ(actor().mkdir("src/sub", 0755), 0);
    make("src/sub/other", "other\n");
    ASSERT_OK(operations().rollback(World::asker(), "A", false, Consent::kAll));
    EXPECT_EQ(text("src/sub/new"), "new\n");
    EXPECT_FALSE(exists("src/sub/other"));
    ASSERT_OK(operations().discard(World::asker(), false, Consent::kAll));
    expect_captured_files();
}

TEST_F(VanishedTest, DirectoriesThatWereMovedInACircleAreFoundMissingS85) {
    for (const char* name : {"a", "b", "c"})
        ASSERT_EQ(actor().mkdir(name, 0755), 0);
    make("a/x", "x");
    checkpoint("A");
    for (const auto& [from, to] :
         std::vector<std::pair<const char*, const char*>>{{"c", "a/c"},
                                                          {"a/c", "c"},
                                                          {"b", "a/b"},
                                                          {"a/b", "c/b"},
                                                          {"a", "c/a"},
                                                          {"c/a", "c/b/a"}})
        ASSERT_EQ(actor().rename(from, to, 0), 0) << from;
    ASSERT_EQ(actor().write("c/b/a/x", 0, "X"), 0);
    world_->reopen();
    remove_behind("c");
    world_->reopen();
    ASSERT_OK(operations().rollback(World::asker(), "A", false, Consent::kAll));
    EXPECT_EQ(text("a/x"), "x");
    EXPECT_TRUE(exists("b"));
    EXPECT_TRUE(exists("c"));
}

TEST_F(VanishedTest, ALongChainOfMovedDirectoriesIsFoundMissingSoonS85) {
    std::string path = "src";
    for (int i = 0; i < 40; ++i) {
        ASSERT_EQ(actor().mkdir(path + "/t", 0755), 0);
        path += "/d";
        ASSERT_EQ(actor().rename(path.substr(0, path.size() - 1) + "t", path, 0), 0);
    }
    make(path + "/x", "x");
    checkpoint("A");
    ASSERT_EQ(actor().write(path + "/x", 0, "X"), 0);
    world_->reopen();
    remove_behind("src");
    ASSERT_OK(operations().rollback(World::asker(), "A", false, Consent::kAll));
    EXPECT_EQ(text(path + "/x"), "x");
}

TEST_F(VanishedTest, UndoOfOneStepRefusesWhatWasWrittenBehindS85) {
    checkpoint();
    replace("src/sub/new", "step\n");
    const std::string node = checkpoint();
    {
        std::ofstream out(raw() / "src/sub/new", std::ios::app);
        out << "behind\n";
    }
    const auto refused = operations().revert(World::asker(), node, false);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind(), ErrorKind::kConflict);
    EXPECT_EQ(text("src/sub/new"), "step\nbehind\n");
}

// Killed at the n-th crash point of the discard, for every n (in the short form: every fifth) until
// it is not killed any more.
TEST_F(VanishedTest, ADiscardThatIsKilledAnywhereIsDoneByTheNextOneS49) {
    const int step = is_long() ? 1 : 5;
    int kills = 0;
    for (int point = 1;; point += step) {
        world_.reset();
        std::filesystem::remove_all(raw());
        furnish();
        world_.reset();
        remove_behind("src");
        const bool killed = discard_killed_at(point);
        begin();
        const auto again = operations().discard(World::asker(), false, Consent::kAll);
        EXPECT_TRUE(again || again.error().kind() == ErrorKind::kNothing)
            << again.error().message();
        expect_captured_files();
        expect_no_problem();
        ASSERT_FALSE(HasFailure()) << "killed at point " << point;
        if (!killed) break;
        ++kills;
    }
    std::cout << kills << " kills\n";
    EXPECT_GT(kills, 10);
}

TEST_F(VanishedTest, RecoveryGoesOnWithoutADirectoryThatWentMeanwhileS49) {
    for (const char* point : {"cross.apply.before:1", "restore.empty.after:1",
                              "restore.fill.after:1", "restore.content.truncated:1"}) {
        world_.reset();
        std::filesystem::remove_all(raw());
        furnish();
        world_.reset();
        ASSERT_TRUE(discard_killed_at(point)) << point;
        remove_behind("src");
        begin();
        ASSERT_OK(operations().status("", false));
        const auto again = operations().discard(World::asker(), false, Consent::kAll);
        EXPECT_TRUE(again || again.error().kind() == ErrorKind::kNothing)
            << point << ": " << again.error().message();
        EXPECT_EQ(text("top"), "top\n") << point;
        EXPECT_EQ(text("src/a"), "a\n") << point;
        EXPECT_EQ(text("src/sub/c"), "c\n") << point;
    }
}

TEST_F(VanishedTest, WhatIsRemovedThroughTheMountIsNotBehindItS85) {
    for (const char* path : {"src/a", "src/never touched", "src/sub/c", "src/sub/new"})
        ASSERT_EQ(actor().unlink(path), 0) << path;
    ASSERT_EQ(actor().rmdir("src/sub"), 0);
    ASSERT_EQ(actor().rmdir("src"), 0);
    ASSERT_ASSIGN(const auto moved, operations().discard(World::asker(), false, Consent::kOwn));
    EXPECT_NE(moved.from, 0U);
    EXPECT_EQ(moved.behind, Lines());
    EXPECT_EQ(difference(first_, world_->look()), "");
}

}  // namespace
}  // namespace unwrite::tests
