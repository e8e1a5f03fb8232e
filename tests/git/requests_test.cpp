// Pull requests: closed with their branch, or taken back by another one.
#include <gtest/gtest.h>

#include "tests/git/world.h"

namespace unwrite::git::tests {
namespace {

using Names = std::vector<std::string>;

const std::string kUrl = "https://git.example.invalid/o/r/pull/";

std::string request(int number, const std::string& more = {}) {
    return R"({"number":)" + std::to_string(number) + R"(,"url":")" + kUrl +
           std::to_string(number) + R"(","title":"Do it","baseRefName":"main")" + more + "}";
}

/// main with a start, and the task's branch with one commit of the agent, both at the remote.
struct Requested : World {
    Requested() {
        commit("start", {{"a", "0\n"}});
        add_remote();
        git({"switch", "--quiet", "--create", branch});
        agent = agent_commit(7, {{"made", "by the agent\n"}});
        git({"push", "--quiet", "origin", branch});
        git({"switch", "--quiet", "main"});
    }
    void is_open() const {
        gh_says("pr-list-open", "[" + request(3) + "]");
        // As the real one does with --delete-branch.
        gh_does("pr-close", "git push --quiet origin --delete " + branch);
    }
    bool remote_has_branch() const {
        return !git({"ls-remote", "origin", "refs/heads/" + branch}).empty();
    }
    std::string branch = "gitclaw/issue-7";
    std::string agent;
};

TEST(GitRequests, S111_S126_TheOpenOneIsClosedAndItsBranchDeleted) {
    const Requested world;
    world.is_open();
    const std::string head = world.head();
    ASSERT_ASSIGN(const UndoReport report, world.undo(7));
    EXPECT_EQ(report.end, UndoEnd::kDone);
    EXPECT_EQ(report.closed, Names{kUrl + "3"});
    EXPECT_TRUE(report.reverted.empty());
    EXPECT_FALSE(world.remote_has_branch());
    EXPECT_EQ(world.git({"branch", "--list", world.branch}), "");
    EXPECT_EQ(world.head(), head);
    EXPECT_EQ(markdown(report), "## 🔙 Undo complete\n\n**PRs closed:**\n- " + kUrl + "3\n");
    EXPECT_NE(world.gh_calls().find("pr list --head gitclaw/issue-7 --state open"),
              std::string::npos);
    EXPECT_NE(world.gh_calls().find("pr close 3 --delete-branch --comment "), std::string::npos)
        << world.gh_calls();
    // What was there can be had back.
    ASSERT_EQ(report.notes.size(), 1u);
    EXPECT_NE(report.notes[0].find("git push origin " + world.agent), std::string::npos);
}

TEST(GitRequests, S111_ASecondTimeTheClosedOneIsNamed) {
    const Requested world;
    world.is_open();
    world.git({"switch", "--quiet", world.branch});
    ASSERT_ASSIGN(const UndoReport first, world.undo(7));
    ASSERT_EQ(first.notes.size(), 2u);
    EXPECT_EQ(first.notes[1], "You are on the branch main now.");
    world.gh_says("pr-list-open", "[]");
    world.gh_says("pr-list-closed", "[" + request(3) + "]");
    ASSERT_ASSIGN(const UndoReport again, world.undo(7));
    EXPECT_EQ(again.end, UndoEnd::kNothing);
    EXPECT_EQ(markdown(again),
              "## ⚠️ Nothing to undo\n\nThe pull request for this issue was "
              "closed already: " +
                  kUrl + "3\n");
}

TEST(GitRequests, S111_TheCommentNamesTheIssue) {
    const Requested world;
    world.is_open();
    std::string comment;
    WatchedPrograms programs([&](const ProcessRequest& call) {
        if (has_word(call, "close")) comment = call.arguments.back();
        return std::nullopt;
    });
    ASSERT_OK(git::undo(programs, world.work(), world.options(7)));
    EXPECT_EQ(comment, "🔙 Closed by `/undo` on issue #7.");
}

TEST(GitRequests, S111_S126_ABranchThatGhLeftIsDeletedToo) {
    const Requested world;
    world.is_open();
    world.gh_does("pr-close", ":");
    ASSERT_ASSIGN(const UndoReport report, world.undo(7));
    EXPECT_EQ(report.end, UndoEnd::kDone);
    EXPECT_FALSE(world.remote_has_branch());
    EXPECT_EQ(report.errors, Names{});
}

