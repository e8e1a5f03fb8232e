// What must be in order before anything is undone: a clear word, and nothing half-done.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tests/git/world.h"

namespace unwrite::git::tests {
namespace {

struct Refused : World {
    Refused() {
        commit("start", {{"a", "0\n"}, {"b", "0\n"}});
        agent = agent_commit(7, {{"a", "1\n"}});
    }
    /// The undo fails in these words, and nothing has changed.
    void expect(ErrorKind kind, const std::string& words, const std::string& advice,
                const UndoOptions& options) const {
        const std::string before = git({"status", "--porcelain=v2", "--branch"});
        const Result<UndoReport> report = undo(options);
        EXPECT_KIND(kind, report);
        EXPECT_NE(failure_of(report).find(words), std::string::npos) << failure_of(report);
        EXPECT_NE(report.error().advice().find(advice), std::string::npos);
        EXPECT_EQ(git({"status", "--porcelain=v2", "--branch"}), before);
    }
    void expect(ErrorKind kind, const std::string& words, const std::string& advice) const {
        expect(kind, words, advice, options(7));
    }
    std::string agent;
};

TEST(GitRefusals, S115_S127_UncommittedChanges) {
    const Refused world;
    world.write("b", "unsaved\n");
    world.expect(ErrorKind::kConflict, "there are uncommitted changes: b", "git stash");
    EXPECT_EQ(world.read("b"), "unsaved\n");
}

TEST(GitRefusals, S115_S127_StagedChanges) {
    const Refused world;
    world.write("new", "staged\n");
    world.git({"add", "new"});
    world.expect(ErrorKind::kConflict, "there are staged changes: new", "git stash");
    EXPECT_EQ(world.git({"diff", "--cached", "--name-only"}), "new");
}

TEST(GitRefusals, S115_AFileThatWasOnlyTouchedIsNoChange) {
    const Refused world;
    const struct timespec times[2] = {{1'000'000'000, 0}, {1'000'000'000, 0}};
    ASSERT_EQ(::utimensat(AT_FDCWD, (world.work() + "/b").c_str(), times, 0), 0);
    ASSERT_OK(world.undo(7));
    EXPECT_EQ(world.read("a"), "0\n");
}

TEST(GitRefusals, S115_AMergeUnderway) {
    const Refused world;
    world.git({"branch", "side", "HEAD~1"});
    world.git({"switch", "--quiet", "side"});
    world.commit("on the side", {{"b", "side\n"}});
    world.git({"switch", "--quiet", "main"});
    world.git({"merge", "--quiet", "--no-ff", "--no-commit", "side"});
    world.expect(ErrorKind::kConflict, "a merge is under way", "abort");
    EXPECT_TRUE(world.exists(".git/MERGE_HEAD"));
}

TEST(GitRefusals, S115_ADetachedHead) {
    const Refused world;
    world.git({"switch", "--quiet", "--detach"});
    world.expect(ErrorKind::kSystem, "HEAD is detached", "git switch");
}

TEST(GitRefusals, S115_AMergeCommitOfTheAgent) {
    const Refused world;
    world.git({"branch", "side", "HEAD~1"});
    world.git({"switch", "--quiet", "side"});
    world.commit("on the side", {{"b", "side\n"}});
    world.git({"switch", "--quiet", "main"});
    world.git({"merge", "--quiet", "--no-ff", "-m", "gitclaw: work on issue #7", "side"});
    const std::string id = world.head().substr(0, 7);
    world.expect(ErrorKind::kSystem, "commit " + id + " is a merge", "git revert -m 1 " + id);
    // Nor is the commit before it undone when both are asked for.
    world.expect(ErrorKind::kSystem, "commit " + id + " is a merge", "", world.options(7, 2));
}

TEST(GitRefusals, S115_AShallowClone) {
    const Refused world;
    world.agent_commit(7, {{"a", "2\n"}});
    const std::string clone = world.path("shallow");
    for (const char* depth : {"1", "2"}) {
        std::filesystem::remove_all(clone);
        world.git_in(world.path("."),
                     {"clone", "--quiet", "--depth", depth, "file://" + world.work(), clone});
        world.git_in(clone, {"config", "user.name", "t"});
        world.git_in(clone, {"config", "user.email", "t@example.invalid"});
        InstalledPrograms programs;
        UndoOptions options = world.options(7, 2);
        options.pull_requests = false;
        const Result<UndoReport> report = git::undo(programs, clone, options);
        EXPECT_NE(failure_of(report).find("this clone is shallow"), std::string::npos)
            << failure_of(report);
        EXPECT_EQ(world.git_in(clone, {"rev-parse", "HEAD"}), world.head());
        EXPECT_EQ(world.git_in(clone, {"status", "--porcelain"}), "");
        // With depth 2 the newest one has its parent, and can be undone.
        options.count = 1;
        const Result<UndoReport> one = git::undo(programs, clone, options);
        EXPECT_EQ(one.ok(), std::string(depth) == "2") << failure_of(one);
    }
}

TEST(GitRefusals, S115_NobodyToBeTheAuthor) {
    const Refused world;
    world.git({"config", "--unset", "user.name"});
    world.git({"config", "--unset", "user.email"});
    world.git({"config", "user.useConfigOnly", "true"});
    world.expect(ErrorKind::kSystem, "git has no name and address", "git config user.name");
}

TEST(GitRefusals, S116_PushWithoutARemote) {
    const Refused world;
    UndoOptions options = world.options(7);
    options.push = true;
    world.expect(ErrorKind::kNotFound, "no remote named origin", "git remote add", options);
    options.remote = "upstream";
    world.expect(ErrorKind::kNotFound, "no remote named upstream", "", options);
}

TEST(GitRefusals, S74_S107_NoRepository) {
    const World world;
    InstalledPrograms programs;
    const Result<UndoReport> none = git::undo(programs, world.path("home"), world.options(7));
    EXPECT_KIND(ErrorKind::kNotFound, none);
    EXPECT_NE(failure_of(none).find("is not in a git repository"), std::string::npos);
    world.git_in(world.path("."), {"init", "--quiet", "--bare", world.origin()});
    for (const std::string& place : {world.origin(), world.work() + "/.git"}) {
        const Result<UndoReport> bare = git::undo(programs, place, world.options(7));
        EXPECT_KIND(ErrorKind::kNotFound, bare);
        EXPECT_NE(failure_of(bare).find("no work tree"), std::string::npos) << failure_of(bare);
    }
}

TEST(GitRefusals, S107_FilesThatLookLikeARepositoryAreNone) {
    // git takes any directory with these names for a bare repository, and obeys its configuration.
    const World world;
    std::filesystem::remove_all(world.work() + "/.git");
    std::filesystem::create_directories(world.work() + "/objects");
    std::filesystem::create_directories(world.work() + "/refs");
    world.write("HEAD", "ref: refs/heads/main\n");
    world.write("config",
                "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = .\n");
    EXPECT_KIND(ErrorKind::kNotFound, world.undo(7));
}

TEST(GitRefusals, S107_WithoutGitItSaysSo) {
    const World world;
    WatchedPrograms programs([](const ProcessRequest&) { return Error(ENOENT); });
    const Result<UndoReport> report = git::undo(programs, world.work(), world.options(7));
    EXPECT_NE(failure_of(report).find("git was not found"), std::string::npos);
}

TEST(GitRefusals, S115_S127_ACommitThatFailsLeavesNothingBehind) {
    const Refused world;
    WatchedPrograms programs([](const ProcessRequest& request) {
        return has_word(request, "commit") ? std::optional(Result<ProcessOutcome>(
                                                 ProcessOutcome{128, "", "gpg failed to sign"}))
                                           : std::nullopt;
    });
    const Result<UndoReport> report = git::undo(programs, world.work(), world.options(7));
    EXPECT_NE(failure_of(report).find("gpg failed to sign"), std::string::npos);
    EXPECT_TRUE(world.is_clean());
    EXPECT_EQ(world.read("a"), "1\n");
}

TEST(GitRefusals, S115_S127_AGitThatHangsLeavesNothingBehind) {
    const Refused world;
    WatchedPrograms programs([](const ProcessRequest& request) {
        return has_word(request, "commit") ? std::optional(Result<ProcessOutcome>(Error(ETIMEDOUT)))
                                           : std::nullopt;
    });
    const Result<UndoReport> report = git::undo(programs, world.work(), world.options(7));
    EXPECT_NE(failure_of(report).find("git commit did not end within"), std::string::npos)
        << failure_of(report);
    EXPECT_TRUE(world.is_clean());
}

TEST(GitRefusals, S115_AHookThatRefusesCommitsIsNotAsked) {
    const Refused world;
    world.write(".git/hooks/pre-commit", "#!/bin/sh\nexit 1\n");
    ::chmod((world.work() + "/.git/hooks/pre-commit").c_str(), 0755);
    ASSERT_OK(world.undo(7));
    EXPECT_EQ(world.read("a"), "0\n");
}

TEST(GitRefusals, S115_ASubdirectoryAndALinkedWorkTree) {
    const Refused world;
    world.write("sub/keep", "x");
    InstalledPrograms programs;
    ASSERT_OK(git::undo(programs, world.work() + "/sub", world.options(7)));
    EXPECT_EQ(world.read("a"), "0\n");
    const std::string tree = world.path("tree");
    world.git({"worktree", "add", "--quiet", "-b", "second", tree, world.agent});
    ASSERT_ASSIGN(const UndoReport report, git::undo(programs, tree, world.options(7)));
    EXPECT_EQ(report.end, UndoEnd::kDone);
    EXPECT_EQ(world.git({"rev-parse", "second"}), report.revert_commit);
    EXPECT_EQ(world.git_in(tree, {"status", "--porcelain"}), "");
}

}  // namespace
}  // namespace unwrite::git::tests
