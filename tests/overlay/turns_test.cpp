// What one session makes or changes and another overwrites or removes before any checkpoint is in a
// state of its own.
#include "overlay/turns.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <thread>

#include "tests/overlay/looking.h"

namespace unwrite::tests {
namespace {

class Taking : public Looking {
 protected:
    void start() {
        before("old", "old\n");
        before("d/in", "in\n");
        begin();
        run_ = begin_run();
    }

    std::vector<journal::Node> turns() {
        std::vector<journal::Node> found;
        const auto log = operations().log("", true, false);
        EXPECT_TRUE(log.ok());
        for (const auto& entry : log->entries) {
            if (entry.node.kind == journal::NodeKind::kTurn) found.push_back(entry.node);
        }
        return found;
    }

    enum class Undo { kBringsItBack, kIsRefused, kIsNotAsked };

    // `lose` is the agent's, `state` what must be in a state and come back. `undo`: of the agent.
    void expect_kept(const std::function<void()>& prepare, const std::function<int()>& lose,
                     Undo undo = Undo::kBringsItBack) {
        start();
        as_user();
        prepare();
        const Snapshot state = world_->look();
        as_agent();
        ASSERT_EQ(lose(), 0);
        const Snapshot after = world_->look();
        ASSERT_EQ(turns().size(), 1U);
        const std::string turn = "n" + std::to_string(turns()[0].number);
        EXPECT_NE(turns()[0].text.find("agent"), std::string::npos);
        if (undo == Undo::kIsRefused) {
            // It is not silent about it either: both changed it.
            EXPECT_KIND(ErrorKind::kConflict, operations().revert(World::asker(), "agent", false));
            EXPECT_EQ(difference(after, world_->look()), "");
        }
        if (undo == Undo::kBringsItBack) {
            ASSERT_OK(operations().revert(World::asker(), "agent", false));
            Snapshot users = state;
            users.erase("new");  // made by the agent
            EXPECT_EQ(difference(users, world_->look(), Times::kIgnore), "");
            ASSERT_OK(operations().redo(World::asker(), 1, overlay::Consent::kAll));
            EXPECT_EQ(difference(after, world_->look()), "");
        }
        ASSERT_OK(operations().rollback(World::asker(), turn, false, overlay::Consent::kAll));
        EXPECT_EQ(difference(state, world_->look()), "");
        ASSERT_OK(operations().redo(World::asker(), 1, overlay::Consent::kAll));
        EXPECT_EQ(difference(after, world_->look()), "");
        ASSERT_OK(operations().discard(World::asker(), false, overlay::Consent::kAll));
        EXPECT_EQ(actor().read("old").value_or(""), "old\n");
        ASSERT_ASSIGN(const auto checked, operations().check(false));
        EXPECT_EQ(checked.problems, std::vector<std::string>());
    }

    void expect_in_a_state(const std::function<void()>& prepare, const std::function<int()>& lose) {
        expect_kept(prepare, lose, Undo::kIsNotAsked);
    }

