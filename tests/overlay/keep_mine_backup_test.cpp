// Keep-mine where a backup was kept: what the user did with it stays, or is a conflict.
#include "tests/overlay/keeping.h"

namespace unwrite::tests {
namespace {

TEST_F(KeepMine, TheUsersChangesOfABackupStayS63) {
    start();
    as_agent();
    ASSERT_EQ(actor().rename("text", "backup", 0), 0);
    save("text", numbered({{10, "agent"}}));
    as_user();
    save("text", numbered({{10, "agent"}, {30, "user"}}), "~");
    as_user();
    replace("backup", numbered({{20, "user"}}));
    expect_conflict(":agents", "backup");
}

// Some editors write the new text into the backup that is there, and rename it.
TEST_F(KeepMine, TheUserSavedByTheBackupThatTheAgentKeptS63) {
    start();
    as_agent();
    ASSERT_EQ(actor().rename("text", "text~", 0), 0);
    make("text", numbered({{10, "agent"}}));
    as_user();
    replace("text~", numbered({{10, "agent"}, {20, "user"}}));
    ASSERT_EQ(actor().rename("text~", "text", 0), 0);
    expect_conflict(":agents", "text");
}

TEST_F(KeepMine, TheUserSavedByTheBackupOverACheckpointS63) {
    start();
    as_agent();
    ASSERT_EQ(actor().rename("text", "text~", 0), 0);
    make("text", numbered({{10, "agent"}}));
    as_user();
    checkpoint();
    replace("text~", numbered({{10, "agent"}, {20, "user"}}));
    ASSERT_EQ(actor().rename("text~", "text", 0), 0);
    ASSERT_EQ(actor().append("text", "more\n"), 0);
    as_agent();
    ASSERT_EQ(actor().append("text", "agent\n"), 0);
    expect_left(numbered({{20, "user"}}) + "more\n");
}

TEST_F(KeepMine, TheUserSavedTheAgentsLineByTheBackupS63) {
    start();
    as_agent();
    ASSERT_EQ(actor().rename("text", "text~", 0), 0);
    make("text", numbered({{10, "agent"}}));
    as_user();
    replace("text~", numbered({{10, "agent and user"}}));
    ASSERT_EQ(actor().rename("text~", "text", 0), 0);
    expect_conflict(":agents", "text");
}

// The agent keeps a backup, the user saves the file anew and writes to the backup, and then the
// agent takes the backup away: what the user wrote there is nowhere else.
class KeepMineOfABackup : public KeepMine, public ::testing::WithParamInterface<int> {};

TEST_P(KeepMineOfABackup, WhatTheUserWroteThereIsNotLostS63) {
    start();
    as_agent();
    const int way = GetParam();
    if (way == 4) {
        ASSERT_EQ(actor().link("text", "text~"), 0);
        save("text", numbered({{10, "agent"}}));
    } else {
        ASSERT_EQ(actor().rename("text", "text~", 0), 0);
        make("text", numbered({{10, "agent"}}));
    }
    as_user();
    if (way == 1) checkpoint();
    if (way != 2) save("text", numbered({{10, "agent"}, {30, "user"}}), ".u");
    if (way == 3) {
        replace("text~", std::string("\0\0binary", 8));
    } else if (way == 5) {
        ASSERT_EQ(actor().set_xattr("text~", "user.k", "v", 0), 0);
    } else {
        replace("text~", numbered({{20, "user"}}));
    }
    if (way == 2) save("text", numbered({{10, "agent"}, {30, "user"}}), ".u");
    as_agent();
    if (way == 6) {
        save("text~", numbered({}));
    } else {
        ASSERT_EQ(actor().unlink("text~"), 0);
    }
    // Before the file was saved anew, it may be what the new one was made of: then it is put
    // together.
    if (way == 2) return expect_left(numbered({{20, "user"}, {30, "user"}}));
    expect_conflict(":agents", "text");
}

INSTANTIATE_TEST_SUITE_P(Ways, KeepMineOfABackup, ::testing::Range(0, 7));

TEST_F(KeepMine, WhatTheUserPutBackIsNothingToTakeBackS63) {
    before("other", "other\n");
    start();
    as_agent();
    ASSERT_EQ(actor().rename("other", "text", RENAME_EXCHANGE), 0);
    as_user();
    ASSERT_EQ(actor().rename("other", "text", RENAME_EXCHANGE), 0);
    EXPECT_NUMBER(ENOENT, operations().revert(World::asker(), ":agents", false));
}

}  // namespace
}  // namespace unwrite::tests
