// Undo of one step or session where others changed the same file: what can be told apart is put
// together, and the step or session is taken back as far as that goes (D10).
#include <gmock/gmock.h>

#include "tests/overlay/numbered.h"
#include "tests/overlay/stepping.h"

namespace unwrite::tests {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class UndoMerges : public Stepping {
 protected:
    void SetUp() override {
        before("text", numbered({}));
        Stepping::SetUp();
    }
    std::string text(const std::string& path = "text") {
        return actor().read(path).value_or("none");
    }
    Result<overlay::Moved> revert(const std::string& what, bool dry_run = false) {
        return operations().revert(World::asker(), what, dry_run);
    }
    /// The session of the only run in the log.
    std::string session_of_run() {
        const auto log = operations().log("", false, false);
        EXPECT_TRUE(log.ok());
        for (const auto& entry : log->entries) {
            if (const auto name = entry.node.tags.find("session"); name != entry.node.tags.end())
                return name->second;
        }
        return "";
    }
    /// A dry run first; afterwards redo and once more. What was done, as the answer has it.
    overlay::Moved expect_undone(const std::string& what) {
        const Snapshot was = world_->look();
        const auto foreseen = revert(what, true);
        EXPECT_TRUE(foreseen.ok()) << foreseen.error().message();
        EXPECT_EQ(difference(was, world_->look()), "");
        const auto moved = revert(what);
        EXPECT_TRUE(moved.ok()) << moved.error().message();
        if (!foreseen || !moved) return {};
        EXPECT_EQ(foreseen->merged, moved->merged);
        EXPECT_EQ(foreseen->left, moved->left);
        EXPECT_EQ(lines_of(foreseen->changes), lines_of(moved->changes));
        const Snapshot done = world_->look();
        EXPECT_TRUE(redo().ok());
        EXPECT_EQ(difference(was, world_->look()), "");
        EXPECT_TRUE(revert(what).ok());
        EXPECT_EQ(difference(done, world_->look(), Times::kIgnore), "");
        return *moved;
    }
    void expect_sound() {
        ASSERT_ASSIGN(const auto checked, operations().check(false));
        EXPECT_EQ(checked.problems, Lines());
    }
};

TEST_F(UndoMerges, S60_UndoOfARunKeepsWhatTheUserChangedInTheSameFile) {
    const auto number = begin_run(kOne, "work");
    as(kOne);
    replace("text", numbered({{2, "agent"}}));
    as_user();
    replace("text", numbered({{2, "agent"}, {12, "user"}}));
    as(kOne);
    replace("text", numbered({{2, "agent"}, {12, "user"}, {22, "agent"}}));
    end_run(number);
    as_user();
    replace("text", numbered({{2, "agent"}, {12, "user"}, {22, "agent"}, {28, "user"}}));
    const auto moved = expect_undone(node_of("run work: text"));
    EXPECT_EQ(text(), numbered({{12, "user"}, {28, "user"}}));
    EXPECT_EQ(moved.merged, Lines{"text"});
    EXPECT_EQ(moved.left, Lines());
    expect_sound();
}

TEST_F(UndoMerges, S60_TextsThatEditorsSaveAsNewFilesArePutTogetherToo) {
    run(kOne, [&] { save("text", numbered({{2, "agent"}})); });
    save("text", numbered({{2, "agent"}, {20, "user"}}));
    const auto moved = expect_undone(node_of("run work: text"));
    EXPECT_EQ(text(), numbered({{20, "user"}}));
    EXPECT_EQ(moved.merged, Lines{"text"});
    expect_sound();
}

// The file of now is one that the journal has never spoken of; from now on it must be found.
TEST_F(UndoMerges, S60_S166_WhatIsPutTogetherIsAnchored) {
    run(kOne, [&] { save("text", numbered({{2, "agent"}})); });
    run(kTwo, [&] { replace("text", numbered({{2, "agent"}, {30, "two"}})); });
    save("text", numbered({{2, "agent"}, {20, "user"}, {30, "two"}}));
    ASSERT_OK(revert("run-2"));
    EXPECT_EQ(text(), numbered({{20, "user"}, {30, "two"}}));
    expect_sound();
    ASSERT_OK(redo());
    expect_sound();
}

// While a run goes on, what is open has no node: taking it back is no step for all that.
TEST_F(UndoMerges, S57_UndoOfWhatIsOpenIsNotTakenBackByTheNextUndo) {
    make("older", "user");
    checkpoint("one");
    const auto number = begin_run(kOne, "work");
    make("mine", "user");
    as(kOne);
    make("its", "agent");
    as_user();
    ASSERT_OK(undo(1));
    ASSERT_OK(undo(1));
    EXPECT_EQ(files(), (Lines{"old", "older", "text"}));
    EXPECT_EQ(step_count(), 1U);
    ASSERT_OK(undo(1));
    EXPECT_EQ(files(), (Lines{"old", "text"}));
    EXPECT_KIND(ErrorKind::kNothing, undo(1));
    as(kOne);
    make("again", "agent");
    as_user();
    ASSERT_OK(undo(1));
    EXPECT_EQ(files(), (Lines{"old", "text"}));
    ASSERT_OK(redo());
    EXPECT_EQ(files(), (Lines{"again", "old", "text"}));
    end_run(number);
    expect_sound();
}

TEST_F(UndoMerges, S57_ARedoNamesTheFileThatWasRemovedSince) {
    replace("text", numbered({{5, "first"}}));
    checkpoint("one");
    ASSERT_OK(undo(1));
    replace("text", numbered({{6, "second"}}));
    ASSERT_EQ(actor().unlink("text"), 0);
    const auto refused = redo();
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().kind(), ErrorKind::kConflict);
    EXPECT_THAT(refused.error().message(), HasSubstr("\n  text (removed since)"));
}

