// What is removed behind the mount comes back (S85, S49).
#include <gtest/gtest.h>

#include <fstream>

#include "base/crash_point.h"
#include "tests/overlay/looking.h"

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
        const pid_t child = ::fork();
        if (child == 0) {
            ::setenv("UNWRITE_CRASH_AT", point.c_str(), 1);
            reset_crash_points();
            begin();
            const bool done = operations().discard(World::asker(), false, Consent::kAll).ok();
            ::_exit(done ? 0 : 1);
        }
        int status = 0;
        ::waitpid(child, &status, 0);
        EXPECT_TRUE(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
        return WIFSIGNALED(status);
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

// Killed at the n-th crash point of the discard, for every n (in the short form: every fifth) until
// it is not killed any more.
TEST_F(VanishedTest, ADiscardThatIsKilledAnywhereIsDoneByTheNextOneS49) {
    const int step = std::getenv("UNWRITE_LONG") != nullptr ? 1 : 5;
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
