// Bringing the reverts to the remote.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tests/git/world.h"

namespace unwrite::git::tests {
namespace {

using Names = std::vector<std::string>;

struct Remote : World {
    Remote() {
        commit("start", {{"a", "0\n"}, {"b", "0\n"}});
        agent_commit(7, {{"a", "1\n"}});
        add_remote();
        gh_says("pr-list-open", "[]");
    }
    UndoOptions pushing() const {
        UndoOptions pushing = options(7);
        pushing.push = true;
        return pushing;
    }
    std::string remote_head() const { return git_in(origin(), {"rev-parse", "main"}); }
    void hook(const std::string& name, const std::string& script) const {
        const std::string file = origin() + "/hooks/" + name;
        std::ofstream(file) << "#!/bin/sh\n" << script;
        ::chmod(file.c_str(), 0755);
    }
};

/// Somebody else is faster, before each of the first `times` pushes.
class Racing : public WatchedPrograms {
 public:
    Racing(const World& world, int times, std::string file)
        : WatchedPrograms([this](const ProcessRequest& request) {
              if (has_word(request, "push")) race();
              return std::nullopt;
          }),
          world_(world),
          times_(times),
          file_(std::move(file)) {}
    int pushes() const { return pushes_; }

 private:
    void race() {
        ++pushes_;
        if (pushes_ <= times_)
            world_.push_from_elsewhere(file_, "race " + std::to_string(pushes_) + "\n");
    }
    const World& world_;
    int times_;
    std::string file_;
    int pushes_ = 0;
};

TEST(GitPush, S116_TheRemoteHasTheRevert) {
    const Remote world;
    ASSERT_ASSIGN(const UndoReport report, world.undo(world.pushing()));
    EXPECT_EQ(report.end, UndoEnd::kDone);
    EXPECT_TRUE(report.pushed);
    EXPECT_EQ(world.remote_head(), report.revert_commit);
}

TEST(GitPush, S116_WithoutPushTheRemoteIsLeftAlone) {
    const Remote world;
    const std::string before = world.remote_head();
    ASSERT_ASSIGN(const UndoReport report, world.undo(7));
    EXPECT_FALSE(report.pushed);
    EXPECT_EQ(world.remote_head(), before);
    EXPECT_EQ(report.notes, Names{"Not pushed to origin yet.\nhint: run the same command with "
                                  "--push to push it"});
}

TEST(GitPush, S116_RejectedTwiceThenThrough) {
    const Remote world;
    world.write("untracked", "kept\n");
    UndoOptions options = world.pushing();
    options.memory = world.work() + "/memory.log";
    Racing programs(world, 2, "elsewhere");
    ASSERT_ASSIGN(const UndoReport report, git::undo(programs, world.work(), options));
    EXPECT_EQ(report.end, UndoEnd::kDone);
    EXPECT_EQ(report.errors, Names{});
    EXPECT_EQ(programs.pushes(), 3);
    EXPECT_EQ(world.remote_head(), world.head());
    // The commits were put on top of the others' and have other names now.
    EXPECT_EQ(report.state_commit, world.head());
    EXPECT_EQ(report.revert_commit, world.git({"rev-parse", "HEAD~1"}));
    EXPECT_EQ(world.subjects(),
              (Names{"gitclaw: undo changes for issue #7", "Revert \"gitclaw: work on issue #7\"",
                     "elsewhere: elsewhere", "elsewhere: elsewhere", "gitclaw: work on issue #7",
                     "start"}));
    EXPECT_EQ(world.read("a"), "0\n");
    EXPECT_EQ(world.git({"status", "--porcelain"}), "?? untracked");
    // And the agent's commit is known as undone under its own name.
    ASSERT_ASSIGN(const UndoReport again, world.undo(7));
    EXPECT_EQ(again.end, UndoEnd::kNothing);
}

TEST(GitPush, S116_UncommittedStateSurvivesTheRebase) {
    const Remote world;
    world.commit("gitclaw: state update for issue #7", {{".GITCLAW/log", "1\n"}});
    world.git({"push", "--quiet", "origin", "main"});
    world.write(".GITCLAW/log", "2\n");
    Racing programs(world, 1, "elsewhere");
    ASSERT_ASSIGN(const UndoReport report, git::undo(programs, world.work(), world.pushing()));
    EXPECT_TRUE(report.pushed);
    EXPECT_EQ(world.read(".GITCLAW/log"), "2\n");
    EXPECT_EQ(world.git({"stash", "list"}), "");
}

TEST(GitPush, S116_UncommittedStateThatOthersChangedIsNotTornApart) {
    const Remote world;
    world.commit("state", {{".GITCLAW/log", "1\n"}});
    world.git({"push", "--quiet", "origin", "main"});
    world.write(".GITCLAW/log", "mine\n");
    Racing programs(world, 1, ".GITCLAW/log");
    ASSERT_ASSIGN(const UndoReport report, git::undo(programs, world.work(), world.pushing()));
    EXPECT_EQ(report.end, UndoEnd::kPartly);
    EXPECT_FALSE(report.pushed);
    ASSERT_EQ(report.errors.size(), 1u);
    EXPECT_NE(report.errors[0].find("uncommitted changes of .GITCLAW/log"), std::string::npos);
    EXPECT_EQ(world.read(".GITCLAW/log"), "mine\n");
    EXPECT_EQ(world.git({"stash", "list"}), "");
    EXPECT_EQ(world.git({"status", "--porcelain"}), " M .GITCLAW/log");
    EXPECT_EQ(world.head(), report.revert_commit);
}

TEST(GitPush, S116_IgnoredFilesSurviveWhatOthersPushed) {
    const Remote world;
    world.write(".git/info/exclude", ".env\n");
    world.write(".env", "precious\n");
    Racing programs(world, 1, ".env");
    ASSERT_ASSIGN(const UndoReport report, git::undo(programs, world.work(), world.pushing()));
    EXPECT_EQ(report.end, UndoEnd::kPartly);
    ASSERT_EQ(report.errors.size(), 1u);
    EXPECT_NE(report.errors[0].find("does not track: .env"), std::string::npos) << report.errors[0];
    EXPECT_EQ(world.read(".env"), "precious\n");
    EXPECT_EQ(world.head(), report.revert_commit);
}

TEST(GitPush, S116_IgnoredFilesSurviveCommitsThatCameAndWent) {
    // Local commits of a person are made anew, too, and one of them had the file for a while.
    const Remote world;
    world.write(".git/info/exclude", ".env\n");
    world.commit("with it", {{"b", "1\n"}});
    world.write(".env", "an example\n");
    world.git({"add", "--force", ".env"});
    world.git({"commit", "--quiet", "-m", "oops"});
    world.commit("away with it", {{".env", ""}});
    world.write(".env", "precious\n");
    Racing programs(world, 1, "elsewhere");
    ASSERT_ASSIGN(const UndoReport report, git::undo(programs, world.work(), world.pushing()));
    EXPECT_FALSE(report.pushed);
    EXPECT_EQ(world.read(".env"), "precious\n");
}

TEST(GitPush, S116_S119_WhatIsStagedStaysStaged) {
    // A closed request asks for no clean index, yet its traces may be pushed.
    const Remote world;
    world.git({"push", "--quiet", "origin", "main:gitclaw/issue-7"});
    world.gh_says("pr-list-open", R"([{"number":3,"url":"https://h/3"}])");
    world.write("b", "staged\n");
    world.git({"add", "b"});
    world.write("b", "and changed\n");
    UndoOptions options = world.pushing();
    options.memory = world.work() + "/memory.log";
    Racing programs(world, 9, "elsewhere");
    ASSERT_ASSIGN(const UndoReport report, git::undo(programs, world.work(), options));
    EXPECT_EQ(report.end, UndoEnd::kPartly);
    EXPECT_FALSE(report.pushed);
    EXPECT_EQ(world.git({"show", ":b"}), "staged");
    EXPECT_EQ(world.read("b"), "and changed\n");
}

TEST(GitPush, S116_S127_ARebaseThatHangsIsNotLeftUnderway) {
    const Remote world;
    Racing race(world, 1, "a");
    WatchedPrograms programs([&](const ProcessRequest& request) {
        const bool hangs = has_word(request, "rebase") && !has_word(request, "--abort");
        Result<ProcessOutcome> done = race.run(request);
        return std::optional(hangs ? Result<ProcessOutcome>(Error(ETIMEDOUT)) : std::move(done));
    });
    ASSERT_ASSIGN(const UndoReport report, git::undo(programs, world.work(), world.pushing()));
    EXPECT_EQ(report.end, UndoEnd::kPartly);
    EXPECT_EQ(world.head(), report.revert_commit);
    EXPECT_TRUE(world.is_clean());
}

TEST(GitPush, S116_AfterAnInterruptionNothingIsPushed) {
    const Remote world;
    const std::string before = world.remote_head();
    UndoOptions options = world.pushing();
    bool committed = false;
    WatchedPrograms programs([&](const ProcessRequest& request) {
        committed = committed || has_word(request, "commit");
        return std::nullopt;
    });
    options.attendant.interruptions = [&] { return committed ? 1 : 0; };
    ASSERT_ASSIGN(const UndoReport report, git::undo(programs, world.work(), options));
    EXPECT_EQ(report.end, UndoEnd::kPartly);
    EXPECT_EQ(report.reverted.size(), 1u);
    EXPECT_EQ(report.errors,
              Names{"Interrupted: nothing was pushed. The commits are in the local branch."});
    EXPECT_EQ(world.remote_head(), before);
}

TEST(GitPush, S116_ThreeTriesAreEnough) {
    const Remote world;
    Racing programs(world, 3, "elsewhere");
    ASSERT_ASSIGN(const UndoReport report, git::undo(programs, world.work(), world.pushing()));
    EXPECT_EQ(programs.pushes(), 3);
    EXPECT_EQ(report.end, UndoEnd::kPartly);
    EXPECT_FALSE(report.pushed);
    ASSERT_EQ(report.errors.size(), 1u);
    EXPECT_NE(report.errors[0].find("Could not push to origin after 3 tries"), std::string::npos);
    EXPECT_EQ(world.read("a"), "0\n");
    EXPECT_TRUE(world.is_clean());
}

TEST(GitPush, S116_S127_WhatOthersPushedConflicts) {
    const Remote world;
    Racing programs(world, 1, "a");
    ASSERT_ASSIGN(const UndoReport report, git::undo(programs, world.work(), world.pushing()));
    EXPECT_EQ(programs.pushes(), 1);
    EXPECT_EQ(report.end, UndoEnd::kPartly);
    ASSERT_EQ(report.errors.size(), 1u);
    EXPECT_NE(report.errors[0].find("conflict with the reverts"), std::string::npos);
    // The local branch has the revert, as before the rebase.
    EXPECT_EQ(world.head(), report.revert_commit);
    EXPECT_EQ(world.read("a"), "0\n");
    EXPECT_TRUE(world.is_clean());
    EXPECT_NE(markdown(report).find("**Warnings:**\n- Could not push: "), std::string::npos);
}

TEST(GitPush, S116_AProtectedBranchIsNotTriedAgain) {
    const Remote world;
    world.hook("pre-receive",
               "echo x >>" + world.path("tries") +
                   "\necho 'error: GH006: Protected branch update failed for refs/heads/main.' "
                   ">&2\nexit 1\n");
    const std::string before = world.remote_head();
    ASSERT_ASSIGN(const UndoReport report, world.undo(world.pushing()));
    EXPECT_EQ(report.end, UndoEnd::kPartly);
    EXPECT_EQ(world.remote_head(), before);
    EXPECT_EQ(std::filesystem::file_size(world.path("tries")), 2u);
    ASSERT_EQ(report.errors.size(), 1u);
    EXPECT_NE(report.errors[0].find("main at origin is a protected branch"), std::string::npos);
    EXPECT_NE(report.errors[0].find("open a pull request"), std::string::npos);
}

TEST(GitPush, S116_TheRemoteRefusesTwice) {
    const Remote world;
    world.hook("pre-receive", "echo x >>" + world.path("tries") + "\n[ $(wc -l <" +
                                  world.path("tries") + ") -ge 3 ]\n");
    ASSERT_ASSIGN(const UndoReport report, world.undo(world.pushing()));
    EXPECT_TRUE(report.pushed);
    EXPECT_EQ(report.end, UndoEnd::kDone);
    EXPECT_EQ(world.remote_head(), world.head());
}

TEST(GitPush, S116_ARemoteThatIsGone) {
    const Remote world;
    std::filesystem::remove_all(world.origin());
    ASSERT_ASSIGN(const UndoReport report, world.undo(world.pushing()));
    EXPECT_EQ(report.end, UndoEnd::kPartly);
    EXPECT_FALSE(report.pushed);
    EXPECT_EQ(world.read("a"), "0\n");
}

TEST(GitPush, S116_ABranchThatFollowsAnother) {
    const Remote world;
    world.git({"remote", "rename", "origin", "upstream"});
    world.git({"branch", "--quiet", "-m", "main", "mine"});
    ASSERT_ASSIGN(const UndoReport report, world.undo(world.pushing()));
    EXPECT_TRUE(report.pushed);
    EXPECT_EQ(world.remote_head(), world.head());
}

TEST(GitPush, S116_WhichOfSeveralRemotes) {
    const Remote world;
    world.git({"branch", "--unset-upstream"});
    world.git({"remote", "rename", "origin", "only"});
    ASSERT_ASSIGN(const UndoReport one, world.undo(world.pushing()));
    EXPECT_TRUE(one.pushed);
    EXPECT_EQ(world.remote_head(), world.head());
    // Of two that are not called origin, neither is meant; without --push that is no obstacle.
    world.agent_commit(7, {{"a", "again\n"}});
    world.git({"remote", "add", "another", world.path("none")});
    EXPECT_KIND(ErrorKind::kNotFound, world.undo(world.pushing()));
    ASSERT_ASSIGN(const UndoReport local, world.undo(7));
    EXPECT_EQ(local.end, UndoEnd::kDone);
    EXPECT_EQ(local.errors, Names{"Pull requests were not checked: the branch has no remote."});
}

TEST(GitPush, S116_NothingIsForced) {
    const Remote world;
    std::string forced;
    WatchedPrograms programs([&](const ProcessRequest& request) {
        if (has_word(request, "push")) {
            for (const std::string& word : request.arguments) {
                if (word.starts_with("--force") || word.starts_with("+")) forced += word;
            }
        }
        return std::nullopt;
    });
    ASSERT_OK(git::undo(programs, world.work(), world.pushing()));
    EXPECT_EQ(forced, "");
}

}  // namespace
}  // namespace unwrite::git::tests
