// What agents changed is taken back, and what the user changed in the same text stays.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include <random>

#include "tests/overlay/keeping.h"

namespace unwrite::tests {
namespace {

TEST_F(KeepMine, LinesApartS63) {
    start();
    agent(numbered({{10, "agent"}}));
    user(numbered({{10, "agent"}, {20, "user"}}));
    expect_left(numbered({{20, "user"}}));
}

TEST_F(KeepMine, TheUserBeforeTheAgentS63) {
    start();
    user(numbered({{20, "user"}}));
    agent(numbered({{10, "agent"}, {20, "user"}}));
    expect_left(numbered({{20, "user"}}));
}

TEST_F(KeepMine, InTurnsS63) {
    start();
    std::map<int, std::string> all, mine;
    for (int line = 2; line <= 26; line += 4) {
        all[line] = "agent";
        agent(numbered(all));
        all[line + 2] = mine[line + 2] = "user";
        user(numbered(all));
    }
    expect_left(numbered(mine));
}

TEST_F(KeepMine, OverCheckpointsS63) {
    start();
    agent(numbered({{10, "agent"}}));
    checkpoint();
    user(numbered({{10, "agent"}, {20, "user"}}));
    checkpoint();
    agent(numbered({{10, "agent"}, {11, "more"}, {20, "user"}}));
    expect_left(numbered({{20, "user"}}));
}

TEST_F(KeepMine, WhatTheAgentMovedGoesBackToItsNameS63) {
    start();
    as_agent();
    ASSERT_EQ(actor().rename("text", "moved", 0), 0);
    ASSERT_EQ(actor().write("moved", 0, "X"), 0);
    as_user();
    ASSERT_EQ(actor().append("moved", "user\n"), 0);
    expect_left(numbered({}) + "user\n");
}

TEST_F(KeepMine, TheSameLinesAreAConflictS63) {
    start();
    agent(numbered({{10, "agent"}}));
    user(numbered({{10, "user"}}));
    expect_conflict(":agents", "text");
    user(numbered({{10, "agent"}, {11, "user"}}));
    expect_conflict(":agents", "text");
}

TEST_F(KeepMine, NothingIsDoneWhereOneOfSeveralCannotBeHadS63) {
    start();
    agent(numbered({{10, "agent"}}));
    user(numbered({{10, "agent"}, {20, "user"}}));
    as_user();
    make("own", "user\n");
    as_agent();
    ASSERT_EQ(actor().append("own", "agent\n"), 0);
    as_user();
    ASSERT_EQ(actor().append("own", "below\n"), 0);
    expect_conflict(":agents", "own");
}

TEST_F(KeepMine, WhatTheUserMadeStaysWithoutTheAgentsLinesS63) {
    start();
    make("own", "user\n");
    as_agent();
    ASSERT_EQ(actor().append("own", "agent\n"), 0);
    as_user();
    expect_left("user\n", "own");
}

TEST_F(KeepMine, AttributesStayTheUsersS63) {
    start();
    agent(numbered({{10, "agent"}}));
    user(numbered({{10, "agent"}, {20, "user"}}));
    ASSERT_EQ(actor().chmod("text", 0600), 0);
    ASSERT_OK(operations().revert(World::asker(), ":agents", false));
    EXPECT_EQ(look("text").st_mode & 07777U, 0600U);
    ASSERT_OK(operations().undo(World::asker(), 1, overlay::Consent::kAll));
    expect_left(numbered({{20, "user"}}));
}

TEST_F(KeepMine, AttributesThatBothChangedAreAConflictS63) {
    start();
    as_agent();
    ASSERT_EQ(actor().chmod("text", 0640), 0);
    agent(numbered({{10, "agent"}}));
    user(numbered({{10, "agent"}, {20, "user"}}));
    ASSERT_EQ(actor().chmod("text", 0600), 0);
    expect_conflict(":agents", "text");
}

TEST_F(KeepMine, WhatIsNoTextIsAConflictS63) {
    start();
    agent(numbered({{10, std::string("a\0b", 3)}}));
    user(numbered({{10, std::string("a\0b", 3)}, {20, "user"}}));
    expect_conflict(":agents", "text");
}

TEST_F(KeepMine, UndoOfASessionDoesTheSameS60) {
    start();
    agent(numbered({{10, "agent"}}));
    user(numbered({{10, "agent"}, {20, "user"}}));
    ASSERT_OK(operations().revert(World::asker(), "agent", false));
    EXPECT_EQ(text(), numbered({{20, "user"}}));
}

TEST_F(KeepMine, TheAgentReplacedTheFileS63) {
    before("text", numbered({}));
    std::filesystem::create_hard_link(raw() / "text", raw() / "link");
    start();
    const auto inode = look("text").st_ino;
    agent_saves(numbered({{10, "agent"}}));
    EXPECT_NE(look("text").st_ino, inode);
    user(numbered({{10, "agent"}, {20, "user"}}));
    ASSERT_OK(operations().revert(World::asker(), ":agents", false));
    EXPECT_EQ(text(), numbered({{20, "user"}}));
    EXPECT_EQ(look("text").st_ino, inode);
    EXPECT_EQ(text("link"), numbered({{20, "user"}}));
    ASSERT_OK(operations().undo(World::asker(), 1, overlay::Consent::kAll));
    EXPECT_EQ(text("link"), numbered({}));
    expect_left(numbered({{20, "user"}}));
}

TEST_F(KeepMine, TheUserReplacedTheFileS63) {
    start();
    agent(numbered({{10, "agent"}}));
    user_saves(numbered({{10, "agent"}, {20, "user"}}));
    const auto inode = look("text").st_ino;
    ASSERT_OK(operations().revert(World::asker(), ":agents", false));
    EXPECT_EQ(look("text").st_ino, inode);
    ASSERT_OK(operations().undo(World::asker(), 1, overlay::Consent::kAll));
    expect_left(numbered({{20, "user"}}));
}

TEST_F(KeepMine, BothReplacedTheFileS63) {
    start();
    agent_saves(numbered({{10, "agent"}}));
    user_saves(numbered({{10, "agent"}, {20, "user"}}));
    expect_left(numbered({{20, "user"}}));
}

TEST_F(KeepMine, TheUserReplacedTheFileBeforeTheAgentS63) {
    start();
    as_user();
    save("text", numbered({{20, "user"}}), "~");
    const struct stat mine = look("text");
    agent_saves(numbered({{10, "agent"}, {20, "user"}}));
    ASSERT_OK(operations().revert(World::asker(), ":agents", false));
    EXPECT_EQ(look("text").st_ino, mine.st_ino);
    EXPECT_EQ(look("text").st_mtim.tv_nsec, mine.st_mtim.tv_nsec);
    ASSERT_OK(operations().undo(World::asker(), 1, overlay::Consent::kAll));
    expect_left(numbered({{20, "user"}}));
}

TEST_F(KeepMine, NoTextIsNeededWhereTheUserCameFirstS63) {
    start();
    as_user();
    save("text", std::string("a\0user", 6), "~");
    agent_saves(std::string("a\0agent", 7));
    expect_left(std::string("a\0user", 6));
}

TEST_F(KeepMine, WhatTheUserMadeAndTheAgentReplacedS63) {
    start();
    user_saves(numbered({{20, "user"}}), "own");
    agent_saves(numbered({{10, "agent"}, {20, "user"}}), "own");
    user(numbered({}));
    replace("own", numbered({{10, "agent"}, {20, "user"}, {25, "user"}}));
    expect_left(numbered({{20, "user"}, {25, "user"}}), "own");
}

TEST_F(KeepMine, AttributesOfReplacementsS63) {
    start();
    as_agent();
    make("text.tmp", numbered({{10, "agent"}}));
    ASSERT_EQ(actor().chmod("text.tmp", 0600), 0);
    ASSERT_EQ(actor().rename("text.tmp", "text", 0), 0);
    user(numbered({{10, "agent"}, {20, "user"}}));
    ASSERT_EQ(actor().set_xattr("text", "user.mine", "yes", 0), 0);
    ASSERT_OK(operations().revert(World::asker(), ":agents", false));
    EXPECT_EQ(look("text").st_mode & 07777U, 0644U);
    char value[8] = {};
    EXPECT_EQ(::getxattr((raw() / "text").c_str(), "user.mine", value, sizeof value), 3);
    ASSERT_OK(operations().undo(World::asker(), 1, overlay::Consent::kAll));
    EXPECT_EQ(look("text").st_mode & 07777U, 0600U);
    expect_left(numbered({{20, "user"}}));
}

/// Some saves of both sides, in lines of their own, in place and as new files; true when an agent
/// was among them. `mine`: what the user changed.
class SavedInAnyOrder : public KeepMine {
 protected:
    bool save_all(unsigned seed, const char* users, const char* agents) {
        world_.reset();
        std::filesystem::remove_all(raw());
        start();
        std::mt19937 random(seed);
        std::map<int, std::string> all;
        mine_.clear();
        for (int step = 0; step < 7; ++step) {
            const bool by_user = random() % 2 == 0;
            const int line = static_cast<int>(random() % 4) * 8 + (by_user ? 6 : 2);
            all[line] = (by_user ? "user " : "agent ") + std::to_string(step);
            if (by_user) mine_[line] = all[line];
            if (random() % 4 == 0) checkpoint();
            if (random() % 2 == 0) {
                by_user ? as_user() : as_agent();
                save("text", numbered(all), by_user ? users : agents);
                as_user();
            } else {
                by_user ? user(numbered(all)) : agent(numbered(all));
            }
        }
        return mine_.size() < all.size();
    }
    std::map<int, std::string> mine_;
};

TEST_F(SavedInAnyOrder, OnlyTheUsersLinesStayS63) {
    for (unsigned seed = 1; seed <= 40; ++seed) {
        SCOPED_TRACE(seed);
        if (save_all(seed, "~", ".new")) expect_left(numbered(mine_));
    }
}

TEST_F(SavedInAnyOrder, ThroughTheSameNamesItIsRightOrAConflictS63) {
    for (unsigned seed = 1; seed <= 40; ++seed) {
        SCOPED_TRACE(seed);
        if (!save_all(seed, ".new", ".new")) continue;
        const auto foreseen = operations().revert(World::asker(), ":agents", true);
        if (foreseen) {
            expect_left(numbered(mine_));
        } else {
            expect_conflict(":agents", "text");
        }
    }
}

TEST_F(KeepMine, ReplacedWithTheSameLinesIsAConflictS63) {
    start();
    agent_saves(numbered({{10, "agent"}}));
    user_saves(numbered({{10, "user"}}));
    expect_conflict(":agents", "text");
    user_saves(numbered({{10, "agent"}, {11, "user"}}));
    expect_conflict(":agents", "text");
}

TEST_F(KeepMine, WhatWasReplacedAndWrittenByAnotherNameIsAConflictS63) {
    before("text", numbered({}));
    std::filesystem::create_hard_link(raw() / "text", raw() / "link");
    start();
    agent_saves(numbered({{10, "agent"}}));
    user(numbered({{10, "agent"}, {20, "user"}}));
    replace("link", numbered({{25, "user"}}));
    expect_conflict(":agents", "text");
}

TEST_F(KeepMine, OneFileThatWasReplacedAtTwoNamesIsAConflictS63) {
    before("text", numbered({}));
    std::filesystem::create_hard_link(raw() / "text", raw() / "link");
    start();
    agent_saves(numbered({{10, "agent"}}));
    agent_saves(numbered({{10, "agent"}}), "link");
    user(numbered({{10, "agent"}, {20, "user"}}));
    replace("link", numbered({{10, "agent"}, {25, "user"}}));
    expect_conflict(":agents", "link");
}

TEST_F(KeepMine, WhatTheAgentMovedOverAFileGoesBackWithTheUsersChangesS63) {
    before("other", "other\n");
    start();
    as_agent();
    ASSERT_EQ(actor().rename("other", "text", 0), 0);
    as_user();
    ASSERT_EQ(actor().append("text", "user\n"), 0);
    expect_left("other\nuser\n", "other");
}

TEST_F(KeepMine, WhatTheUserMovedThereKeepsNothingOfTheAgentS63) {
    before("other", numbered({}));
    start();
    agent(numbered({{2, "agent"}}));
    as_agent();
    replace("other", numbered({{10, "agent"}}));
    as_user();
    ASSERT_EQ(actor().rename("other", "text", 0), 0);
    ASSERT_EQ(actor().append("text", "user\n"), 0);
    expect_conflict(":agents", "text");
}

TEST_F(KeepMine, AReplacementThatIsNoTextIsAConflictS63) {
    start();
    agent_saves(std::string("a\0b\n", 4));
    user_saves(std::string("a\0b\nuser\n", 9));
    expect_conflict(":agents", "text");
}

TEST_F(KeepMine, AReplacementThatHasAnotherNameIsAConflictS63) {
    start();
    agent_saves(numbered({{10, "agent"}}));
    ASSERT_EQ(actor().link("text", "mine"), 0);
    user(numbered({{10, "agent"}, {20, "user"}}));
    expect_conflict(":agents", "mine");
}

// What the agent displaces or removes after the user has changed it is in no other place.
TEST_F(KeepMine, WhatTheAgentReplacedOfTheUsersIsNotDroppedS63) {
    start();
    agent_saves(numbered({{10, "agent"}}));
    user(numbered({{10, "user"}}));
    agent_saves(numbered({{10, "user"}, {20, "agent"}}));
    expect_conflict(":agents", "text");
}

TEST_F(KeepMine, WhatTheUserWroteInTheAgentsFileIsNotDroppedS63) {
    start();
    agent_saves("agent\n", "made");
    as_user();
    replace("made", "agent\nuser\n");
    agent_saves("agent 2\nuser\n", "made");
    expect_conflict(":agents", "made");
}

TEST_F(KeepMine, TheUsersFileThatTheAgentMovedIsNotDroppedS63) {
    start();
    agent_saves("agent\n", "made");
    as_user();
    save("made", "user\n", "~");
    as_agent();
    ASSERT_EQ(actor().rename("made", "moved", 0), 0);
    as_user();
    expect_conflict(":agents", "made");
}

TEST_F(KeepMine, TheSecondTimeWhatRemainedIsTheUsersS63) {
    start();
    agent_saves(numbered({{10, "agent"}}));
    user(numbered({{10, "agent"}, {30, "user"}}));
    ASSERT_OK(operations().revert(World::asker(), ":agents", false));
    EXPECT_EQ(text(), numbered({{30, "user"}}));
    EXPECT_NUMBER(ENOENT, operations().revert(World::asker(), ":agents", false));
    agent_saves(numbered({{20, "agent"}, {30, "user"}}));
    expect_left(numbered({{30, "user"}}));
}

}  // namespace
}  // namespace unwrite::tests