TEST(GitRequests, S111_WhatIsPushedToTheBranchMeanwhileStays) {
    const Requested world;
    world.is_open();
    // Somebody pushes between the look at the branch and its deletion, which gh leaves to us.
    world.gh_does("pr-close", "git push --quiet origin main:" + world.branch + " --force");
    ASSERT_ASSIGN(const UndoReport report, world.undo(7));
    EXPECT_TRUE(world.remote_has_branch());
    ASSERT_EQ(report.errors.size(), 1u);
    EXPECT_NE(report.errors[0].find("could not be deleted at origin"), std::string::npos)
        << report.errors[0];
}

TEST(GitRequests, S111_S126_FromTheTasksBranchItself) {
    const Requested world;
    world.is_open();
    world.git({"switch", "--quiet", world.branch});
    world.write("made", "a person's edit\n");
    EXPECT_KIND(ErrorKind::kConflict, world.undo(7));
    EXPECT_TRUE(world.remote_has_branch());
    EXPECT_EQ(world.gh_calls().find("pr close"), std::string::npos);
    world.git({"checkout", "--quiet", "--", "made"});
    ASSERT_ASSIGN(const UndoReport report, world.undo(7));
    EXPECT_EQ(report.end, UndoEnd::kDone);
    EXPECT_EQ(report.errors, Names{});
    EXPECT_EQ(world.git({"branch", "--show-current"}), "main");
    EXPECT_EQ(world.git({"branch", "--list", world.branch}), "");
    EXPECT_FALSE(world.exists("made"));
}

TEST(GitRequests, S111_CommitsThatAreNowhereElseStay) {
    const Requested world;
    world.is_open();
    world.git({"switch", "--quiet", world.branch});
    const std::string tip = world.commit("a person's, never pushed", {{"mine", "1\n"}});
    ASSERT_ASSIGN(const UndoReport report, world.undo(7));
    EXPECT_EQ(report.closed, Names{kUrl + "3"});
    EXPECT_FALSE(world.remote_has_branch());
    EXPECT_EQ(world.git({"rev-parse", world.branch}), tip);
    ASSERT_EQ(report.errors.size(), 1u);
    EXPECT_NE(report.errors[0].find("branch gitclaw/issue-7 stays: 1 of its commits"),
              std::string::npos)
        << report.errors[0];
}

TEST(GitRequests, S111_CommitsThatAreNowhereElseComeBackWhereGhDeletedThem) {
    const Requested world;
    world.is_open();
    world.git({"switch", "--quiet", world.branch});
    const std::string tip = world.commit("a person's, never pushed", {{"mine", "1\n"}});
    world.git({"switch", "--quiet", "main"});
    world.gh_does("pr-close", "git push --quiet origin --delete " + world.branch +
                                  " && git branch -q -D " + world.branch);
    ASSERT_ASSIGN(const UndoReport report, world.undo(7));
    EXPECT_EQ(world.git({"rev-parse", world.branch}), tip);
    EXPECT_EQ(report.errors.size(), 1u);
    EXPECT_EQ(world.git({"branch", "--show-current"}), "main");
}

TEST(GitRequests, S111_CommitsOfARemoteBranchThatWereNeverFetchedCanBeBroughtBack) {
    const Requested world;
    world.is_open();
    const std::string clone = world.path("agents");
    world.git_in(world.path("."), {"clone", "--quiet", "-b", world.branch, world.origin(), clone});
    world.git_in(clone, {"-c", "user.name=a", "-c", "user.email=a@example.invalid", "commit",
                         "--quiet", "--allow-empty", "-m", "pushed from elsewhere"});
    world.git_in(clone, {"push", "--quiet"});
    const std::string tip = world.git_in(clone, {"rev-parse", "HEAD"});
    ASSERT_ASSIGN(const UndoReport report, world.undo(7));
    EXPECT_EQ(report.errors, Names{});
    EXPECT_FALSE(world.remote_has_branch());
    EXPECT_EQ(world.git({"branch", "--list", world.branch}), "");
    // What the note says can be done.
    world.git({"push", "--quiet", "origin", tip + ":refs/heads/" + world.branch});
}

