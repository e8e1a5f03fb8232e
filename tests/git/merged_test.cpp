// A merged pull request: the offer of a revert pull request, and making it.
#include <gtest/gtest.h>

#include "tests/git/world.h"

namespace unwrite::git::tests {
namespace {

using Names = std::vector<std::string>;

enum class How { kMerge, kSquash, kRebase };

/// A pull request of two commits, merged at the remote while the work tree is somewhere else.
struct Merged : World {
    explicit Merged(How how) {
        commit("start", {{"a", "0\n"}, {".GITCLAW/log", "0\n"}});
        add_remote();
        git({"switch", "--quiet", "--create", "gitclaw/issue-7"});
        const std::string one = agent_commit(7, {{"made", "1\n"}, {".GITCLAW/log", "1\n"}});
        const std::string two = agent_commit(7, {{"made", "2\n"}});
        git({"switch", "--quiet", "main"});
        commit("by a person", {{"other", "x\n"}});
        if (how == How::kMerge) {
            git({"merge", "--quiet", "--no-ff", "-m", "Merge pull request #3", "gitclaw/issue-7"});
        } else if (how == How::kSquash) {
            git({"merge", "--quiet", "--squash", "gitclaw/issue-7"});
            git({"commit", "--quiet", "-m", "Do it (#3)"});
        } else {
            git({"cherry-pick", one, two});
        }
        merge = head();
        commit("later, by a person", {{"later", "x\n"}});
        git({"push", "--quiet", "origin", "main"});
        git({"branch", "--quiet", "-D", "gitclaw/issue-7"});
        gh_says("pr-list-merged",
                R"([{"number":3,"url":"https://h/pull/3","title":"Do it","baseRefName":"main",)"
                R"("mergeCommit":{"oid":")" +
                    merge + R"("}}])");
        gh_says("pr-view", R"({"commits":[{"oid":")" + one +
                               R"(","messageHeadline":"gitclaw: work on issue #7"},{"oid":")" +
                               two + R"(","messageHeadline":"gitclaw: work on issue #7"}]})");
        gh_says("pr-create", "Creating pull request\nhttps://h/pull/4\n");
    }
    std::string merge;
};

TEST(GitMerged, S120_ItIsOfferedAndNothingIsDone) {
    const Merged world(How::kMerge);
    const std::string head = world.head();
    ASSERT_ASSIGN(const UndoReport report, world.undo(7));
    EXPECT_EQ(report.end, UndoEnd::kMerged);
    EXPECT_EQ(
        markdown(report),
        "## ⚠️ Changes already merged\n\nThe PR with these changes has already been merged. "
        "To undo them:\n1. I can create a new revert PR that undoes the merged changes\n2. "
        "You can manually revert: `git revert -m 1 " +
            world.merge.substr(0, 7) + "`\n\nWould you like me to create a revert PR?\n");
    EXPECT_EQ(world.head(), head);
    EXPECT_EQ(world.gh_calls().find("pr create"), std::string::npos);
}

TEST(GitMerged, S120_OnYesARevertRequestIsMade) {
    for (const How how : {How::kMerge, How::kSquash, How::kRebase}) {
        const Merged world(how);
        world.git({"switch", "--quiet", "--create", "elsewhere", "HEAD~1"});
        world.write("a", "unsaved work\n");
        const std::string head = world.head();
        const std::string status = world.git({"status", "--porcelain"});
        UndoOptions options = world.options(7);
        options.revert_merged = true;
        options.push = true;
        options.memory = world.path("memory.log");
        ASSERT_ASSIGN(const UndoReport report, world.undo(options));
        EXPECT_EQ(report.end, UndoEnd::kDone);
        EXPECT_FALSE(report.memory_noted);  // nothing is undone before it is merged
        EXPECT_EQ(report.revert_pull_request, "https://h/pull/4");
        EXPECT_NE(markdown(report).find("**Revert PR:**\n- https://h/pull/4"), std::string::npos);
        EXPECT_NE(world.gh_calls().find("pr create --head revert-3-issue-7 --base main --title "
                                        "Revert\\ \\\"Do\\ it\\\" --body "),
                  std::string::npos)
            << world.gh_calls();
        // The branch takes back what was merged, on top of what others did since, but no state.
        const std::string branch = world.git_in(world.origin(), {"rev-parse", "revert-3-issue-7"});
        EXPECT_EQ(branch, report.revert_commit);
        EXPECT_EQ(world.git({"diff", "--name-status", "origin/main", branch}), "D\tmade");
        // Nothing here has moved.
        EXPECT_EQ(world.head(), head);
        EXPECT_EQ(world.git({"status", "--porcelain"}), status);
        EXPECT_EQ(world.read("a"), "unsaved work\n");
        EXPECT_EQ(world.git({"worktree", "list", "--porcelain"}).find("worktree", 1),
                  std::string::npos);
    }
}