// What has nothing to do with anybody else is not said to be put together.
TEST_F(UndoMerges, S60_WhatOnlyTheStepChangedIsNotMerged) {
    run(kOne, [&] { replace("text", numbered({{2, "agent"}})); });
    make("mine", "user");
    const auto moved = expect_undone(node_of("run work: text"));
    EXPECT_EQ(text(), numbered({}));
    EXPECT_EQ(moved.merged, Lines());
}

class TwoAgents : public UndoMerges,
                  public ::testing::WithParamInterface<std::tuple<bool, bool>> {};

// In either order, by their steps and by their sessions.
TEST_P(TwoAgents, S60_OnOneFileCanBothBeTakenBack) {
    const auto [second_first, by_session] = GetParam();
    const auto one = begin_run(kOne, "one", "first");
    const auto two = begin_run(kTwo, "two", "second");
    as(kOne);
    replace("text", numbered({{2, "one"}}));
    as(kTwo);
    replace("text", numbered({{2, "one"}, {10, "two"}}));
    as(kOne);
    replace("text", numbered({{2, "one"}, {10, "two"}, {18, "one"}}));
    as(kTwo);
    replace("text", numbered({{2, "one"}, {10, "two"}, {18, "one"}, {26, "two"}}));
    end_run(one);
    end_run(two);
    as_user();
    std::vector<std::string> names = {"first", "second"};
    if (!by_session) names = {node_of("run one: text"), node_of("run two: text")};
    if (second_first) std::swap(names[0], names[1]);
    expect_undone(names[0]);
    EXPECT_EQ(text(), second_first ? numbered({{2, "one"}, {18, "one"}})
                                   : numbered({{10, "two"}, {26, "two"}}));
    expect_undone(names[1]);
    EXPECT_EQ(text(), numbered({}));
    EXPECT_EQ(step_count(), 0U);
    expect_sound();
}

INSTANTIATE_TEST_SUITE_P(InEitherOrder, TwoAgents,
                         ::testing::Combine(::testing::Bool(), ::testing::Bool()));