TEST(GitRequests, S111_IgnoredFilesWhereTheDefaultBranchHasSomeAreKept) {
    const Requested world;
    world.git({"switch", "--quiet", "main"});
    world.commit("an example", {{".env", "an example\n"}});
    world.git({"push", "--quiet", "origin", "main"});
    world.git({"switch", "--quiet", world.branch});
    world.write(".git/info/exclude", ".env\n");
    world.write(".env", "precious\n");
    world.is_open();
    EXPECT_KIND(ErrorKind::kConflict, world.undo(7));
    EXPECT_EQ(world.read(".env"), "precious\n");
    EXPECT_TRUE(world.remote_has_branch());
    EXPECT_EQ(world.gh_calls().find("pr close"), std::string::npos);
}

TEST(GitRequests, S111_WhatCannotBeClosedIsReported) {
    const Requested world;
    world.is_open();
    world.gh_does("pr-close", ":");
    world.gh_says("pr-close", "", 1, "GraphQL: Resource not accessible by integration");
    world.gh_says("pr-view", R"({"state":"OPEN"})");
    ASSERT_ASSIGN(const UndoReport report, world.undo(7));
    EXPECT_EQ(report.end, UndoEnd::kFailed);
    EXPECT_TRUE(report.closed.empty());
    EXPECT_TRUE(world.remote_has_branch());
    const std::string text = markdown(report);
    EXPECT_TRUE(text.starts_with("## ⚠️ Could not undo\n\nFailed to close PR #3: ")) << text;
    EXPECT_NE(text.find("Resource not accessible"), std::string::npos);
}

TEST(GitRequests, S111_ClosedThoughGhComplained) {
    const Requested world;
    world.is_open();
    world.gh_does("pr-close", ":");
    world.gh_says("pr-close", "", 1, "failed to delete remote branch");
    world.gh_says("pr-view", R"({"state":"CLOSED"})");
    ASSERT_ASSIGN(const UndoReport report, world.undo(7));
    EXPECT_EQ(report.end, UndoEnd::kDone);
    EXPECT_EQ(report.closed, Names{kUrl + "3"});
    EXPECT_FALSE(world.remote_has_branch());
    ASSERT_EQ(report.errors.size(), 1u);
    EXPECT_NE(report.errors[0].find("failed to delete remote branch"), std::string::npos);
}

TEST(GitRequests, S111_AGhThatHangsIsAskedWhatItDid) {
    const Requested world;
    world.is_open();
    WatchedPrograms programs([](const ProcessRequest& call) {
        return has_word(call, "close") ? std::optional(Result<ProcessOutcome>(Error(ETIMEDOUT)))
                                       : std::nullopt;
    });
    world.gh_says("pr-view", R"({"state":"OPEN"})");
    ASSERT_ASSIGN(const UndoReport open, git::undo(programs, world.work(), world.options(7)));
    EXPECT_EQ(open.end, UndoEnd::kFailed);
    EXPECT_TRUE(world.remote_has_branch());
    EXPECT_NE(
        markdown(open).find("Failed to close PR #3: gh pr close did not end within 120 seconds"),
        std::string::npos)
        << markdown(open);
    world.gh_says("pr-view", R"({"state":"CLOSED"})");
    ASSERT_ASSIGN(const UndoReport closed, git::undo(programs, world.work(), world.options(7)));
    EXPECT_EQ(closed.closed, Names{kUrl + "3"});
    EXPECT_FALSE(world.remote_has_branch());
}

TEST(GitRequests, S111_AGhThatHangsAtOnceEndsItBeforeAnything) {
    const Requested world;
    WatchedPrograms programs([](const ProcessRequest& call) {
        return call.arguments[0] == "gh" ? std::optional(Result<ProcessOutcome>(Error(ETIMEDOUT)))
                                         : std::nullopt;
    });
    world.git({"merge", "--quiet", world.branch});
    const Result<UndoReport> report = git::undo(programs, world.work(), world.options(7));
    EXPECT_NE(failure_of(report).find("did not end within"), std::string::npos)
        << failure_of(report);
    EXPECT_NE(report.error().advice().find("--no-pull-requests"), std::string::npos);
    EXPECT_TRUE(world.exists("made"));
}

TEST(GitRequests, S111_S128_ABranchOfAForkIsNobodysBusiness) {
    const Requested world;
    world.gh_says("pr-list-open", "[" + request(9, R"(,"isCrossRepository":true)") + "]");
    world.git({"merge", "--quiet", world.branch});
    ASSERT_ASSIGN(const UndoReport report, world.undo(7));
    EXPECT_EQ(report.reverted.size(), 1u);
    EXPECT_EQ(world.gh_calls().find("pr close"), std::string::npos);
    EXPECT_FALSE(world.exists("made"));
}

