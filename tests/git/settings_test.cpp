// Repositories that are set up, or stand, otherwise than most: undo and commit do their work or
// say by name what is in the way, and leave nothing half-done.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "git/accept.h"
#include "tests/git/world.h"

namespace unwrite::git::tests {
namespace {

using Names = std::vector<std::string>;

/// Two commits of the agent, the first beside the second.
struct Agents : World {
    Agents() {
        commit("start", {{"a", "0\n"}, {"b", "0\n"}, {"in/c", "0\n"}, {"out/d", "0\n"}});
        agent_commit(7, {{"b", "1\n"}});
        agent_commit(7, {{"a", "1\n"}, {"out/d", "1\n"}});
        start = head();
    }
    void hook(const std::string& name, const std::string& script) const {
        write(".git/hooks/" + name, "#!/bin/sh\n" + script);
        ::chmod((work() + "/.git/hooks/" + name).c_str(), 0755);
    }
    std::string status() const { return git({"status", "--porcelain=v2"}); }
    Result<Accepted> accept(const std::set<std::string>& paths, const std::string& place) const {
        InstalledPrograms programs;
        TRY_ASSIGN(const Repository repository, Repository::open(programs, place));
        return commit_accepted(repository, {paths, {}}, "accepted");
    }
    Result<Accepted> accept(const std::set<std::string>& paths) const {
        return accept(paths, work());
    }
    /// Neither succeeds, for the reason named, and nothing has changed.
    void expect_both_refused(const std::string& words, bool to_undo = true) const {
        const std::string before = status();
        if (to_undo) {
            const Result<UndoReport> undone = undo(7);
            EXPECT_NE(failure_of(undone).find(words), std::string::npos) << failure_of(undone);
            EXPECT_EQ(status(), before);
            EXPECT_FALSE(exists(".git/REVERT_HEAD"));
        }
        write("b", "accepted\n");
        write("new", "accepted\n");
        const std::string changed = status();
        const Result<Accepted> accepted = accept({"b", "new"});
        EXPECT_NE(failure_of(accepted).find(words), std::string::npos) << failure_of(accepted);
        EXPECT_EQ(status(), changed);
        EXPECT_EQ(head(), start);
    }
    std::string start;
};

TEST(GitSettings, S76_S115_ASigningProgramThatFails) {
    const Agents world;
    world.git({"config", "commit.gpgsign", "true"});
    world.write(".git/gpg", "#!/bin/sh\necho 'no secret key' >&2\nexit 2\n");
    ::chmod((world.work() + "/.git/gpg").c_str(), 0755);
    world.git({"config", "gpg.program", world.work() + "/.git/gpg"});
    world.expect_both_refused("gpg failed to sign the data");
}

TEST(GitSettings, S76_S115_AHookThatPreparesNoMessage) {
    const Agents world;
    world.hook("prepare-commit-msg", "echo 'no ticket' >&2\nexit 1\n");
    world.expect_both_refused("no ticket");
}

TEST(GitSettings, S76_S115_AnIndexThatIsLocked) {
    const Agents world;
    world.write(".git/index.lock", "");
    world.expect_both_refused("index.lock': File exists");
    EXPECT_TRUE(world.exists(".git/index.lock")) << "it is somebody else's";
    EXPECT_EQ(world.read("a"), "1\n");
}

TEST(GitSettings, S76_S115_AHookThatWritesIntoTheTree) {
    const Agents world;
    world.hook("post-commit", "echo hook >>in/c; echo hook >>made\n");
    // What it changed is not a part of the second revert.
    ASSERT_ASSIGN(const UndoReport report, world.undo(7, 2));
    EXPECT_EQ(report.reverted.size(), 2u);
    EXPECT_EQ(world.read("a") + world.read("b"), "0\n0\n");
    EXPECT_EQ(world.read("in/c"), "0\nhook\nhook\n");
    EXPECT_EQ(world.git({"show", "--format=", "--name-only", "HEAD"}), "b");
    world.write("a", "2\n");
    ASSERT_OK(world.accept({"a"}));
    EXPECT_EQ(world.git({"show", "--format=", "--name-only", "HEAD"}), "a");
    EXPECT_EQ(world.git({"status", "--porcelain"}), " M in/c\n?? made");
}

TEST(GitSettings, S115_S127_WhatAHookWroteIsNotOverwritten) {
    const Agents world;
    world.hook("post-commit", "echo hook >>b\n");
    ASSERT_ASSIGN(const UndoReport report, world.undo(7, 2));
    EXPECT_EQ(report.end, UndoEnd::kPartly);
    EXPECT_EQ(report.reverted.size(), 1u);
    EXPECT_EQ(world.read("b"), "1\nhook\n");
    EXPECT_FALSE(world.exists(".git/REVERT_HEAD"));
}

TEST(GitSettings, S115_S127_WhatAHookStagedIsInNoRevert) {
    const Agents world;
    world.hook("post-commit", "echo hook >>in/c; git add in/c\n");
    ASSERT_ASSIGN(const UndoReport report, world.undo(7, 2));
    EXPECT_EQ(report.end, UndoEnd::kPartly);
    EXPECT_EQ(world.git({"log", "-1", "--format=", "--name-only"}), "a\nout/d");
    EXPECT_EQ(world.git({"status", "--porcelain"}), "M  in/c");
    EXPECT_EQ(world.read("in/c"), "0\nhook\n");
}

TEST(GitSettings, S115_S123_LineEndingsOfAnotherSystem) {
    const Agents world;
    world.git({"config", "core.autocrlf", "true"});
    world.git({"rm", "--quiet", "--cached", "-r", "."});
    world.git({"reset", "--quiet", "--hard"});
    ASSERT_EQ(world.read("a"), "1\r\n");
    ASSERT_OK(world.undo(7));
    EXPECT_EQ(world.read("a"), "0\r\n");
    EXPECT_TRUE(world.is_clean());
    world.write("a", "2\r\n");
    world.write("new", "of\nthe agent\n");
    ASSERT_ASSIGN(const Accepted accepted, world.accept({"a", "new"}));
    EXPECT_EQ(accepted.files, (Names{"a", "new"}));
    EXPECT_EQ(world.git({"cat-file", "-p", "HEAD:a"}), "2");
    EXPECT_EQ(world.read("new"), "of\nthe agent\n") << "the file stays as it was accepted";
    EXPECT_TRUE(world.is_clean());
    // Where git is told to take no file that it could not give back.
    world.git({"config", "core.safecrlf", "true"});
    world.write("newer", "of\nthe agent\n");
    const std::string head = world.head();
    EXPECT_NE(failure_of(world.accept({"newer"})).find("LF would be replaced by CRLF"),
              std::string::npos);
    EXPECT_EQ(world.head(), head);
    EXPECT_EQ(world.git({"status", "--porcelain"}), "?? newer");
}

TEST(GitSettings, S76_S115_ASparseCheckout) {
    const Agents world;
    world.git({"sparse-checkout", "set", "in"});
    ASSERT_FALSE(world.exists("out/d"));
    ASSERT_ASSIGN(const UndoReport report, world.undo(7));
    EXPECT_EQ(report.files, (Names{"a", "out/d"}));
    EXPECT_EQ(world.git({"cat-file", "-p", "HEAD:out/d"}), "0");
    EXPECT_FALSE(world.exists("out/d"));
    EXPECT_TRUE(world.is_clean());
    // What was made outside of it is accepted like all else.
    world.write("in/c", "2\n");
    world.write("out/new", "2\n");
    ASSERT_ASSIGN(const Accepted accepted, world.accept({"in/c", "out"}));
    EXPECT_EQ(accepted.files, (Names{"in/c", "out/new"}));
    EXPECT_EQ(world.git({"show", "--format=", "--name-only", "HEAD"}), "in/c\nout/new");
    EXPECT_EQ(world.read("out/new"), "2\n");
    world.write("out/d", "2\n");
    ASSERT_OK(world.accept({"out/d"}));
    EXPECT_EQ(world.git({"show", "--format=", "--name-only", "HEAD"}), "out/d");
    EXPECT_EQ(world.read("out/d"), "2\n");
}

TEST(GitSettings, S76_S115_FilesThatGitIsToldNotToLookAt) {
    for (const char* flag : {"--assume-unchanged", "--skip-worktree"}) {
        const Agents world;
        world.git({"update-index", flag, "a", "in/c"});
        world.write("a", "mine\n");
        world.write("in/c", "mine\n");
        // In the way of the revert, though no status shows it.
        const Result<UndoReport> report = world.undo(7);
        EXPECT_KIND(ErrorKind::kConflict, report) << flag;
        EXPECT_NE(failure_of(report).find("would be overwritten"), std::string::npos)
            << failure_of(report);
        EXPECT_EQ(world.read("a"), "mine\n");
        EXPECT_EQ(world.head(), world.start);
        EXPECT_FALSE(world.exists(".git/REVERT_HEAD"));
        // Beside it.
        world.git({"update-index", "--no-" + std::string(flag).substr(2), "a"});
        world.git({"checkout", "--", "a"});
        ASSERT_OK(world.undo(7));
        EXPECT_EQ(world.read("in/c"), "mine\n");
        // A conflict elsewhere does not touch it either.
        world.commit("later", {{"b", "later\n"}});
        ASSERT_ASSIGN(const UndoReport conflict, world.undo(7));
        EXPECT_EQ(conflict.end, UndoEnd::kConflict);
        EXPECT_EQ(world.read("in/c"), "mine\n");
        // Accepted, but in no commit: that is said.
        world.write("b", "2\n");
        ASSERT_ASSIGN(const Accepted accepted, world.accept({"b", "in/c"}));
        EXPECT_EQ(accepted.files, Names{"b"});
        EXPECT_EQ(accepted.left_out, Names{"in/c: git is told not to look at its changes"});
        EXPECT_EQ(world.read("in/c"), "mine\n");
    }
}

TEST(GitSettings, S76_AnIndexThatIsDirtyInEveryWay) {
    const Agents world;
    world.write("a", "staged\n");
    world.write("in/c", "staged\n");
    world.write("added", "staged\n");
    world.git({"add", "a", "in/c", "added"});
    world.write("in/c", "changed since\n");
    world.git({"mv", "out/d", "renamed"});
    ::chmod((world.work() + "/renamed").c_str(), 0755);
    world.git({"add", "renamed"});
    world.write("later", "not yet\n");
    world.git({"add", "--intent-to-add", "later"});
    world.write("b", "accepted\n");
    world.write("new", "accepted\n");
    const std::string before = world.git({"status", "--porcelain"});
    const Result<UndoReport> report = world.undo(7);
    EXPECT_NE(failure_of(report).find(
                  "there are staged changes: a, added, in/c, later, out/d and 1 more"),
              std::string::npos)
        << failure_of(report);
    EXPECT_EQ(world.git({"status", "--porcelain"}), before);
    ASSERT_OK(world.accept({"b", "new"}));
    EXPECT_EQ(world.git({"show", "--format=", "--name-only", "HEAD"}), "b\nnew");
    EXPECT_EQ(before, "M  a\nA  added\n M b\nMM in/c\n A later\nR  out/d -> renamed\n?? new");
    EXPECT_EQ(world.git({"status", "--porcelain"}),
              "M  a\nA  added\nMM in/c\n A later\nR  out/d -> renamed");
}

TEST(GitSettings, S76_ALinkedWorkTree) {
    const Agents world;
    const std::string tree = world.path("tree");
    world.git({"worktree", "add", "--quiet", "-b", "second", tree});
    std::ofstream(tree + "/a") << "2\n";
    std::ofstream(tree + "/new") << "2\n";
    ASSERT_ASSIGN(const Accepted accepted, world.accept({"a", "new"}, tree));
    EXPECT_EQ(accepted.branch, "second");
    EXPECT_EQ(world.git({"rev-parse", "second"}), accepted.commit);
    EXPECT_EQ(world.git({"rev-parse", "main"}), world.start);
    EXPECT_EQ(world.git_in(tree, {"status", "--porcelain"}), "");
    EXPECT_TRUE(world.is_clean());
    // What is underway in one of them is nothing to the other.
    world.git({"bisect", "start"});
    std::ofstream(tree + "/a") << "3\n";
    ASSERT_OK(world.accept({"a"}, tree));
}

TEST(GitSettings, S76_S115_ASubmoduleAsTheRepository) {
    const Agents world;
    const World outer;
    outer.commit("start", {{"x", "0\n"}});
    outer.git(
        {"-c", "protocol.file.allow=always", "submodule", "--quiet", "add", world.work(), "sub"});
    outer.git({"commit", "--quiet", "-m", "with it"});
    const std::string sub = outer.work() + "/sub";
    outer.git_in(sub, {"config", "user.name", "t"});
    outer.git_in(sub, {"config", "user.email", "t@example.invalid"});
    InstalledPrograms programs;
    UndoOptions options = outer.options(7);
    options.pull_requests = false;
    ASSERT_ASSIGN(const UndoReport report, git::undo(programs, sub, options));
    EXPECT_EQ(report.end, UndoEnd::kDone);
    EXPECT_EQ(outer.git_in(sub, {"status", "--porcelain"}), "");
    EXPECT_EQ(outer.read("sub/a"), "0\n");
    // The repository around it has its own opinion, and a commit of it takes the new one along.
    EXPECT_EQ(outer.git({"status", "--porcelain"}), " M sub");
    ASSERT_ASSIGN(const Accepted accepted, world.accept({"sub"}, outer.work()));
    EXPECT_EQ(accepted.files, Names{"sub"});
    EXPECT_EQ(outer.git({"rev-parse", "HEAD:sub"}), report.revert_commit);
    outer.write("sub/b", "2\n");
    ASSERT_OK(world.accept({"b"}, sub));
    EXPECT_EQ(outer.git_in(sub, {"show", "--format=", "--name-only", "HEAD"}), "b");
}

TEST(GitSettings, S115_AnAgentThatMovedASubmodule) {
    const Agents world;
    const World other;
    const std::string first = other.commit("one", {{"x", "0\n"}});
    const std::string second = other.commit("two", {{"x", "1\n"}});
    world.git(
        {"-c", "protocol.file.allow=always", "submodule", "--quiet", "add", other.work(), "sub"});
    const std::string sub = world.work() + "/sub";
    world.git_in(sub, {"checkout", "--quiet", first});
    world.git({"add", "sub"});
    world.git({"commit", "--quiet", "-m", "with it"});
    world.git_in(sub, {"checkout", "--quiet", second});
    world.git({"add", "sub"});
    world.git({"commit", "--quiet", "-m", "gitclaw: work on issue #8"});
    ASSERT_ASSIGN(const UndoReport report, world.undo(8));
    EXPECT_EQ(report.end, UndoEnd::kDone);
    EXPECT_EQ(world.git({"rev-parse", "HEAD:sub"}), first);
    EXPECT_EQ(report.files, Names{"sub"});
}

TEST(GitSettings, S107_EveryGitIsToldToTakeNoLockThatIsNotNeeded) {
    const Agents world;
    world.add_remote();
    std::size_t calls = 0;
    WatchedPrograms programs([&](const ProcessRequest& request) {
        const bool git = request.arguments[0] == "git";
        if (git) ++calls;
        EXPECT_TRUE(!git || has_word(request, "--no-optional-locks")) << request.arguments.back();
        return std::nullopt;
    });
    const auto touch = [&](const char* file) {
        const struct timespec times[2] = {{1'000'000'000, 0}, {1'000'000'000, 0}};
        ASSERT_EQ(::utimensat(AT_FDCWD, (world.work() + "/" + file).c_str(), times, 0), 0);
    };
    touch("b");
    const std::string index = world.read(".git/index");
    UndoOptions options = world.options(7);
    options.dry_run = true;
    ASSERT_OK(git::undo(programs, world.work(), options));
    ASSERT_ASSIGN(const Repository repository, Repository::open(programs, world.work()));
    EXPECT_KIND(ErrorKind::kNothing, commit_accepted(repository, {{"b"}, {}}, "accepted"));
    EXPECT_EQ(world.read(".git/index"), index) << "who only asks writes no index";
    EXPECT_GT(calls, 10u);
    options.dry_run = false;
    options.push = true;
    ASSERT_OK(git::undo(programs, world.work(), options));
    world.write("b", "2\n");
    ASSERT_OK(commit_accepted(repository, {{"b"}, {}}, "accepted"));
}

}  // namespace
}  // namespace unwrite::git::tests