TEST_F(UndoMerges, S60_UndoTakesOneOfTwoRunsOutOfAFile) {
    const auto one = begin_run(kOne, "one");
    const auto two = begin_run(kTwo, "two");
    as(kOne);
    replace("text", numbered({{2, "one"}}));
    as(kTwo);
    replace("text", numbered({{2, "one"}, {10, "two"}}));
    as(kOne);
    replace("text", numbered({{2, "one"}, {10, "two"}, {18, "one"}}));
    end_run(two);
    end_run(one);
    as_user();
    ASSERT_OK(undo(1));
    EXPECT_EQ(text(), numbered({{10, "two"}}));
    ASSERT_OK(undo(1));
    EXPECT_EQ(text(), numbered({}));
    EXPECT_KIND(ErrorKind::kNothing, undo(1));
    ASSERT_OK(redo());
    ASSERT_OK(redo());
    EXPECT_EQ(text(), numbered({{2, "one"}, {10, "two"}, {18, "one"}}));
}

// The later change of the same line was taken back by name before.
TEST_F(UndoMerges, S57_AStepBelowOneThatWasTakenBackCanBeTakenBack) {
    replace("text", numbered({{5, "first"}}));
    checkpoint("one");
    replace("text", numbered({{5, "second"}}));
    checkpoint("two");
    make("other", "user");
    checkpoint("three");
    const std::string first = node_of("checkpoint one: text");
    const std::string second = node_of("checkpoint two: text");
    expect_conflict(first, "text");
    expect_undone(second);
    EXPECT_EQ(text(), numbered({{5, "first"}}));
    expect_undone(first);
    EXPECT_EQ(text(), numbered({}));
    EXPECT_EQ(text("other"), "user");
}

TEST_F(UndoMerges, S57_AStepThatIsUndoneIsNotUndoneAgain) {
    replace("text", numbered({{5, "first"}}));
    checkpoint("one");
    make("other", "user");
    checkpoint("two");
    const std::string first = node_of("checkpoint one: text");
    expect_undone(first);
    const auto again = revert(first);
    EXPECT_KIND(ErrorKind::kNothing, again);
    EXPECT_THAT(again.error().message(), HasSubstr("has undone it already"));
    ASSERT_OK(redo());
    EXPECT_EQ(text(), numbered({{5, "first"}}));
    expect_undone(first);
    EXPECT_EQ(text(), numbered({}));
}

TEST_F(UndoMerges, S60_ASessionOrAStepGoesAsFarAsItCanAndTheRestIsNamed) {
    run(kOne, [&] {
        replace("text", numbered({{5, "agent"}}));
        make("its", "agent");
        save("old", "agent");
        ASSERT_EQ(actor().mkdir("d", 0755), 0);
        make("d/its", "agent");
    });
    replace("text", numbered({{5, "user"}}));
    save("old", "user");
    for (const std::string& what : {session_of_run(), node_of("run work: d its old text")}) {
        SCOPED_TRACE(what);
        const auto moved = expect_undone(what);
        EXPECT_EQ(moved.left, (Lines{"old", "text"}));
        EXPECT_EQ(text(), numbered({{5, "user"}}));
        EXPECT_EQ(text("old"), "user");
        EXPECT_EQ(files(), (Lines{"old", "text"}));
        expect_sound();
        ASSERT_OK(redo());
    }
}

TEST_F(UndoMerges, S60_ADirectoryInWhichOthersWorkedStaysWithWhatIsInIt) {
    run(kOne, [&] {
        make("its", "agent");
        ASSERT_EQ(actor().mkdir("d", 0755), 0);
        ASSERT_EQ(actor().mkdir("d/e", 0755), 0);
    });
    make("d/e/mine", "user");
    const auto moved = expect_undone(session_of_run());
    EXPECT_EQ(moved.left, (Lines{"d", "d/e/mine"}));
    EXPECT_EQ(files(), (Lines{"d", "old", "text"}));
    EXPECT_EQ(text("d/e/mine"), "user");
}