TEST(GitMerged, S120_ASecondTimeTheRequestThatIsThereIsNamed) {
    const Merged world(How::kSquash);
    UndoOptions options = world.options(7);
    options.revert_merged = true;
    ASSERT_OK(world.undo(options));
    world.gh_says("pr-list-revert-open", R"([{"number":4,"url":"https://h/pull/4"}])");
    for (const bool yes : {true, false}) {
        options.revert_merged = yes;
        ASSERT_ASSIGN(const UndoReport report, world.undo(options));
        EXPECT_EQ(report.end, UndoEnd::kMerged);
        EXPECT_EQ(report.revert_pull_request, "https://h/pull/4");
        EXPECT_EQ(markdown(report),
                  "## ⚠️ Revert PR already open\n\nThe PR with these changes has already been "
                  "merged. A PR that reverts it is open already: https://h/pull/4\n");
    }
    const std::string calls = world.gh_calls();
    EXPECT_EQ(calls.find("pr create"), calls.rfind("pr create"));
}

TEST(GitMerged, S120_ABranchWithoutItsRequestIsUsedAgain) {
    const Merged world(How::kSquash);
    world.gh_does("pr-create", "echo $$ >" + world.path("pid") + "\nexec sleep 300\n");
    UndoOptions options = world.options(7);
    options.revert_merged = true;
    options.attendant.interruptions = [&] {
        return std::filesystem::exists(world.path("pid")) ? 1 : 0;
    };
    const Result<UndoReport> first = world.undo(options);
    EXPECT_NUMBER(ECANCELED, first);
    EXPECT_NE(failure_of(first).find("the branch revert-3-issue-7 may be at origin"),
              std::string::npos)
        << failure_of(first);
    EXPECT_FALSE(world.exists(".git/worktrees"));
    const std::string tip = world.git_in(world.origin(), {"rev-parse", "revert-3-issue-7"});
    world.gh_does("pr-create", ":");
    options.attendant = {};
    ASSERT_ASSIGN(const UndoReport second, world.undo(options));
    EXPECT_EQ(second.revert_pull_request, "https://h/pull/4");
    EXPECT_EQ(world.git_in(world.origin(), {"rev-parse", "revert-3-issue-7"}), tip);
}

TEST(GitMerged, S120_AnothersBranchOfThatNameIsLeftAlone) {
    const Merged world(How::kSquash);
    world.git({"push", "--quiet", "origin", "HEAD~2:refs/heads/revert-3-issue-7"});
    UndoOptions options = world.options(7);
    options.revert_merged = true;
    const Result<UndoReport> report = world.undo(options);
    EXPECT_KIND(ErrorKind::kConflict, report);
    EXPECT_EQ(report.error().advice(), "`git push origin --delete revert-3-issue-7` deletes it");
    EXPECT_EQ(world.git_in(world.origin(), {"rev-parse", "revert-3-issue-7"}),
              world.git({"rev-parse", "HEAD~2"}));
}

TEST(GitMerged, S120_WhatWasRevertedIsNotOfferedAgain) {
    const Merged world(How::kMerge);
    world.git({"revert", "--no-edit", "-m", "1", world.merge});
    ASSERT_ASSIGN(const UndoReport report, world.undo(7));
    EXPECT_EQ(report.end, UndoEnd::kNothing);
    EXPECT_EQ(report.errors, Names{"The agent's commits for this issue were undone already."});
    // Unless that was taken back in turn.
    world.git({"revert", "--no-edit", "HEAD"});
    ASSERT_ASSIGN(const UndoReport offered, world.undo(7));
    EXPECT_EQ(offered.end, UndoEnd::kMerged);
}

TEST(GitMerged, S120_ADryRunWithTheYesSaysWhatItWouldMake) {
    const Merged world(How::kMerge);
    UndoOptions options = world.options(7);
    options.revert_merged = true;
    options.dry_run = true;
    ASSERT_ASSIGN(const UndoReport report, world.undo(options));
    EXPECT_EQ(markdown(report), "## Undo (dry run)\n\nWould open a PR that reverts PR #3.\n");
    EXPECT_EQ(world.gh_calls().find("pr create"), std::string::npos);
}

TEST(GitMerged, S120_RevertedAtTheRemoteMeanwhile) {
    const Merged world(How::kSquash);
    const std::string here = world.head();
    world.git({"revert", "--no-edit", world.merge});
    world.git({"push", "--quiet", "origin", "main"});
    world.git({"reset", "--quiet", "--hard", here});
    UndoOptions options = world.options(7);
    options.revert_merged = true;
    EXPECT_KIND(ErrorKind::kNothing, world.undo(options));
    EXPECT_EQ(world.gh_calls().find("pr create"), std::string::npos);
}

TEST(GitMerged, S120_CommitsMadeAfterTheMergeAreRevertedAsUsual) {
    const Merged world(How::kMerge);
    world.agent_commit(7, {{"a", "after the merge\n"}});
    ASSERT_ASSIGN(const UndoReport report, world.undo(7));
    EXPECT_EQ(report.end, UndoEnd::kDone);
    EXPECT_EQ(world.read("a"), "0\n");
    EXPECT_EQ(world.read("made"), "2\n");
}

TEST(GitMerged, S120_S127_AConflictLeavesNoBranchAndNoWorkTree) {
    const Merged world(How::kSquash);
    world.commit("a person goes on", {{"made", "3\n"}});
    world.git({"push", "--quiet", "origin", "main"});
    UndoOptions options = world.options(7);
    options.revert_merged = true;
    ASSERT_ASSIGN(const UndoReport report, world.undo(options));
    EXPECT_EQ(report.end, UndoEnd::kConflict);
    EXPECT_EQ(report.conflicting, world.merge);
    EXPECT_EQ(world.git({"ls-remote", "origin", "refs/heads/revert*"}), "");
    EXPECT_TRUE(world.is_clean());
    EXPECT_FALSE(world.exists(".git/worktrees"));
}

TEST(GitMerged, S120_WithoutItsRequestTheBranchIsTakenBack) {
    const Merged world(How::kSquash);
    world.gh_says("pr-create", "", 1, "GraphQL: was submitted too quickly");
    UndoOptions options = world.options(7);
    options.revert_merged = true;
    const Result<UndoReport> report = world.undo(options);
    EXPECT_NE(failure_of(report).find("no pull request was opened"), std::string::npos);
    EXPECT_EQ(world.git({"ls-remote", "origin", "refs/heads/revert*"}), "");
}

}  // namespace
}  // namespace unwrite::git::tests
