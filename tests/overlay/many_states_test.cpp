// However many states changed the same file: what is looked at and taken back is right, and few
// files are open for it.
#include "tests/overlay/many_states.h"

#include <gtest/gtest.h>

namespace unwrite::tests {
namespace {

using overlay::Consent;

TEST_F(ManyStates, S30_what_changed_is_seen) {
    EXPECT_EQ(changes(), Lines({"modified other", "modified same"}));
    ASSERT_ASSIGN(const auto counted, operations().count());
    EXPECT_EQ(counted.files, 2U);
    ASSERT_EQ(actor().write("other", 0, "new"), 0);
    ASSERT_ASSIGN(const auto again, operations().count());
    EXPECT_EQ(again.files, 2U);
    EXPECT_EQ(changes(node(200)), Lines({"modified other", "modified same"}));
    EXPECT_NE(patch("root", node(300)).find("+300"), std::string::npos);
    EXPECT_NE(patch("root", "", {"same"}).find("+as of 400\n"), std::string::npos);
    ASSERT_ASSIGN(const auto log, operations().log("same", false, true));
    EXPECT_EQ(log.entries.size(), static_cast<std::size_t>(kStates));
    for (const auto& entry : log.entries)
        EXPECT_EQ(lines_of(entry.changes), Lines({"modified same"})) << entry.node.number;
}

TEST_F(ManyStates, S30_a_path_comes_back_out_of_many_states) {
    ASSERT_OK(operations().restore_paths(World::asker(), {"same"}, node(7), false));
    EXPECT_TRUE(same() == text_at(7));
    ASSERT_OK(operations().restore_paths(World::asker(), {"same"}, "root", false));
    EXPECT_TRUE(same() == text_at(0));
    EXPECT_EQ(scratch_.read("work/other"), std::to_string(kStates));
    overlay::Decision keep;
    keep.keep = {"other"};
    ASSERT_OK(operations().decide(World::asker(), keep, false));
    EXPECT_EQ(changes(), Lines());
    expect_no_problem();
}

TEST_F(ManyStates, S30_all_of_it_is_taken_back_and_comes_back) {
    ASSERT_OK(operations().rollback(World::asker(), node(1), false, Consent::kAll));
    EXPECT_TRUE(same() == text_at(1));
    ASSERT_OK(operations().redo(World::asker(), kStates, Consent::kAll));
    EXPECT_TRUE(same() == text_at(kStates));
    ASSERT_OK(discard_all());
    EXPECT_TRUE(same() == text_at(0));
    ASSERT_OK(operations().rollback(World::asker(), node(200), false, Consent::kAll));
    EXPECT_TRUE(same() == text_at(200));
    expect_no_problem();
    ASSERT_OK(operations().commit(World::asker(), "", false));
    EXPECT_EQ(changes(), Lines());
    EXPECT_TRUE(same() == text_at(200));
}

TEST_F(ManyStates, S30_many_abandoned_states_are_collected) {
    ASSERT_OK(operations().rollback(World::asker(), node(1), false, Consent::kAll));
    ASSERT_ASSIGN(const auto some, operations().gc({.max_abandoned = 150}));
    EXPECT_EQ(some.nodes, kStates - 1 - 150U);
    ASSERT_OK(operations().rollback(World::asker(), node(151), false, Consent::kAll));
    EXPECT_TRUE(same() == text_at(151));
    ASSERT_OK(operations().rollback(World::asker(), node(1), false, Consent::kAll));
    ASSERT_ASSIGN(const auto rest, operations().gc({.max_bytes = 1}));
    EXPECT_EQ(rest.nodes, 150U);
    EXPECT_TRUE(same() == text_at(1));
    expect_no_problem();
}

// What is carried of a file that is changed unseen goes through all of them.
TEST_F(ManyStates, S48_a_file_that_is_open_all_the_time_is_taken_back_through_all) {
    const overlay::Caller user{0, 0, ::getpid(), 0022};
    ASSERT_ASSIGN(const auto entry, world_->tree().lookup(user, overlay::kRootId, "same"));
    ASSERT_OK(world_->tree().begin_unseen(user, entry.id));
    for (const int state : {3, kStates, 150, 1}) {
        ASSERT_OK(operations().rollback(World::asker(), node(state), false, Consent::kAll));
        EXPECT_TRUE(same() == text_at(state)) << state;
    }
    world_->tree().end_unseen(entry.id, false);
    ASSERT_OK(discard_all());
    EXPECT_TRUE(same() == text_at(0));
    expect_no_problem();
}

}  // namespace
}  // namespace unwrite::tests
