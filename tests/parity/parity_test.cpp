// Every cell of the table, group by group; then the ways back.
#include <gtest/gtest.h>

#include "tests/parity/groups.h"
#include "tests/parity/runner.h"
#include "tests/support/thorough.h"

namespace unwrite::tests::parity {
namespace {

constexpr std::size_t kMostShown = 2000000;

#define SKIP_UNLESS_MOUNTING() \
    if (const std::string why = why_not_here(); !why.empty()) GTEST_SKIP() << why

class Parity : public ::testing::TestWithParam<std::size_t> {
 protected:
    static const Group& group() { return groups()[GetParam()]; }
};

std::string cut(std::string text) {
    if (text.size() > kMostShown) text.resize(kMostShown);
    return text;
}

TEST_P(Parity, S45_S53_S73_S49_answers_as_a_plain_directory_and_undo_brings_all_back) {
    SKIP_UNLESS_MOUNTING();
    Stage stage({&group()});
    ASSERT_EQ(stage.failure(), "");
    ASSERT_EQ(stage.mounted().command({"checkpoint", "before"}), "");
    const Verdict verdict = compare(stage, group());
    EXPECT_TRUE(verdict.failures.empty()) << cut(verdict.failures);
    std::cout << group().name() << ": " << verdict.cells << " cells, " << verdict.excused
              << " excused\n";
    const std::string behind =
        difference(without(stage.plain(), verdict.different),
                   without(stage.behind(), verdict.different), Times::kIgnore);
    EXPECT_TRUE(behind.empty()) << "a: plain, b: behind the mount\n" << cut(behind);
    EXPECT_EQ(stage.mounted().command({"undo"}), "");
    const std::string undone = difference(stage.before(), stage.behind());
    EXPECT_TRUE(undone.empty()) << "a: before, b: undone\n" << cut(undone);
}

INSTANTIATE_TEST_SUITE_P(Cells, Parity, ::testing::Range(std::size_t{0}, groups().size()),
                         [](const auto& group) { return groups()[group.param].name(); });

// Each cell is taken back by the undo of its group. Here all groups come one after the other, and a
// third of the cells says as much: another third in each row, for tables have columns.
bool is_of_the_rollback(const Cell& cell, std::size_t number) {
    return can_be_done(cell) && ((number + number / 3) % 3 == 0 || is_long());
}

TEST(ParityOfAll, S49_S57_a_rollback_takes_the_whole_table_back) {
    SKIP_UNLESS_MOUNTING();
    std::vector<const Group*> all;
    for (const Group& group : groups())
        all.push_back(&group);
    Stage stage(all, Stage::Places::kMount);
    ASSERT_EQ(stage.failure(), "");
    ASSERT_EQ(stage.mounted().command({"checkpoint", "first"}), "");
    for (const Group& group : groups()) {
        for (std::size_t i = 0; i < group.cells().size(); ++i) {
            if (is_of_the_rollback(group.cells()[i], i)) stage.only_act_in_mount(group, i);
        }
        ASSERT_EQ(stage.mounted().command({"checkpoint", "after-" + group.name()}), "");
    }
    EXPECT_NE(difference(stage.before(), stage.behind()), "");
    ASSERT_EQ(stage.mounted().command({"rollback", "first"}), "");
    const std::string back = difference(stage.before(), stage.behind());
    EXPECT_TRUE(back.empty()) << "a: before, b: rolled back\n" << cut(back);
}

TEST(ParityOfAll, has_enough_cells_and_each_has_a_name_of_its_own) {
    std::set<std::string> names;
    std::size_t count = 0;
    for (const Group& group : groups()) {
        for (const Cell& cell : group.cells()) {
            ++count;
            EXPECT_TRUE(names.insert(cell.name).second) << cell.name << " is there twice";
        }
    }
    EXPECT_GE(count, 2000U);
    std::cout << count << " cells\n";
}

}  // namespace
}  // namespace unwrite::tests::parity
