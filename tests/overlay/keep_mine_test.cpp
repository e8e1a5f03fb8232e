// What agents changed is taken back, and what the user changed in the same text stays.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tests/overlay/looking.h"

namespace unwrite::tests {
namespace {

class KeepMine : public Looking {
 protected:
    void start() {
        before("text", numbered({}));
        begin();
        run_ = begin_run();
    }
    /// Thirty lines, some of them changed.
    static std::string numbered(const std::map<int, std::string>& changed) {
        std::string text;
        for (int line = 1; line <= 30; ++line) {
            const auto found = changed.find(line);
            text += (found == changed.end() ? std::to_string(line) : found->second) + "\n";
        }
        return text;
    }
    void agent(const std::string& text) {
        as_agent();
        replace("text", text);
        as_user();
    }
    void user(const std::string& text) {
        as_user();
        replace("text", text);
    }
    std::string text(const std::string& path = "text") {
        return actor().read(path).value_or("none");
    }
    void expect_left(const std::string& wanted, const std::string& path = "text") {
        const Snapshot was = world_->look();
        ASSERT_OK(operations().revert(World::asker(), ":agents", true));
        EXPECT_EQ(difference(was, world_->look()), "");
        ASSERT_OK(operations().revert(World::asker(), ":agents", false));
        EXPECT_EQ(text(path), wanted);
        const Snapshot kept = world_->look();
        ASSERT_OK(operations().undo(World::asker(), 1, overlay::Consent::kAll));
        EXPECT_EQ(difference(was, world_->look()), "");
        ASSERT_OK(operations().redo(World::asker(), 1, overlay::Consent::kAll));
        EXPECT_EQ(difference(kept, world_->look()), "");
        ASSERT_OK(operations().discard(World::asker(), false, overlay::Consent::kAll));
        EXPECT_EQ(text(), numbered({}));
        ASSERT_ASSIGN(const auto checked, operations().check(false));
        EXPECT_EQ(checked.problems, std::vector<std::string>());
    }

    std::string run_;
};

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
    expect_conflict(":agents", "own");
}

TEST_F(KeepMine, AttributesThatChangedTooAreAConflictS63) {
    start();
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

TEST_F(KeepMine, UndoOfASessionPutsNothingTogetherS60) {
    start();
    agent(numbered({{10, "agent"}}));
    user(numbered({{10, "agent"}, {20, "user"}}));
    expect_conflict("agent", "text");
}

}  // namespace
}  // namespace unwrite::tests
