// What going back costs does not depend on how many states there are (S30). Counted are the rows
// that are read out of the database.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "tests/overlay/looking.h"

namespace unwrite::tests {
namespace {

class Flat : public Looking {
 protected:
    /// The rows that `work` reads.
    template <class Work>
    static std::uint64_t rows_of(const Work& work) {
        const std::uint64_t before = journal::rows_read();
        const auto done = work();
        EXPECT_TRUE(done.ok()) << done.error().message();
        return journal::rows_read() - before;
    }
    /// Of each operation once, after a change that is sealed.
    std::vector<std::uint64_t> rows_of_all() {
        using overlay::Consent;
        replace("a", "other\n");
        checkpoint("mark");
        replace("a", "third\n");
        return {
            rows_of([&] {
                return operations().checkpoint(World::asker(), overlay::NodeKind::kCheckpoint, "",
                                               "");
            }),
            rows_of([&] { return operations().undo(World::asker(), 1, Consent::kAll); }),
            rows_of([&] { return operations().redo(World::asker(), 1, Consent::kAll); }),
            rows_of([&] {
                return operations().rollback(World::asker(), "mark", false, Consent::kAll);
            }),
        };
    }
};

TEST_F(Flat, S30_GoingBackReadsNoMoreAmongAThousandStatesThanAmongTen) {
    before("a", "one\n");
    begin();
    for (int i = 0; i < 10; ++i)
        checkpoint();
    static_cast<void>(rows_of_all());
    const std::vector<std::uint64_t> among_ten = rows_of_all();
    for (int i = 0; i < 1000; ++i)
        checkpoint();
    EXPECT_EQ(rows_of_all(), among_ten);
    for (const std::uint64_t rows : among_ten)
        EXPECT_LT(rows, 20U);
}

class Dropped : public Looking {
 protected:
    std::size_t files() const {
        std::size_t count = 0;
        for (const auto& entry : std::filesystem::directory_iterator(raw() / ".unwrite/deltas"))
            count += entry.is_regular_file() ? 1U : 0U;
        return count;
    }
    Result<> change_and_commit() {
        for (int i = 0; i < 50; ++i) {
            replace("a", std::to_string(i));
            checkpoint();
        }
        EXPECT_GE(files(), 50U);
        const auto committed = operations().commit(World::asker(), "", false);
        return committed ? Result<>() : Result<>(committed.error());
    }
};

// A commit answers before the files of what it dropped are gone; they go without being asked for.
TEST_F(Dropped, S30_TheDeltasThatACommitDropsGoInTheBackground) {
    before("a", "one\n");
    begin();
    ASSERT_OK(change_and_commit());
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (files() != 0 && std::chrono::steady_clock::now() < end)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_EQ(files(), 0U);
    replace("a", "after\n");
    ASSERT_OK(discard_all());
    EXPECT_EQ(scratch_.read("work/a"), "49");
}

TEST_F(Dropped, S30_NoneIsLeftByACleanEnd) {
    before("a", "one\n");
    begin();
    ASSERT_OK(change_and_commit());
    replace("a", "after\n");
    const std::size_t open = 2;  // its log and its data
    world_.reset();
    EXPECT_EQ(files(), open);
}

TEST_F(Dropped, S67_WhatAKillLeavesOfThemGoesWithTheNextStart) {
    before("a", "one\n");
    for (int point = 1; point <= 3; ++point) {
        const bool killed = is_killed_at("delta.removed-log:" + std::to_string(point), [&] {
            const auto done = change_and_commit();
            world_.reset();
            return done;
        });
        ASSERT_TRUE(killed);
        EXPECT_GT(files(), 0U);
        begin();
        EXPECT_EQ(files(), 0U);
        EXPECT_EQ(scratch_.read("work/a"), "49");
        EXPECT_TRUE(changes().empty());
        ASSERT_ASSIGN(const auto checked, operations().check(false));
        EXPECT_TRUE(checked.problems.empty()) << checked.problems.front();
    }
}

}  // namespace
}  // namespace unwrite::tests
