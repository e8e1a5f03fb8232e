// Which branches and tags a diff of git's own files says to have moved.
#include "cli/git_losses.h"

#include <gtest/gtest.h>

namespace unwrite::cli {
namespace {

const std::string kA(40, 'a');
const std::string kB(40, 'b');
const std::string kC(40, 'c');

overlay::FileDiff diff_of(const std::string& path, const std::string& lines) {
    overlay::FileDiff diff;
    diff.change.path = path;
    diff.text = "diff --git a/" + path + " b/" + path + "\n--- a/" + path + "\n+++ b/" + path +
                "\n@@ -1 +1 @@\n" + lines;
    return diff;
}

TEST(GitLosses, ABranchMovesAppearsAndGoes) {
    const auto changes = ref_changes(
        {diff_of(".git/refs/heads/main", "-" + kA + "\n+" + kB + "\n"),
         diff_of(".git/refs/heads/deep/new", "+" + kC + "\n"),
         diff_of(".git/refs/heads/old", "-" + kC + "\n"), diff_of("notes", "+" + kC + "\n")},
        "");
    ASSERT_EQ(changes.size(), 3U);
    EXPECT_EQ(changes.at("refs/heads/main").before, kA);
    EXPECT_EQ(changes.at("refs/heads/main").after, kB);
    EXPECT_EQ(changes.at("refs/heads/deep/new").before, "");
    EXPECT_EQ(changes.at("refs/heads/deep/new").after, kC);
    EXPECT_EQ(changes.at("refs/heads/old").after, "");
}

TEST(GitLosses, WhatWasPackedIsNotNew) {
    const std::string packed =
        "# pack-refs with: peeled\n" + kA + " refs/heads/main\n^" + kC + "\n";
    const auto changes = ref_changes({diff_of(".git/refs/heads/main", "+" + kB + "\n")}, packed);
    EXPECT_EQ(changes.at("refs/heads/main").before, kA);
}

TEST(GitLosses, WhatWasOnlyPackedMeanwhileDidNotMove) {
    const std::string line = kA + " refs/heads/main\n";
    const auto same = ref_changes(
        {diff_of(".git/refs/heads/main", "-" + kA + "\n"), diff_of(".git/packed-refs", "+" + line)},
        line);
    EXPECT_TRUE(same.empty());
    const auto moved =
        ref_changes({diff_of(".git/refs/heads/main", "-" + kB + "\n"),
                     diff_of(".git/packed-refs", "-" + kC + " refs/heads/main\n+" + line)},
                    line);
    EXPECT_EQ(moved.at("refs/heads/main").before, kB);
    EXPECT_EQ(moved.at("refs/heads/main").after, kA);
}

TEST(GitLosses, OnlyIdsAreTaken) {
    EXPECT_TRUE(ref_changes({diff_of(".git/refs/heads/x", "-ref: refs/heads/y\n+--output=z\n"),
                             diff_of(".git/packed-refs", "+" + kA + " refs/remotes/origin/main\n")},
                            "")
                    .empty());
}

}  // namespace
}  // namespace unwrite::cli
