// What a line of `log` stands for, and that undo, undo nK, redo and rollback speak of the same
// (D10, D18, D19).
#include "overlay/steps.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/overlay/stepping.h"

namespace unwrite::tests {
namespace {

TEST_F(Stepping, S52_TheBeginningOfARunClosesWhatWasOpenAndItsEndClosesItsOwn) {
    make("mine", "user");
    run(kOne, [&] { make("its", "agent"); });
    make("later", "user");
    EXPECT_EQ(log(), (Lines{"now later", "run work: its", "step: mine", "root"}));
    EXPECT_EQ(step_count(), 3U);
}

TEST_F(Stepping, S52_UndoOfARunTakesWhatItDidAndNotWhatWasBeforeOrAfter) {
    make("mine", "user");
    run(kOne, [&] { make("its", "agent"); });
    make("later", "user");
    const std::string node = node_of("run work: its");
    ASSERT_OK(operations().revert(World::asker(), node, false));
    EXPECT_EQ(files(), (Lines{"later", "mine", "old"}));
}

TEST_F(Stepping, S57_UndoCountsTheLinesOfTheLog) {
    make("a", "user");
    run(kOne, [&] { make("b", "agent"); });
    make("c", "user");
    ASSERT_OK(undo(1));
    EXPECT_EQ(files(), (Lines{"a", "b", "old"}));
    ASSERT_OK(undo(1));
    EXPECT_EQ(files(), (Lines{"a", "old"}));
    ASSERT_OK(undo(1));
    EXPECT_EQ(files(), (Lines{"old"}));
    EXPECT_KIND(ErrorKind::kNothing, undo(1));
    for (const char* expected : {"a old", "a b old", "a b c old"}) {
        ASSERT_OK(redo());
        EXPECT_EQ(joined(files()), expected);
    }
    EXPECT_KIND(ErrorKind::kNothing, redo());
    ASSERT_OK(undo(3));
    EXPECT_EQ(files(), (Lines{"old"}));
}

TEST_F(Stepping, S57_UndoAfterARestoreIsOfThatRestoreWhateverItChanged) {
    ASSERT_EQ(actor().mkdir("d", 0755), 0);
    checkpoint("with-d");
    ASSERT_EQ(actor().rmdir("d"), 0);
    ASSERT_EQ(actor().mkdir("d", 0755), 0);  // another one, that looks the same
    checkpoint("another");
    make("mine", "user");
    ASSERT_OK(operations().restore_paths(World::asker(), {"d"}, "with-d", false));
    ASSERT_OK(undo(1));
    EXPECT_EQ(files(), (Lines{"d", "mine", "old"}));
}

TEST_F(Stepping, S57_MoreStepsThanThereAreIsAnErrorAndNothingHappens) {
    make("a", "user");
    checkpoint("one");
    make("b", "user");
    EXPECT_KIND(ErrorKind::kNotFound, undo(22));
    EXPECT_EQ(files(), (Lines{"a", "b", "old"}));
}

TEST_F(Stepping, S57_ACheckpointIsNoStepToUndoByItsName) {
    make("a", "user");
    checkpoint("one");
    EXPECT_KIND(ErrorKind::kUsage, operations().revert(World::asker(), "one", false));
    EXPECT_EQ(files(), (Lines{"a", "old"}));
    EXPECT_KIND(ErrorKind::kNotFound, operations().revert(World::asker(), "nothing", false));
}

TEST_F(Stepping, S60_OneOfTwoRunsThatOverlapIsTakenBackAlone) {
    const auto one = begin_run(kOne, "one");
    as(kOne);
    make("one-a", "1");
    const auto two = begin_run(kTwo, "two");
    as(kTwo);
    make("two-a", "2");
    as(kOne);
    make("one-b", "1");
    as_user();
    make("mine", "user");
    end_run(one);
    as(kTwo);
    make("two-b", "2");
    end_run(two);
    as_user();
    EXPECT_EQ(log(), (Lines{"run two: two-a two-b", "run one: one-a one-b", "step: mine", "root"}));
    ASSERT_OK(undo(1));
    EXPECT_EQ(files(), (Lines{"mine", "old", "one-a", "one-b"}));
    ASSERT_OK(undo(1));
    EXPECT_EQ(files(), (Lines{"mine", "old"}));
    ASSERT_OK(undo(1));
    EXPECT_EQ(files(), (Lines{"old"}));
    EXPECT_KIND(ErrorKind::kNothing, undo(1));
    ASSERT_OK(redo());
    ASSERT_OK(redo());
    ASSERT_OK(redo());
    EXPECT_EQ(joined(files()), "mine old one-a one-b two-a two-b");
}

TEST_F(Stepping, S60_ASessionNameUsedTwiceIsTwoRuns) {
    for (const char* name : {"first", "second"}) {
        const auto number = begin_run(kOne, "work", "same");
        as(kOne);
        make(name, "agent");
        end_run(number);
        as_user();
    }
    ASSERT_OK(operations().revert(World::asker(), node_of("run work: second"), false));
    EXPECT_EQ(files(), (Lines{"first", "old"}));
    ASSERT_OK(redo());
    ASSERT_OK(operations().revert(World::asker(), "same", false));
    EXPECT_EQ(files(), (Lines{"old"}));
}

TEST_F(Stepping, S52_ARunThatChangedNothingIsNoStep) {
    make("mine", "user");
    run(kOne, [] {});
    run(kOne, [&] {
        make("scratch", "agent");
        ASSERT_EQ(actor().unlink("scratch"), 0);
    });
    EXPECT_EQ(log(), (Lines{"step: mine", "root"}));
    ASSERT_OK(undo(1));
    EXPECT_EQ(files(), (Lines{"old"}));
}

TEST_F(Stepping, S52_WhatARunDidInPartsIsOneStep) {
    const auto number = begin_run(kOne, "work");
    as(kOne);
    make("a", "agent");
    checkpoint_by(kOne, "inner");
    make("b", "agent");
    end_run(number);
    as_user();
    EXPECT_EQ(log(), (Lines{"run work: a b", "- checkpoint inner: a", "root"}));
    ASSERT_OK(undo(1));
    EXPECT_EQ(files(), (Lines{"old"}));
    ASSERT_OK(redo());
    EXPECT_EQ(files(), (Lines{"a", "b", "old"}));
}

TEST_F(Stepping, S52_WhatIsMadeBehindAnActiveRunIsTheUsers) {
    const auto number = begin_run(kOne, "work");
    as(kOne);
    make("its", "agent");
    as_user();
    make("mine", "user");
    ASSERT_OK(undo(1));
    EXPECT_EQ(files(), (Lines{"its", "old"}));
    as(kOne);
    make("its-too", "agent");
    end_run(number);
    as_user();
    EXPECT_EQ(node_of("run work: its its-too").empty(), false);
    ASSERT_OK(undo(1));
    EXPECT_EQ(files(), (Lines{"old"}));
}

TEST_F(Stepping, S68_ARunOfALifeThatEndedHasAStep) {
    make("mine", "user");
    begin_run(kOne, "work");
    as(kOne);
    make("its", "agent");
    as_user();
    world_->reopen();
    EXPECT_EQ(log(), (Lines{"run work: its", "step: mine", "root"}));
    ASSERT_OK(undo(1));
    EXPECT_EQ(files(), (Lines{"mine", "old"}));
}

TEST_F(Stepping, S57_AMarkedEditIsAStepAndAFailedOneIsNone) {
    make("mine", "user");
    mark("edit x");
    make("x", "edit");
    step("edited x");
    mark("edit y");
    step("took back");
    EXPECT_EQ(log(), (Lines{"step edited x: x", "step: mine", "root"}));
    ASSERT_OK(undo(1));
    EXPECT_EQ(files(), (Lines{"mine", "old"}));
}

// Else the user would go back to where an agent wants them.
TEST_F(Stepping, S57_S60_AnAgentDoesNotTakeTheNameOfACheckpointOfTheUser) {
    const std::string mine = checkpoint("before");
    const auto number = begin_run(kOne, "work");
    overlay::Asker agent = World::asker();
    agent.pid = kOne;
    const auto taken = operations().checkpoint(agent, overlay::NodeKind::kCheckpoint, "before", "");
    EXPECT_KIND(ErrorKind::kConflict, taken);
    EXPECT_NE(failure_of(taken).find("of that name, " + mine), std::string::npos);
    EXPECT_NE(checkpoint_by(kOne, "after"), "");
    EXPECT_NE(checkpoint("after"), "") << "the user takes any name";
    end_run(number);
}

TEST_F(Stepping, S57_RollbackGoesToTheNewestCheckpointAlsoWithoutAName) {
    EXPECT_KIND(ErrorKind::kNotFound, rollback(""));
    make("a", "user");
    checkpoint("named");
    make("b", "user");
    checkpoint("");
    make("c", "user");
    ASSERT_OK(rollback(""));
    EXPECT_EQ(files(), (Lines{"a", "b", "old"}));
    ASSERT_OK(redo());
    EXPECT_EQ(files(), (Lines{"a", "b", "c", "old"}));
    ASSERT_OK(rollback("root"));
    EXPECT_EQ(files(), (Lines{"old"}));
}

TEST_F(Stepping, S57_RedoReversesEachWayOfGoingBack) {
    make("a", "user");
    checkpoint("one");
    make("b", "user");
    checkpoint("two");
    make("c", "user");
    checkpoint("three");
    const Snapshot whole = world_->look();
    const std::vector<std::function<Result<overlay::Moved>()>> ways = {
        [&] { return undo(1); },
        [&] { return undo(2); },
        [&] { return operations().revert(World::asker(), node_of("checkpoint two: b"), false); },
        [&] { return rollback("one"); },
        [&] { return operations().discard(World::asker(), false, overlay::Consent::kAll); },
        [&] {
            return operations().restore_paths(World::asker(), {"a", "c"}, "root", false);
        },
    };
    for (std::size_t i = 0; i < ways.size(); ++i) {
        ASSERT_OK(ways[i]());
        EXPECT_NE(difference(whole, world_->look()), "") << i;
        ASSERT_OK(redo());
        EXPECT_EQ(difference(whole, world_->look(), Times::kIgnore), "") << i;
    }
}

TEST_F(Stepping, S57_RedoKeepsWhatWasChangedSince) {
    make("a", "user");
    checkpoint("one");
    make("b", "user");
    ASSERT_OK(undo(2));
    make("later", "user");
    ASSERT_OK(redo());
    EXPECT_EQ(files(), (Lines{"a", "b", "later", "old"}));
    EXPECT_KIND(ErrorKind::kNothing, redo());
    ASSERT_OK(undo(1));
    EXPECT_EQ(files(), (Lines{"later", "old"}));
}

TEST_F(Stepping, S57_RedoOverTheSameFileIsAConflictAndChangesNothing) {
    make("a", "user");
    ASSERT_OK(undo(1));
    make("a", "another");
    const Snapshot before = world_->look();
    EXPECT_KIND(ErrorKind::kConflict, redo());
    EXPECT_EQ(difference(before, world_->look()), "");
}

TEST_F(Stepping, S57_UndoAfterAnUndoInTheMiddleGoesOnWithTheNewestStep) {
    make("a", "user");
    checkpoint("one");
    make("b", "user");
    checkpoint("two");
    make("c", "user");
    checkpoint("three");
    ASSERT_OK(operations().revert(World::asker(), node_of("checkpoint two: b"), false));
    ASSERT_OK(undo(1));
    EXPECT_EQ(files(), (Lines{"a", "old"}));
    ASSERT_OK(undo(1));
    EXPECT_EQ(files(), (Lines{"old"}));
    EXPECT_KIND(ErrorKind::kNothing, undo(1));
}

TEST_F(Stepping, S57_RefreshingGitsIndexIsNoStepAndDoesNotEndRedo) {
    // An index of version 2 without entries, and the same with another checksum.
    const std::string index = std::string("DIRC\0\0\0\2\0\0\0\0", 12);
    ASSERT_EQ(actor().mkdir(".git", 0755), 0);
    make(".git/index", index + std::string(20, 'a'));
    make("a", "user");
    checkpoint("one");
    make("b", "user");
    ASSERT_OK(undo(1));
    save(".git/index", index + std::string(20, 'b'), ".lock");
    EXPECT_EQ(step_count(), 1U);
    ASSERT_OK(redo());
    EXPECT_EQ(files(), (Lines{"a", "b", "old"}));
    save(".git/index", index + std::string(20, 'c'), ".lock");
    EXPECT_EQ(step_count(), 2U);
    ASSERT_OK(undo(1));
    EXPECT_EQ(files(), (Lines{"a", "old"}));
}

// What an undo and a redo went past on the way, and what has no effect, is nothing to be undone.
TEST_F(Stepping, S57_AfterRedoOfARefreshedIndexTheStepIsTheNewest) {
    const std::string index = std::string("DIRC\0\0\0\2\0\0\0\0", 12);
    ASSERT_EQ(actor().mkdir(".git", 0755), 0);
    make(".git/index", index + std::string(20, 'a'));
    checkpoint("one");
    run(kOne, [&] { make("its", "agent"); });
    save(".git/index", index + std::string(20, 'b'), ".lock");
    ASSERT_OK(undo(1));
    EXPECT_EQ(files(), (Lines{"old"}));
    save(".git/index", index + std::string(20, 'c'), ".lock");
    ASSERT_OK(redo());
    EXPECT_EQ(files(), (Lines{"its", "old"}));
    ASSERT_OK(undo(1));
    EXPECT_EQ(files(), (Lines{"old"}));
}

TEST_F(Stepping, S76_TheDiffOfAStepIsWhatTheLogShowsOfIt) {
    const auto one = begin_run(kOne, "work");
    as(kOne);
    make("its", "agent");
    as_user();
    make("mine", "user");
    end_run(one);
    const std::string node = node_of("run work: its");
    const std::string text = patch(node + "^", node);
    EXPECT_NE(text.find("its"), std::string::npos);
    EXPECT_EQ(text.find("mine"), std::string::npos);
}

// What was edited since is not removed, replaced or carried off by a redo.
TEST_F(Stepping, S57_RedoDoesNotTakeWhatWasEditedSince) {
    const std::vector<std::pair<std::function<void()>, std::function<void()>>> cases = {
        {[&] { ASSERT_EQ(actor().unlink("old"), 0); },
         [&] { ASSERT_EQ(actor().append("old", "work"), 0); }},
        {[&] { save("old", "saved"); }, [&] { ASSERT_EQ(actor().append("old", "work"), 0); }},
        {[&] { ASSERT_EQ(actor().unlink("old"), 0); },
         [&] { ASSERT_EQ(actor().chmod("old", 0600), 0); }},
        {[&] {
             ASSERT_EQ(actor().unlink("d/f"), 0);
             ASSERT_EQ(actor().rmdir("d"), 0);
         },
         [&] { ASSERT_EQ(actor().append("d/f", "mine"), 0); }},
    };
    ASSERT_EQ(actor().mkdir("d", 0755), 0);
    make("d/f", "1");
    checkpoint("begin");
    for (const auto& [change, edit] : cases) {
        change();
        ASSERT_OK(undo(1));
        edit();
        const Snapshot edited = world_->look();
        EXPECT_KIND(ErrorKind::kConflict, redo());
        EXPECT_EQ(difference(edited, world_->look()), "");
        ASSERT_OK(undo(1));
    }
}

// A run whose step was left has changes in states that stay: they are in a step all the same.
TEST_F(Stepping, S60_WhatIsLeftOfARunIsInAStep) {
    const auto run = begin_run(kOne, "work");
    as(kOne);
    make("a", "agent");
    as_user();
    make("b", "user");
    checkpoint("cp");
    as(kOne);
    make("c", "agent");
    end_run(run);
    as_user();
    ASSERT_OK(rollback("cp"));
    EXPECT_EQ(log(), (Lines{"checkpoint cp: a b", "root"}));
    ASSERT_OK(undo(1));
    EXPECT_EQ(files(), (Lines{"old"}));
}

TEST_F(Stepping, S60_WhatARedoBringsBackIsInAStep) {
    const auto run = begin_run(kOne, "work", "ag");
    as(kOne);
    make("a", "agent");
    make("b", "agent");
    as_user();
    ASSERT_OK(operations().revert(World::asker(), "ag", false));
    end_run(run);
    ASSERT_OK(redo());
    EXPECT_EQ(joined(files()), "a b old");
    EXPECT_EQ(step_count(), 1U);
    ASSERT_OK(undo(1));
    EXPECT_EQ(joined(files()), "old");
}

TEST_F(Stepping, S52_UndoStopsAtATaskThatBeganDuringARun) {
    const auto run = begin_run(kOne, "work");
    as(kOne);
    make("a", "agent");
    as_user();
    make("b", "user");
    ASSERT_OK(operations().commit(World::asker(), "", true));
    as(kOne);
    ASSERT_EQ(actor().append("a", "more"), 0);
    end_run(run);
    as_user();
    ASSERT_OK(undo(1));
    EXPECT_EQ(files(), (Lines{"a", "b", "old"}));
    EXPECT_EQ(actor().read("a").value_or(""), "agent");
    EXPECT_KIND(ErrorKind::kNothing, undo(1));
}

TEST_F(Stepping, S57_WhoGoesOnToWhatWasLeftHasNothingToRedo) {
    make("a", "user");
    checkpoint("one");
    ASSERT_OK(rollback("root"));
    const auto forward = rollback("one");
    ASSERT_OK(forward);
    EXPECT_FALSE(forward->can_redo);
    EXPECT_KIND(ErrorKind::kNothing, redo());
    EXPECT_EQ(joined(files()), "a old");
}

TEST_F(Stepping, S60_ARunHasTheFilesThatSomebodySavedAnewSince) {
    const std::string text = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
    const auto number = begin_run(kOne, "work");
    as_user();
    ASSERT_EQ(actor().mkdir("d", 0755), 0);
    for (const char* path : {"a", "d/a"}) {
        as_user();
        make(path, text);
        as(kOne);
        ASSERT_EQ(actor().write(path, 0, "0\n"), 0);
        as_user();
        make("new", "0\n2\n3\n4\n5\n6\n7\n8\n9\nuser\n");
        ASSERT_EQ(actor().rename("new", path, 0), 0);
    }
    end_run(number);
    EXPECT_EQ(log(), (Lines{"run work: a d/a", "step: a d", "root"}));
    ASSERT_ASSIGN(const auto moved,
                  operations().revert(World::asker(), node_of("run work: a d/a"), false));
    EXPECT_EQ(moved.merged, (Lines{"a", "d/a"}));
    EXPECT_EQ(actor().read("a").value_or(""), text + "user\n");
}

// An undo in the middle of a run had brought it back under an older name.
TEST_F(Stepping, S60_AFileThatCameBackElsewhereIsNotPutAtASecondName) {
    run(kOne, [&] { ASSERT_EQ(actor().rename("old", "moved", 0), 0); });
    const std::string renaming = node_of("run work: moved");
    const auto two = begin_run(kTwo, "two");
    as(kTwo);
    ASSERT_EQ(actor().unlink("moved"), 0);
    as_user();
    ASSERT_OK(operations().revert(World::asker(), renaming, false));
    ASSERT_EQ(files(), (Lines{"old"}));
    end_run(two);
    const auto refused = undo(1);
    EXPECT_EQ(files(), (Lines{"old"}));
    EXPECT_KIND(ErrorKind::kConflict, refused);
    ASSERT_OK(redo());
    EXPECT_EQ(files(), (Lines{}));
}

// `git status` of the user while the agent commits: a lock that is there between two of their
// changes is nobody's work.
TEST_F(Stepping, S47_S60_ALockOfGitThatIsGoneKeepsNothingFromGoingBack) {
    ASSERT_EQ(actor().mkdir(".git", 0755), 0);
    make(".git/HEAD", "main");
    make(".git/index", "entries");
    checkpoint("");
    const auto refresh = [&](const std::string& entries) {
        EXPECT_EQ(actor().create(".git/index.lock", 0644), 0);
        EXPECT_EQ(actor().write(".git/index.lock", 0, entries), 0);
        EXPECT_EQ(actor().rename(".git/index.lock", ".git/index", 0), 0);
    };
    const auto number = begin_run(kOne, "commit");
    as(kOne);
    ASSERT_EQ(actor().write(".git/HEAD", 0, "work"), 0);
    make("passing", "agent");
    as_user();
    ASSERT_EQ(actor().create(".git/index.lock", 0644), 0);
    ASSERT_EQ(actor().unlink("passing"), 0);  // theirs are told apart from here on
    ASSERT_EQ(actor().write(".git/index.lock", 0, "entries"), 0);
    ASSERT_EQ(actor().rename(".git/index.lock", ".git/index", 0), 0);
    as(kOne);
    refresh("entries of the agent");
    end_run(number);
    ASSERT_ASSIGN(const auto moved,
                  operations().revert(World::asker(), "run-" + std::to_string(number), false));
    EXPECT_EQ(moved.left, (Lines{}));
    EXPECT_EQ(actor().read(".git/HEAD").value_or(""), "main");
    EXPECT_EQ(actor().read(".git/index").value_or(""), "entries");
}

}  // namespace
}  // namespace unwrite::tests