TEST(GitRequests, S111_TheDefaultBranchIsNeverDeleted) {
    const Requested world;
    world.gh_says("pr-list-open", "[" + request(4) + "]");
    UndoOptions options = world.options(7);
    options.branch = "main";
    EXPECT_KIND(ErrorKind::kUsage, world.undo(options));
    EXPECT_EQ(world.gh_calls().find("pr close"), std::string::npos);
}

TEST(GitRequests, S111_ADryRunOnlyAsks) {
    const Requested world;
    world.is_open();
    UndoOptions options = world.options(7);
    options.dry_run = true;
    ASSERT_ASSIGN(const UndoReport report, world.undo(options));
    EXPECT_EQ(report.end, UndoEnd::kPlanned);
    EXPECT_NE(markdown(report).find("**PRs that would be closed:**\n- " + kUrl + "3"),
              std::string::npos);
    EXPECT_EQ(world.gh_calls().find("pr close"), std::string::npos);
    EXPECT_TRUE(world.remote_has_branch());
}

TEST(GitRequests, S111_WithoutGhTheCommitsAreRevertedAndItSaysSo) {
    const Requested world;
    world.git({"merge", "--quiet", world.branch});
    world.without_gh();
    ASSERT_ASSIGN(const UndoReport report, world.undo(7));
    EXPECT_EQ(report.end, UndoEnd::kDone);
    EXPECT_FALSE(world.exists("made"));
    EXPECT_EQ(report.errors, Names{"Pull requests were not checked: gh, GitHub's command line, is "
                                   "not installed."});
}

TEST(GitRequests, S111_WithoutGhAndWithoutCommits) {
    const Requested world;
    world.without_gh();
    ASSERT_ASSIGN(const UndoReport report, world.undo(7));
    EXPECT_EQ(report.end, UndoEnd::kNothing);
    ASSERT_EQ(report.errors.size(), 2u);
    EXPECT_EQ(report.errors[0], "No agent commits found for this issue to undo.");
}

TEST(GitRequests, S116_WithoutARemoteGhIsNotAsked) {
    const World world;
    world.commit("start", {{"a", "0\n"}});
    world.agent_commit(7, {{"a", "1\n"}});
    ASSERT_ASSIGN(const UndoReport report, world.undo(7));
    EXPECT_EQ(report.errors, Names{});
    EXPECT_EQ(world.gh_calls(), "");
}

TEST(GitRequests, S111_NotLoggedInAndOtherFailuresEndItBeforeAnything) {
    const Requested world;
    world.git({"merge", "--quiet", world.branch});
    const std::string head = world.head();
    const std::pair<const char*, const char*> failures[] = {
        {"To get started with GitHub CLI, please run:  gh auth login", "gh is not logged in"},
        {"HTTP 403: API rate limit exceeded for installation", "rate limit"},
        {"error connecting to api.example.invalid", "error connecting"}};
    for (const auto& [said, words] : failures) {
        world.gh_says("pr-list-open", "", 4, said);
        const Result<UndoReport> report = world.undo(7);
        EXPECT_NE(failure_of(report).find(words), std::string::npos) << failure_of(report);
        EXPECT_NE(report.error().advice().find("--no-pull-requests"), std::string::npos);
        EXPECT_EQ(world.head(), head);
    }
    for (const char* nonsense : {"{}", "[3]", "[{\"number\":\"x\"}]", "<html>"}) {
        world.gh_says("pr-list-open", nonsense);
        EXPECT_NE(failure_of(world.undo(7)).find("cannot read"), std::string::npos);
    }
    UndoOptions options = world.options(7);
    options.pull_requests = false;
    ASSERT_OK(world.undo(options));
    EXPECT_FALSE(world.exists("made"));
}

TEST(GitRequests, S111_ARemoteWithoutPullRequests) {
    const Requested world;
    world.git({"merge", "--quiet", world.branch});
    world.gh_says("pr-list-open", "", 1,
                  "none of the git remotes configured for this repository point to a known GitHub "
                  "host");
    ASSERT_ASSIGN(const UndoReport report, world.undo(7));
    EXPECT_EQ(report.end, UndoEnd::kDone);
    EXPECT_EQ(report.reverted.size(), 1u);
}

}  // namespace
}  // namespace unwrite::git::tests
