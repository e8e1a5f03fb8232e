// Lists of operations that once failed, as the random runs found them.
#include <gtest/gtest.h>

#include "tests/model/agent_process.h"
#include "tests/model/moves.h"
#include "tests/support/plain_actor.h"
#include "tests/support/scratch.h"

namespace unwrite::tests {
namespace {

class Cases : public testing::Test {
 protected:
    Cases() {
        PlainActor actor(scratch_.path());
        actor.mkdir("old", 0755);
        actor.create("old/file", 0644);
        actor.write("old/file", 0, random_bytes(1, 100'000));
        actor.mkdir("old/empty", 0750);
    }

    void run(const Operations& operations) {
        Moves moves(scratch_.path(), agent_.pid());
        for (const Operation& operation : operations) {
            ASSERT_EQ(moves.step(operation), "") << "at " << text_of(operation);
        }
    }

    const Scratch scratch_;
    const AgentProcess agent_;
};

constexpr Kind kEnd[] = {Kind::kUndo,    Kind::kRedo, Kind::kUndo,    Kind::kRedo, Kind::kCheck,
                         Kind::kDiscard, Kind::kRedo, Kind::kDiscard, Kind::kCheck};

Operations to_and_fro(Operations operations) {
    for (const Kind kind : kEnd)
        operations.push_back({.kind = kind, .x = 1});
    return operations;
}

TEST_F(Cases, SomeoneElseUnlinksWhatAnAgentCreated) {
    run(to_and_fro({
        {.kind = Kind::kMkdir, .a = "made", .x = 0755, .agent = true},
        {.kind = Kind::kCreate, .a = "made/file", .x = 0644, .agent = true},
        {.kind = Kind::kCreate, .a = "made/other", .x = 0644, .agent = true},
        {.kind = Kind::kUnlink, .a = "made/file"},
        {.kind = Kind::kRename, .a = "made/other", .b = "made/new"},
    }));
}

TEST_F(Cases, SomeoneElseReplacesWhatAnAgentCreated) {
    run(to_and_fro({
        {.kind = Kind::kMkdir, .a = "made", .x = 0755, .agent = true},
        {.kind = Kind::kCreate, .a = "made/file", .x = 0644, .agent = true},
        {.kind = Kind::kMkdir, .a = "made/dir", .x = 0755, .agent = true},
        {.kind = Kind::kRename, .a = "old/file", .b = "made/file"},
        {.kind = Kind::kRename, .a = "old/empty", .b = "made/dir"},
    }));
}

TEST_F(Cases, AHeldDirectoryOfAnAgentIsRemovedByTheUser) {
    run(to_and_fro({
        {.kind = Kind::kMkdir, .a = "made", .x = 0755, .agent = true},
        {.kind = Kind::kMkdir, .a = "made/dir", .x = 0755, .agent = true},
        {.kind = Kind::kHold, .a = "made/dir"},
        {.kind = Kind::kRmdir, .a = "made/dir"},
        {.kind = Kind::kDrop},
    }));
}

TEST_F(Cases, AnOldFilePassesThroughACreatedDirectoryThatGoesAgain) {
    run(to_and_fro({
        {.kind = Kind::kMkdir, .a = "made", .x = 0755},
        {.kind = Kind::kRename, .a = "old/file", .b = "made/file"},
        {.kind = Kind::kRename, .a = "made/file", .b = "old/moved"},
        {.kind = Kind::kRmdir, .a = "made"},
    }));
}

TEST_F(Cases, AHeldFileWithoutANameIsNotMissed) {
    run({
        {.kind = Kind::kHold, .a = "old/file"},
        {.kind = Kind::kUnlink, .a = "old/file", .agent = true},
        {.kind = Kind::kCheckpoint},
        {.kind = Kind::kChmodHeld, .x = 0600},
        {.kind = Kind::kRollback, .x = 0, .y = 2},
    });
}

TEST_F(Cases, UndoAboveTheRootOfACommitWithHistory) {
    run({
        {.kind = Kind::kCreate, .a = "new", .x = 0644},
        {.kind = Kind::kCommit, .x = 1},
        {.kind = Kind::kRollback, .x = 0, .y = 2},
        {.kind = Kind::kRollback, .x = 2, .y = 2},
        {.kind = Kind::kTruncate, .a = "old/file", .x = 5},
        {.kind = Kind::kUndo, .x = 3},
        {.kind = Kind::kUndo, .x = 3},
        {.kind = Kind::kDiscard, .x = 1},
        {.kind = Kind::kCheck},
    });
}

TEST_F(Cases, GcKeepsARootThatIsNotOnTheTrunk) {
    run({
        {.kind = Kind::kCreate, .a = "new", .x = 0644},
        {.kind = Kind::kCommit, .x = 1},
        {.kind = Kind::kRollback, .x = 2, .y = 2},
        {.kind = Kind::kGc, .x = 4},
        {.kind = Kind::kGc, .x = 3},
        {.kind = Kind::kReopen},
        {.kind = Kind::kDiscard, .x = 1},
        {.kind = Kind::kCheck},
    });
}

TEST_F(Cases, RestoringAPathTakesADirectoryFromWhereItIsNow) {
    run({
        {.kind = Kind::kCheckpoint, .x = 1},
        {.kind = Kind::kRename, .a = "old", .b = "elsewhere"},
        {.kind = Kind::kMkdir, .a = "old", .x = 0755},
        {.kind = Kind::kCheckpoint, .x = 1},
        {.kind = Kind::kRestorePath, .a = "old", .x = 1},
        {.kind = Kind::kUndo, .x = 1},
        {.kind = Kind::kUndo, .x = 1},
        {.kind = Kind::kRedo, .x = 2},
        {.kind = Kind::kCheck},
    });
}

}  // namespace
}  // namespace unwrite::tests