    std::string run_;
};

TEST_F(Taking, AFileOfTheUserIsRemovedS60) {
    expect_kept([&] { make("mine", "user\n"); }, [&] { return actor().unlink("mine"); });
}

TEST_F(Taking, AFileOfTheUserIsOverwrittenS60) {
    expect_kept([&] { make("mine", "user\n"); }, [&] { return actor().write("mine", 0, "agent"); });
}

TEST_F(Taking, AFileOfTheUserIsCutOffS60) {
    expect_kept([&] { make("mine", "user\n"); }, [&] { return actor().truncate("mine", 0); });
}

TEST_F(Taking, AFileOfTheUserIsReplacedS60) {
    expect_kept(
        [&] {
            make("mine", "user\n");
            as_agent();
            make("new", "agent\n");
        },
        [&] { return actor().rename("new", "mine", 0); });
}

TEST_F(Taking, AFileInADirectoryOfTheUserIsOverwrittenS60) {
    expect_kept(
        [&] {
            ASSERT_EQ(actor().mkdir("made", 0755), 0);
            ASSERT_EQ(actor().mkdir("made/below", 0755), 0);
            make("made/below/mine", "user\n");
        },
        [&] { return actor().append("made/below/mine", "agent\n"); });
}

TEST_F(Taking, ADirectoryOfTheUserIsRemovedS60) {
    expect_kept([&] { ASSERT_EQ(actor().mkdir("made", 0700), 0); },
                [&] { return actor().rmdir("made"); });
}

TEST_F(Taking, AnOldFileThatTheUserChangedIsOverwrittenS60) {
    expect_kept([&] { ASSERT_EQ(actor().append("old", "user\n"), 0); },
                [&] { return actor().write("old", 0, "agent"); });
}

TEST_F(Taking, AnOldFileThatTheUserSavedAnewIsReplacedS60) {
    expect_kept(
        [&] {
            save("old", "user\n");
            as_agent();
            make("new", "agent\n");
        },
        [&] { return actor().rename("new", "old", 0); });
}

TEST_F(Taking, AModeThatTheUserSetIsSetAgainS60) {
    expect_kept([&] { ASSERT_EQ(actor().chmod("old", 0600), 0); },
                [&] { return actor().chmod("old", 0777); });
}

TEST_F(Taking, AnOldDirectoryWhoseModeTheUserSetIsRemovedS60) {
    before("e/in", "in\n");
    expect_in_a_state([&] { EXPECT_EQ(actor().unlink("e/in") | actor().chmod("e", 0711), 0); },
                      [&] { return actor().rmdir("e"); });
}

TEST_F(Taking, WhatTheUserMadeAndMovedIsRemovedS60) {
    expect_kept(
        [&] {
            make("mine", "user\n");
            ASSERT_EQ(actor().rename("mine", "d/mine", 0), 0);
        },
        [&] { return actor().unlink("d/mine"); });
}

TEST_F(Taking, OneDivisionServesAllThatWasThereS60) {
    start();
    as_user();
    for (int i = 0; i < 20; ++i)
        make("f" + std::to_string(i), "user\n");
    as_agent();
    for (int i = 0; i < 20; ++i)
        ASSERT_EQ(actor().unlink("f" + std::to_string(i)), 0);
    EXPECT_EQ(turns().size(), 1U);
}

TEST_F(Taking, SharedDirectoriesDivideNothing) {
    start();
    as_user();
    ASSERT_EQ(actor().mkdir("made", 0755), 0);
    make("d/user", "u");
    as_agent();
    make("made/agent", "a");
    make("d/agent", "a");
    as_user();
    make("made/user", "u");
    ASSERT_EQ(actor().unlink("made/user"), 0);
    make("lock", "u");
    ASSERT_EQ(actor().unlink("lock"), 0);
    as_agent();
    make("lock", "a");
    EXPECT_EQ(turns().size(), 0U);
}

TEST_F(Taking, WhoHasNoProcessDividesNothing) {
    start();
    as_agent();
    make("mapped", "agent\n");
    actor().set_caller({0, 0, 0, 0});
    ASSERT_EQ(actor().write("mapped", 0, "stored"), 0);
    EXPECT_EQ(turns().size(), 0U);
}

TEST_F(Taking, UndoTakesTheWholeStepBack) {
    start();
    const std::string step = checkpoint("before");
    const Snapshot first = world_->look();
    as_user();
    make("mine", "user\n");
    as_agent();
    ASSERT_EQ(actor().append("mine", "agent\n"), 0);
    as_user();
    ASSERT_EQ(actor().append("mine", "user again\n"), 0);
    ASSERT_EQ(turns().size(), 2U);
    const Snapshot last = world_->look();
    // The user's part of it alone cannot go, for the agent changed the same.
    EXPECT_KIND(ErrorKind::kConflict, operations().undo(World::asker(), 1, overlay::Consent::kAll));
    EXPECT_EQ(difference(last, world_->look()), "");
    ASSERT_OK(operations().undo(World::asker(), 2, overlay::Consent::kAll));
    EXPECT_EQ(difference(first, world_->look()), "");
    ASSERT_OK(operations().redo(World::asker(), 1, overlay::Consent::kAll));
    EXPECT_EQ(difference(last, world_->look()), "");
    ASSERT_OK(operations().undo(World::asker(), 2, overlay::Consent::kAll));
    EXPECT_EQ(difference(first, world_->look()), "");
}

TEST_F(Taking, ACheckpointIsNotTakenBackWithoutWhatAnotherChangedAsWellS60) {
    start();
    as_user();
    make("mine", "user\n");
    as_agent();
    ASSERT_EQ(actor().append("mine", "agent\n"), 0);
    const std::string step = checkpoint("both");
    as_user();
    make("later", "user\n");
    EXPECT_KIND(ErrorKind::kConflict, operations().revert(World::asker(), step, false));
    EXPECT_EQ(actor().read("mine").value_or(""), "user\nagent\n");
    ASSERT_OK(operations().rollback(World::asker(), "root", false, overlay::Consent::kAll));
    EXPECT_FALSE(std::filesystem::exists(raw() / "mine"));
}

TEST_F(Taking, WhatTheAgentAloneChangedGoesThoughTurnsDividedIt) {
    start();
    as_agent();
    make("its", "one\n");
    ASSERT_EQ(actor().append("old", "agent\n"), 0);
    as_user();
    make("mine", "user\n");
    make("kept", "user\n");
    as_agent();
    ASSERT_EQ(actor().append("mine", "agent\n"), 0);
    ASSERT_EQ(actor().append("its", "two\n"), 0);
    ASSERT_EQ(actor().append("old", "agent\n"), 0);
    ASSERT_EQ(turns().size(), 1U);
    const Snapshot all = world_->look();
    ASSERT_OK(operations().revert(World::asker(), "agent", false));
    EXPECT_EQ(actor().read("mine").value_or(""), "user\n");
    EXPECT_EQ(actor().read("kept").value_or(""), "user\n");
    EXPECT_EQ(actor().read("old").value_or(""), "old\n");
    EXPECT_FALSE(std::filesystem::exists(raw() / "its"));
    ASSERT_OK(operations().redo(World::asker(), 1, overlay::Consent::kAll));
    EXPECT_EQ(difference(all, world_->look()), "");
    as_user();
    ASSERT_EQ(actor().unlink("mine"), 0);
    // What the user removed is named, whoever had changed it.
    ASSERT_ASSIGN(const auto moved, operations().revert(World::asker(), "agent", false));
    EXPECT_EQ(moved.left, Lines{"mine"});
    EXPECT_EQ(actor().read("old").value_or(""), "old\n");
    EXPECT_FALSE(std::filesystem::exists(raw() / "its"));
}

TEST_F(Taking, SessionsThatTakeTurnsAllDayShareAnInterval) {
    start();
    for (int i = 0; i < 300; ++i) {
        i % 2 == 0 ? as_user() : as_agent();
        ASSERT_EQ(actor().append("old", std::to_string(i) + "\n"), 0);
    }
    EXPECT_GE(turns().size(), static_cast<std::size_t>(overlay::Turns::kMost));
    EXPECT_LT(turns().size(), 200U);
    // Not for ever: they take turns again as soon as they may.
    const std::size_t shared = turns().size();
    while (turns().size() == shared) {
        as_user();
        ASSERT_EQ(actor().append("old", "u"), 0);
        as_agent();
        ASSERT_EQ(actor().append("old", "a"), 0);
        std::this_thread::yield();
    }
    ASSERT_OK(operations().discard(World::asker(), false, overlay::Consent::kAll));
    EXPECT_EQ(actor().read("old").value_or(""), "old\n");
}

// After too many turns two sessions share an interval, and a file that one made there and the other
// wrote to is the work of both.
TEST_F(Taking, S60_WhatIsNotSharedGoesThoughNoTurnCameBetween) {
    for (int i = 0; i < 20; ++i)
        before("d/" + std::to_string(i), "before\n");
    start();
    for (int i = 0; i < 2 * overlay::Turns::kMostOfAll; ++i) {
        i % 2 == 0 ? as_user() : as_agent();
        ASSERT_EQ(actor().append("d/" + std::to_string(i / 2 % 20), "more\n"), 0);
    }
    // There is one each second from now on, so one may come between.
    std::string shared;
    for (int i = 0; i < 20; ++i) {
        shared = "d/" + std::to_string(i);
        const std::size_t then = turns().size();
        as_agent();
        make("new", "agent\n");
        ASSERT_EQ(actor().rename("new", shared, 0), 0);
        as_user();
        ASSERT_EQ(actor().append(shared, "user\n"), 0);
        if (turns().size() == then) break;
    }
    as_agent();
    make("its", "agent\n");
    ASSERT_ASSIGN(const auto moved, operations().revert(World::asker(), "agent", false));
    EXPECT_NE(std::find(moved.left.begin(), moved.left.end(), shared), moved.left.end());
    EXPECT_EQ(actor().read(shared).value_or(""), "agent\nuser\n");
    EXPECT_FALSE(std::filesystem::exists(raw() / "its"));
}

TEST_F(Taking, AnOldFileThatTheUserChangedIsRemovedS60) {
    expect_in_a_state([&] { ASSERT_EQ(actor().append("old", "user\n"), 0); },
                      [&] { return actor().unlink("old"); });
}

TEST_F(Taking, AnOldFileThatTheUserChangedIsReplacedS60) {
    expect_in_a_state(
        [&] {
            ASSERT_EQ(actor().append("old", "user\n"), 0);
            as_agent();
            make("new", "agent\n");
        },
        [&] { return actor().rename("new", "old", 0); });
}

TEST_F(Taking, AnOldFileChangedByOneNameIsRemovedByTheOtherS60) {
    expect_in_a_state(
        [&] {
            ASSERT_EQ(actor().link("old", "d/other"), 0);
            ASSERT_EQ(actor().append("d/other", "user\n"), 0);
            ASSERT_EQ(actor().unlink("d/other"), 0);
        },
        [&] { return actor().unlink("old"); });
}

TEST_F(Taking, AFileWithoutANameSpendsNoDivisions) {
    start();
    as_user();
    const auto file = world_->tree().tmpfile({0, 0, ::getpid(), 0022}, overlay::kRootId, 0600);
    ASSERT_TRUE(file.ok());
    overlay::Caller agent{0, 0, kAgent, 0022};
    const std::byte data{'x'};
    for (unsigned i = 0; i < 3; ++i)
        ASSERT_OK(world_->tree().write(agent, file->id, sys::ConstBytes(&data, 1), i, false));
    EXPECT_EQ(turns().size(), 0U);
    as_user();
    make("mine", "user");
    as_agent();
    ASSERT_EQ(actor().unlink("mine"), 0);
    EXPECT_EQ(turns().size(), 1U);
}

TEST_F(Taking, AFileOfTheUserIsExchangedS60) {
    expect_kept(
        [&] {
            make("mine", "user\n");
            as_agent();
            make("its", "agent\n");
        },
        [&] { return actor().rename("its", "mine", RENAME_EXCHANGE); }, Undo::kIsRefused);
}

TEST_F(Taking, WhoWentBackToATurnIsAtTheBeginningOfAStep) {
    start();
    as_user();
    make("mine", "user\n");
    as_agent();
    ASSERT_EQ(actor().write("mine", 0, "agent"), 0);
    const std::string turn = "n" + std::to_string(turns()[0].number);
    ASSERT_OK(operations().rollback(World::asker(), turn, false, overlay::Consent::kAll));
    const Snapshot at_turn = world_->look();
    as_user();
    make("later", "x");
    ASSERT_OK(operations().undo(World::asker(), 1, overlay::Consent::kAll));
    EXPECT_EQ(difference(at_turn, world_->look()), "");
}

TEST_F(Taking, ThreeSessionsOnOneFile) {
    start();
    overlay::Asker asker = World::asker();
    asker.pid = kAgent + 1;
    asker.session = "blue";
    ASSERT_OK(operations().begin_run(asker, "blue"));
    std::vector<Snapshot> states;
    const auto blue = [&] { actor().set_caller({0, 0, kAgent + 1, 0022}); };
    std::vector<std::string> nodes;
    as_user();
    for (int i = 0; i < 12; ++i) {
        states.push_back(world_->look());
        if (i % 3 == 0) as_user();
        if (i % 3 == 1) as_agent();
        if (i % 3 == 2) blue();
        ASSERT_EQ(actor().write("old", static_cast<unsigned>(i) / 2, std::to_string(i)), 0);
    }
    states.push_back(world_->look());
    const auto found = turns();
    ASSERT_EQ(found.size(), 11U);
    std::vector<journal::NodeNumber> numbers;
    for (const auto& node : found)
        numbers.push_back(node.number);
    std::sort(numbers.begin(), numbers.end());
    for (const auto number : numbers)
        nodes.push_back("n" + std::to_string(number));
    for (std::size_t k : {3U, 10U, 0U, 7U, 5U}) {
        ASSERT_OK(operations().rollback(World::asker(), nodes[k], false, overlay::Consent::kAll));
        EXPECT_EQ(difference(states[k + 1], world_->look()), "") << k;
    }
    ASSERT_OK(operations().redo(World::asker(), 1, overlay::Consent::kAll));
    EXPECT_EQ(difference(states[8], world_->look()), "");
    ASSERT_OK(operations().undo(World::asker(), 2, overlay::Consent::kAll));
    EXPECT_EQ(difference(states.front(), world_->look()), "");
    ASSERT_OK(operations().redo(World::asker(), 1, overlay::Consent::kAll));
    EXPECT_EQ(difference(states[8], world_->look()), "");
    expect_conflict("blue", "old");
    ASSERT_ASSIGN(const auto checked, operations().check(false));
    EXPECT_EQ(checked.problems, std::vector<std::string>());
}

TEST_F(Taking, ATurnIsNoStepToUndo) {
    start();
    as_user();
    make("mine", "user\n");
    make("mine2", "user\n");
    as_agent();
    ASSERT_EQ(actor().append("mine", "agent\n"), 0);
    const Snapshot all = world_->look();
    const std::string turn = "n" + std::to_string(turns()[0].number);
    EXPECT_KIND(ErrorKind::kUsage, operations().revert(World::asker(), turn, false));
    EXPECT_EQ(difference(all, world_->look()), "");
}

TEST_F(Taking, ARenameOverAFileOfTheUserInADirectoryOfItsOwnS60) {
    expect_kept([&] { make("d/mine", "user\n"); },
                [&] { return actor().rename("old", "d/mine", 0); });
}

TEST_F(Taking, OneBusyFileDoesNotSpendTheDivisionsOfOthers) {
    start();
    for (int i = 0; i < 300; ++i) {
        i % 2 == 0 ? as_user() : as_agent();
        ASSERT_EQ(actor().append("old", std::to_string(i) + "\n"), 0);
    }
    as_user();
    make("precious", "user");
    const std::size_t before = turns().size();
    as_agent();
    ASSERT_EQ(actor().unlink("precious"), 0);
    EXPECT_EQ(turns().size(), before + 1);
}

}  // namespace
}  // namespace unwrite::tests
