// Taking back one part and keeping the rest: what is a conflict, and what is not.
#include <gmock/gmock.h>

#include "tests/overlay/looking.h"

namespace unwrite::tests {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Reverting : public Looking {
 protected:
    /// Takes back what the agent did; the live state must be as `expected` copy says.
    void expect_reverted(const std::string& what) {
        const auto moved = operations().revert(World::asker(), what, false);
        ASSERT_TRUE(moved.ok()) << moved.error().message();
    }
    std::string text(const std::string& path) { return scratch_.read("work/" + path); }
};

TEST_F(Reverting, WhatTheAgentAloneChanged) {
    before("a", "one\n");
    before("b", "one\n");
    before("c", "one\n");
    before("d/x", "one\n");
    begin();
    begin_run();
    as_agent();
    replace("a", "agent\n");
    ASSERT_EQ(actor().unlink("c"), 0);
    ASSERT_EQ(actor().rename("d", "e", 0), 0);
    make("mine", "agent\n");
    ASSERT_EQ(actor().mkdir("dir", 0755), 0);
    make("dir/file", "agent\n");
    as_user();
    replace("b", "user\n");
    make("users", "user\n");
    ASSERT_EQ(actor().append("e/x", "user\n"), 0);
    expect_reverted("agent");
    EXPECT_THAT(changes(), ElementsAre("modified b", "modified d/x", "created users"));
    EXPECT_EQ(text("a"), "one\n");
    EXPECT_EQ(text("d/x"), "one\nuser\n");
}

TEST_F(Reverting, AcrossIntervals) {
    before("a", "0123456789");
    begin();
    begin_run();
    as_agent();
    ASSERT_EQ(actor().truncate("a", 4), 0);
    checkpoint();
    ASSERT_EQ(actor().append("a", "agent"), 0);
    make("n", "agent\n");
    checkpoint();
    ASSERT_EQ(actor().append("n", "agent\n"), 0);
    ASSERT_EQ(actor().write("a", 0, "X"), 0);
    expect_reverted("agent");
    EXPECT_THAT(changes(), IsEmpty());
    EXPECT_EQ(text("a"), "0123456789");
}

TEST_F(Reverting, OneInterval) {
    before("a", "one\n");
    before("b", "one\n");
    begin();
    replace("a", "two\n");
    const auto first = checkpoint();
    replace("b", "two\n");
    checkpoint();
    expect_reverted(first);
    EXPECT_THAT(changes(), ElementsAre("modified b"));
}

TEST_F(Reverting, ALaterChangeOfTheSameFileIsAConflict) {
    before("a", "one\n");
    begin();
    replace("a", "two\n");
    const auto first = checkpoint();
    ASSERT_EQ(actor().append("a", "three\n"), 0);
    expect_conflict(first, "a");
    checkpoint();
    expect_conflict(first, "a");
}

TEST_F(Reverting, WorkOfOthersBelowWhatTheAgentMade) {
    begin();
    begin_run();
    as_agent();
    ASSERT_EQ(actor().mkdir("dir", 0755), 0);
    make("dir/file", "agent\n");
    as_user();
    make("dir/notes", "user\n");
    expect_conflict("agent", "dir/notes");
    ASSERT_EQ(actor().rename("dir/notes", "notes", 0), 0);
    expect_reverted("agent");
    EXPECT_THAT(changes(), ElementsAre("created notes"));
}

TEST_F(Reverting, AnOlderFileThatSomeoneMovedIntoIt) {
    before("old", "one\n");
    begin();
    begin_run();
    as_agent();
    ASSERT_EQ(actor().mkdir("dir", 0755), 0);
    as_user();
    ASSERT_EQ(actor().rename("old", "dir/old", 0), 0);
    expect_conflict("agent", "dir/old");
}

TEST_F(Reverting, AFileOfTheAgentThatTheUserChanged) {
    begin();
    begin_run();
    as_agent();
    make("file", "agent\n");
    checkpoint();
    as_user();
    ASSERT_EQ(actor().append("file", "user\n"), 0);
    expect_conflict("agent", "file");
    ASSERT_EQ(actor().unlink("file"), 0);
    // What is left of the agent's work is as it would become.
    EXPECT_KIND(ErrorKind::kNothing, operations().revert(World::asker(), "agent", false));
}

TEST_F(Reverting, AFileOfTheUserThatTheAgentChanged) {
    begin();
    begin_run();
    as_user();
    make("file", "user\n");
    as_agent();
    ASSERT_EQ(actor().append("file", "agent\n"), 0);
    ASSERT_OK(operations().revert(World::asker(), "agent", false));
    EXPECT_EQ(actor().read("file").value_or(""), "user\n");
}

TEST_F(Reverting, TheDirectoryOfADeletedFileIsGone) {
    before("d/x", "one\n");
    begin();
    begin_run();
    as_agent();
    ASSERT_EQ(actor().unlink("d/x"), 0);
    as_user();
    ASSERT_EQ(actor().rmdir("d"), 0);
    expect_conflict("agent", "x");
}

TEST_F(Reverting, WhatTheAgentMadeAndRemovedInBetween) {
    before("a", "one\n");
    begin();
    begin_run();
    as_agent();
    ASSERT_EQ(actor().mkdir("t", 0755), 0);
    make("t/x", "1");
    checkpoint();
    ASSERT_EQ(actor().unlink("t/x"), 0);
    ASSERT_EQ(actor().rmdir("t"), 0);
    replace("a", "two\n");
    expect_reverted("agent");
    EXPECT_THAT(changes(), IsEmpty());
}

TEST_F(Reverting, ANameThatTheUserTookMeanwhile) {
    before("a", "one\n");
    begin();
    begin_run();
    as_agent();
    ASSERT_EQ(actor().unlink("a"), 0);
    checkpoint();
    as_user();
    make("a", "user\n");
    expect_conflict("agent", "a");
}

TEST_F(Reverting, AMovedFileThatTheUserMovedOn) {
    before("a", "one\n");
    before("d/x", "one\n");
    begin();
    begin_run();
    as_agent();
    ASSERT_EQ(actor().rename("a", "b", 0), 0);
    ASSERT_EQ(actor().rename("d", "e", 0), 0);
    checkpoint();
    as_user();
    ASSERT_EQ(actor().rename("e", "f", 0), 0);
    ASSERT_ASSIGN(const auto moved, operations().revert(World::asker(), "agent", false));
    EXPECT_EQ(moved.left, Lines{"f"});
    EXPECT_EQ(actor().read("a").value_or(""), "one\n");
    EXPECT_EQ(actor().read("f/x").value_or(""), "one\n");
}

// A file at its first name and at its last one would be a hard link that nobody made.
TEST_F(Reverting, S60_AFileThatTheUserMovedOnStaysWhereItIs) {
    before("a", "one\n");
    begin();
    begin_run();
    as_agent();
    ASSERT_EQ(actor().rename("a", "b", 0), 0);
    make("its", "agent\n");
    checkpoint();
    as_user();
    ASSERT_EQ(actor().rename("b", "c", 0), 0);
    ASSERT_ASSIGN(const auto moved, operations().revert(World::asker(), "agent", false));
    EXPECT_EQ(moved.left, Lines{"c"});
    EXPECT_FALSE(std::filesystem::exists(raw() / "a"));
    EXPECT_FALSE(std::filesystem::exists(raw() / "its"));
    EXPECT_EQ(actor().read("c").value_or(""), "one\n");
}

// Another name that the agent gave it is its only one, once the user has removed the first.
TEST_F(Reverting, S60_TheLastNameOfAnOlderFileStays) {
    before("old", "old\n");
    begin();
    make("new", "new\n");
    begin_run();
    as_agent();
    make("its", "agent\n");
    ASSERT_EQ(actor().link("old", "old2"), 0);
    ASSERT_EQ(actor().link("new", "new2"), 0);
    ASSERT_EQ(actor().link("its", "its2"), 0);
    ASSERT_EQ(actor().link("its", "its3"), 0);
    checkpoint();
    as_user();
    for (const std::string name : {"old", "new", "its"})
        ASSERT_EQ(actor().unlink(name), 0);
    ASSERT_ASSIGN(const auto moved, operations().revert(World::asker(), "agent", false));
    EXPECT_EQ(moved.left, (Lines{"new2", "old2"}));
    EXPECT_EQ(actor().read("old2").value_or(""), "old\n");
    EXPECT_EQ(actor().read("new2").value_or(""), "new\n");
    EXPECT_FALSE(std::filesystem::exists(raw() / "its2"));
    EXPECT_FALSE(std::filesystem::exists(raw() / "its3"));
}

TEST_F(Reverting, S60_WhoeverWentBackIsNamedWhenThatIsUndone) {
    before("old", "old\n");
    begin();
    begin_run();
    as_agent();
    ASSERT_EQ(actor().append("old", "agent\n"), 0);
    checkpoint();
    as_user();
    ASSERT_OK(operations().restore_paths(World::asker(), {"old"}, "root", false));
    // The agent's line comes again: it is the user's step that goes.
    ASSERT_ASSIGN(auto undone, operations().undo(World::asker(), 1, overlay::Consent::kNone));
    EXPECT_TRUE(undone.others.empty());
    EXPECT_TRUE(undone.own);
    make("mine", "user\n");
    ASSERT_ASSIGN(const auto log, operations().log("", false, false));
    const auto restored =
        std::find_if(log.entries.begin(), log.entries.end(),
                     [](const auto& entry) { return entry.node.kind == journal::NodeKind::kUndo; });
    ASSERT_NE(restored, log.entries.end());
    const std::string name = "n" + std::to_string(restored->node.number);
    ASSERT_ASSIGN(undone, operations().revert(World::asker(), name, true));
    EXPECT_TRUE(undone.others.empty());
}

TEST_F(Reverting, S60_WhatTheUserRenamedSinceIsNamed) {
    before("old", "old\n");
    begin();
    begin_run();
    as_agent();
    make("new", "new\n");
    make("its", "agent\n");
    ASSERT_EQ(actor().mkdir("d", 0755), 0);
    make("d/inner", "inner\n");
    ASSERT_EQ(actor().append("old", "agent\n"), 0);
    checkpoint();
    as_user();
    ASSERT_EQ(actor().rename("new", "mine", 0), 0);
    ASSERT_EQ(actor().rename("d", "e", 0), 0);
    ASSERT_EQ(actor().rename("old", "older", 0), 0);
    ASSERT_ASSIGN(const auto moved, operations().revert(World::asker(), "agent", false));
    EXPECT_EQ(moved.left, (Lines{"e", "mine"}));
    EXPECT_EQ(actor().read("older").value_or(""), "old\n");
    EXPECT_EQ(actor().read("mine").value_or(""), "new\n");
    EXPECT_EQ(actor().read("e/inner").value_or(""), "inner\n");
    EXPECT_FALSE(std::filesystem::exists(raw() / "its"));
}

// The user's file keeps the directory from going; the agent's line in it goes all the same.
TEST_F(Reverting, S60_WhatStandsInTheWayAndIsTakenApartIsNotLeft) {
    before("old", "old\n");
    begin();
    begin_run();
    as_agent();
    ASSERT_EQ(actor().mkdir("d", 0755), 0);
    checkpoint();
    as_user();
    make("d/mine", "one\ntwo\nthree\nfour\n");
    checkpoint();
    as_agent();
    ASSERT_EQ(actor().append("d/mine", "agent\n"), 0);
    as_user();
    ASSERT_ASSIGN(const auto moved, operations().revert(World::asker(), "agent", false));
    EXPECT_EQ(moved.left, Lines{"d"});
    EXPECT_EQ(actor().read("d/mine").value_or(""), "one\ntwo\nthree\nfour\n");
}

// What a run did in a directory that somebody else made meanwhile is the run's.
TEST_F(Reverting, S57_TheLogNamesWhatARunWroteInADirectoryOfAnother) {
    before("old", "old\n");
    begin();
    const auto run = begin_run();
    as_user();
    ASSERT_EQ(actor().mkdir("d", 0755), 0);
    make("d/mine", "user\n");
    as_agent();
    ASSERT_EQ(actor().append("d/mine", "agent\n"), 0);
    as_user();
    ASSERT_OK(operations().end_run(std::stoull(run.substr(1))));
    const auto log = operations().log("", false, true);
    ASSERT_TRUE(log.ok());
    const auto step = std::find_if(log->entries.begin(), log->entries.end(), [](const auto& entry) {
        return entry.node.kind == overlay::NodeKind::kRun;
    });
    ASSERT_NE(step, log->entries.end());
    ASSERT_EQ(step->changes.size(), 1U);
    EXPECT_EQ(step->changes[0].path, "d/mine");
    EXPECT_EQ(step->changes[0].kind, overlay::ChangeKind::kModified);
}

}  // namespace
}  // namespace unwrite::tests