TEST_F(UndoMerges, S60_WhereNothingCanBeTakenBackNothingHappens) {
    run(kOne, [&] { replace("text", numbered({{5, "agent"}})); });
    replace("text", numbered({{5, "user"}}));
    expect_conflict(session_of_run(), "text");
}

TEST_F(UndoMerges, S60_BytesThatAreNoTextAreLeft) {
    run(kOne, [&] {
        replace("text", std::string("\0agent", 6));
        make("its", "agent");
    });
    ASSERT_EQ(actor().append("text", "user"), 0);
    const auto moved = expect_undone(session_of_run());
    EXPECT_EQ(moved.left, Lines{"text"});
    EXPECT_EQ(text(), std::string("\0agentuser", 10));
}

TEST_F(UndoMerges, S60_WhatOthersRemovedIsLeft) {
    run(kOne, [&] {
        replace("text", numbered({{5, "agent"}}));
        make("its", "agent");
    });
    ASSERT_EQ(actor().unlink("text"), 0);
    const auto moved = expect_undone(session_of_run());
    EXPECT_EQ(moved.left, Lines{"text"});
    EXPECT_EQ(files(), Lines{"old"});
    ASSERT_OK(rollback("root"));
    EXPECT_EQ(text(), numbered({}));
}

// What the user made or changed and the session then moved, replaced or removed is not lost.
TEST_F(UndoMerges, S60_WhatTheUserMadeAndTheSessionMovedStays) {
    const auto number = begin_run(kOne, "work");
    as(kOne);
    make("its", "agent");
    ASSERT_EQ(actor().mkdir("d", 0755), 0);
    as_user();
    make("mine", "user");
    as(kOne);
    ASSERT_EQ(actor().rename("mine", "d/mine", 0), 0);
    end_run(number);
    as_user();
    ASSERT_EQ(actor().append("d/mine", " more"), 0);
    const auto moved = revert("run-" + std::to_string(number));
    ASSERT_OK(moved);
    const bool back = text("mine") == "user more";
    EXPECT_TRUE(back || text("d/mine") == "user more");
    EXPECT_EQ(moved->left.empty(), back);
    EXPECT_EQ(text("its"), "none");
}

// Whole or not at all: the newest steps.
TEST_F(UndoMerges, S57_UndoByCountIsWhole) {
    const auto one = begin_run(kOne, "one");
    const auto two = begin_run(kTwo, "two");
    as(kOne);
    replace("text", numbered({{5, "one"}}));
    make("its", "one");
    as(kTwo);
    replace("text", numbered({{5, "two"}}));
    end_run(two);
    end_run(one);
    as_user();
    const Snapshot was = world_->look();
    const auto refused = undo(1);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().kind(), ErrorKind::kConflict);
    EXPECT_THAT(refused.error().message(), HasSubstr("\n  text"));
    EXPECT_THAT(refused.error().message(), Not(HasSubstr("its")));
    EXPECT_EQ(difference(was, world_->look()), "");
}

// What was left is still there after older steps went as well.
TEST_F(UndoMerges, S60_UndoGoesOnBelowWhatWasLeft) {
    make("older", "user");
    run(kOne, [&] {
        replace("text", std::string("\0agent", 6));
        make("its", "agent");
    });
    ASSERT_EQ(actor().append("text", "user"), 0);
    ASSERT_OK(revert(session_of_run()));
    const std::string left = text();
    ASSERT_OK(undo(1));  // the user's own
    EXPECT_EQ(text(), std::string("\0agent", 6));
    ASSERT_OK(undo(1));  // "older"; the run counts as taken back
    EXPECT_EQ(files(), (Lines{"old", "text"}));
    EXPECT_EQ(text(), std::string("\0agent", 6));
    EXPECT_KIND(ErrorKind::kNothing, undo(1));
    ASSERT_OK(redo());
    ASSERT_OK(redo());
    EXPECT_EQ(text(), left);
}

}  // namespace
}  // namespace unwrite::tests
