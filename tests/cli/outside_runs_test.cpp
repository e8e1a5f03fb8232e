// What runs outside the sandbox: scripts and settings that are new, and the text before a diff.
#include "cli/outside_runs.h"

#include <gtest/gtest.h>

#include <random>

#include "edit/diff.h"

namespace unwrite::cli {
namespace {

using Names = std::vector<std::string>;

TEST(OutsideRuns, ScriptsThatAreNewOrOtherAreNamedS44) {
    EXPECT_EQ(new_scripts("", R"({"scripts": {"test": "x", "a": "y"}})"), (Names{"a", "test"}));
    EXPECT_EQ(new_scripts(R"({"scripts": {"test": "x"}})", R"({"scripts": {"test": "x"}, "b": 1})"),
              Names());
    EXPECT_EQ(new_scripts(R"({"scripts": {"test": "x"}})",
                          R"({"scripts": {"test": "z", "postinstall": "y"}})"),
              (Names{"postinstall", "test"}));
    EXPECT_EQ(new_scripts("{}", "no json"), Names());
    EXPECT_EQ(new_scripts("[1", R"({"scripts": [1]})"), Names());
}

TEST(OutsideRuns, TheTextBeforeADiffComesBackS44) {
    std::mt19937 random(7);
    for (int round = 0; round < 300; ++round) {
        std::string older;
        std::string newer;
        for (unsigned i = 0; i < random() % 30; ++i) {
            const std::string line = std::to_string(random() % 4) + "\n";
            if (random() % 5 != 0) older += line;
            if (random() % 5 != 0) newer += line;
        }
        const auto diff = edit::unified_diff({"a", older}, {"a", newer});
        ASSERT_TRUE(diff.ok());
        EXPECT_EQ(before_diff(newer, *diff), older) << *diff;
    }
}

TEST(OutsideRuns, TheyAreNamedInABlockOfTheirOwnS44) {
    EXPECT_EQ(outside_run_lines({}), "");
    EXPECT_EQ(outside_run_lines({{".vscode/tasks.json"}, {"package.json", "scripts: a\x1b"}}),
              "Runs outside the sandbox; look at it before you use it:\n  ! .vscode/tasks.json\n"
              "  ! package.json  (scripts: a^[)\n");
    EXPECT_EQ(outside_run_words({{"a"}, {"b"}}), "Runs outside the sandbox: a and 1 more");
}

}  // namespace
}  // namespace unwrite::cli
