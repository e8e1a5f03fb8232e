// A second run goes on where the first one ended: what is here only is pushed, and what was done is
// not done twice.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tests/git/world.h"

namespace unwrite::git::tests {
namespace {

using Names = std::vector<std::string>;

struct Again : World {
    Again() {
        commit("start", {{"a", "0\n"}, {"b", "0\n"}});
        one = agent_commit(7, {{"b", "1\n"}});
        two = agent_commit(7, {{"a", "1\n"}});
        add_remote();
        gh_says("pr-list-open", "[]");
    }
    UndoOptions pushing(std::size_t count = 1) const {
        UndoOptions pushing = options(7, count);
        pushing.push = true;
        return pushing;
    }
    std::string remote_head() const { return git_in(origin(), {"rev-parse", "main"}); }
    void refuse() const {
        const std::string file = origin() + "/hooks/pre-receive";
        std::ofstream(file) << "#!/bin/sh\necho sorry >&2\nexit 1\n";
        ::chmod(file.c_str(), 0755);
    }
    void accept() const { std::filesystem::remove(origin() + "/hooks/pre-receive"); }
    std::string one;
    std::string two;
};

TEST(GitAgain, S116_WhatCouldNotBePushedIsPushedNext) {
    const Again world;
    world.refuse();
    ASSERT_ASSIGN(const UndoReport first, world.undo(world.pushing()));
    EXPECT_EQ(first.end, UndoEnd::kPartly);
    EXPECT_TRUE(
        first.errors[0].ends_with("'" + world.origin() + "'. The commits are in the local branch."))
        << first.errors[0];
    EXPECT_NE(first.errors[0].find("remote: sorry\n"), std::string::npos) << first.errors[0];
    EXPECT_EQ(first.notes,
              Names{"hint: run the same command again; it pushes and undoes nothing twice"});
    // Still refused: nothing new was undone, so the answer is no success.
    ASSERT_ASSIGN(const UndoReport second, world.undo(world.pushing()));
    EXPECT_EQ(second.end, UndoEnd::kFailed);
    EXPECT_TRUE(
        markdown(second).starts_with("## ⚠️ Could not undo\n\nCould not push to origin"));
    EXPECT_EQ(world.head(), first.revert_commit);
    world.accept();
    UndoOptions plan = world.pushing();
    plan.dry_run = true;
    ASSERT_ASSIGN(const UndoReport planned, world.undo(plan));
    EXPECT_NE(markdown(planned).find("**Would push the earlier undo of 1 commit(s):**\n- `" +
                                     world.two.substr(0, 7)),
              std::string::npos)
        << markdown(planned);
    ASSERT_ASSIGN(const UndoReport third, world.undo(world.pushing()));
    EXPECT_EQ(third.end, UndoEnd::kDone);
    EXPECT_TRUE(third.pushed);
    EXPECT_TRUE(third.reverted.empty());
    EXPECT_EQ(third.files, Names{"a"});
    EXPECT_EQ(world.remote_head(), first.revert_commit);
    EXPECT_EQ(markdown(third),
              "## 🔙 Undo complete\n\n**Pushed the earlier undo of 1 "
              "commit(s):**\n- `" +
                  world.two.substr(0, 7) +
                  "` gitclaw: work on issue #7\n\n**Files restored:**\n- "
                  "`a`\n\nRevert commit: `" +
                  first.revert_commit.substr(0, 7) + "`\n");
    EXPECT_EQ(world.read("b"), "1\n");
    // Only now does the next one get its turn.
    ASSERT_ASSIGN(const UndoReport fourth, world.undo(world.pushing()));
    ASSERT_EQ(fourth.reverted.size(), 1u);
    EXPECT_EQ(fourth.reverted[0].id, world.one);
}

TEST(GitAgain, S116_WhatWasDoneCountsTowardsTheNumber) {
    const Again world;
    ASSERT_OK(world.undo(7));
    UndoOptions both = world.pushing(2);
    both.memory = world.path("memory.log");
    ASSERT_ASSIGN(const UndoReport report, world.undo(both));
    EXPECT_EQ(report.end, UndoEnd::kDone);
    EXPECT_EQ(report.errors, Names{});
    ASSERT_EQ(report.earlier.size(), 1u);
    EXPECT_EQ(report.earlier[0].id, world.two);
    ASSERT_EQ(report.reverted.size(), 1u);
    EXPECT_EQ(report.reverted[0].id, world.one);
    EXPECT_EQ(world.read("a") + world.read("b"), "0\n0\n");
    EXPECT_EQ(world.remote_head(), world.head());
    // The agent's log has each of them once.
    std::ifstream log(both.memory);
    const std::string line{std::istreambuf_iterator<char>(log), {}};
    EXPECT_NE(line.find("Files reverted: b."), std::string::npos) << line;
}

TEST(GitAgain, S116_S119_ACommitWithTheTracesIsPushedToo) {
    const Again world;
    UndoOptions options = world.pushing(2);
    options.memory = world.work() + "/memory.log";
    world.refuse();
    ASSERT_ASSIGN(const UndoReport first, world.undo(options));
    world.accept();
    ASSERT_ASSIGN(const UndoReport second, world.undo(options));
    EXPECT_EQ(second.end, UndoEnd::kDone);
    EXPECT_EQ(second.revert_commit, first.revert_commit);
    EXPECT_EQ(world.remote_head(), first.state_commit);
    ASSERT_ASSIGN(const UndoReport third, world.undo(options));
    EXPECT_EQ(third.end, UndoEnd::kNothing);
}

TEST(GitAgain, S116_WithoutPushItIsSaid) {
    const Again world;
    ASSERT_ASSIGN(const UndoReport first, world.undo(7, 2));
    const std::string hint = "\nhint: run the same command with --push to push it";
    EXPECT_EQ(first.notes, Names{"Not pushed to origin yet." + hint});
    ASSERT_ASSIGN(const UndoReport second, world.undo(7, 2));
    EXPECT_EQ(second.end, UndoEnd::kNothing);
    EXPECT_EQ(second.notes, Names{"What was undone is not pushed yet." + hint});
    ASSERT_ASSIGN(const UndoReport third, world.undo(world.pushing(2)));
    EXPECT_EQ(third.earlier.size(), 2u);
    EXPECT_EQ(world.remote_head(), first.revert_commit);
}

TEST(GitAgain, S116_ARemoteOfWhichNothingIsKeptHere) {
    const Again world;
    world.git({"config", "--unset", "remote.origin.fetch"});
    world.git({"update-ref", "-d", "refs/remotes/origin/main"});
    world.refuse();
    ASSERT_ASSIGN(const UndoReport first, world.undo(world.pushing()));
    world.accept();
    ASSERT_ASSIGN(const UndoReport second, world.undo(world.pushing()));
    EXPECT_TRUE(second.reverted.empty());
    EXPECT_EQ(world.remote_head(), first.revert_commit);
}

/// Others are faster before the first push; the second one fails in its own way.
class RacingOnce : public WatchedPrograms {
 public:
    RacingOnce(const Again& world, std::function<void()> race, bool second_fails)
        : WatchedPrograms([this](const ProcessRequest& request) {
              return has_word(request, "push") ? push() : std::nullopt;
          }),
          world_(world),
          race_(std::move(race)),
          second_fails_(second_fails) {}

 private:
    std::optional<Result<ProcessOutcome>> push() {
        if (++pushes_ == 1) race_();
        if (pushes_ == 2 && second_fails_) return Error(ETIMEDOUT);
        return std::nullopt;
    }
    const Again& world_;
    std::function<void()> race_;
    bool second_fails_;
    int pushes_ = 0;
};

TEST(GitAgain, S116_ARebaseIsFollowedAlsoWhereThePushThenFails) {
    const Again world;
    RacingOnce programs(
        world, [&] { world.push_from_elsewhere("elsewhere", "x\n"); }, true);
    UndoOptions options = world.pushing();
    options.memory = world.work() + "/memory.log";
    ASSERT_ASSIGN(const UndoReport report, git::undo(programs, world.work(), options));
    EXPECT_EQ(report.end, UndoEnd::kPartly);
    EXPECT_EQ(report.state_commit, world.head());
    EXPECT_EQ(report.revert_commit, world.git({"rev-parse", "HEAD~1"}));
    EXPECT_NE(markdown(report).find("Revert commit: `" + world.short_head("HEAD~1") + "`"),
              std::string::npos);
}

TEST(GitAgain, S116_ARevertNamesTheCommitAsItIsAfterTheRebase) {
    const Again world;
    // Commits that the remote has not: a rebase gives them other names as well.
    world.commit("by a person", {{"mine", "1\n"}});
    const std::string old_name = world.agent_commit(7, {{"a", "2\n"}, {".GITCLAW/log", "1\n"}});
    world.agent_commit(7, {{"a", "3\n"}});
    RacingOnce programs(
        world, [&] { world.push_from_elsewhere("elsewhere", "x\n"); }, false);
    UndoOptions options = world.pushing(2);
    options.memory = world.work() + "/memory.log";
    ASSERT_ASSIGN(const UndoReport report, git::undo(programs, world.work(), options));
    EXPECT_TRUE(report.pushed);
    EXPECT_EQ(world.remote_head(), world.head());
    ASSERT_EQ(report.reverted.size(), 2u);
    EXPECT_EQ(report.reverted[0].id, world.git({"rev-parse", "HEAD~3"}));
    EXPECT_EQ(report.reverted[1].id, world.git({"rev-parse", "HEAD~4"}));
    EXPECT_NE(report.reverted[1].id, old_name);
    EXPECT_EQ(report.state_commit, world.head());
    EXPECT_EQ(report.revert_commit, world.git({"rev-parse", "HEAD~1"}));
    EXPECT_EQ(world.git({"log", "-1", "--format=%B", "HEAD~1"}),
              "Revert \"gitclaw: work on issue #7\"\n\nThis reverts commit " +
                  report.reverted[1].id + ".\n");
    EXPECT_EQ(world.git({"log", "-1", "--format=%an <%ae>", "HEAD~1"}),
              "tester <tester@example.invalid>");
    EXPECT_EQ(world.read("a"), "1\n");
    EXPECT_TRUE(world.is_clean());
    world.git({"fsck", "--strict"});
    // So nobody takes them back twice, here or in another clone.
    ASSERT_ASSIGN(const UndoReport next, world.undo(7));
    ASSERT_EQ(next.reverted.size(), 1u);
    EXPECT_EQ(next.reverted[0].id, world.two);
}

TEST(GitAgain, S116_WhereOthersRevertedItTooTheirCommitIsNamed) {
    const Again world;
    const std::string clone = world.path("other");
    RacingOnce programs(
        world,
        [&] {
            world.git_in(world.path("."), {"clone", "--quiet", world.origin(), clone});
            world.git_in(clone, {"-c", "user.name=else", "-c", "user.email=e@example.invalid",
                                 "revert", "--no-edit", world.two});
            world.git_in(clone, {"push", "--quiet", "origin", "main"});
        },
        false);
    ASSERT_ASSIGN(const UndoReport report, git::undo(programs, world.work(), world.pushing()));
    EXPECT_TRUE(report.pushed);
    EXPECT_EQ(report.revert_commit, world.git_in(clone, {"rev-parse", "HEAD"}));
    EXPECT_EQ(world.head(), report.revert_commit);
}

TEST(GitAgain, S115_WhatIsUnderWayIsToldBeforeAnythingElse) {
    const Again world;
    world.git({"switch", "--quiet", "--create", "side", "HEAD~2"});
    world.commit("theirs", {{"a", "theirs\n"}});
    const auto begin = [&](const Arguments& arguments) {
        ProcessRequest request;
        request.arguments = {"git", "-C", world.work()};
        request.arguments.insert(request.arguments.end(), arguments.begin(), arguments.end());
        return run_process(request);
    };
    const std::pair<std::string, Arguments> cases[] = {
        {"rebase", {"rebase", "main"}},
        {"rebase", {"rebase", "--apply", "main"}},
        {"merge", {"merge", "main"}},
        {"cherry-pick", {"cherry-pick", "main"}},
        {"revert", {"revert", "--no-edit", "main"}},
        {"am", {"am", "--quiet", world.path("patch")}}};
    std::ofstream(world.path("patch")) << world.git({"format-patch", "--stdout", "-1", "main"});
    for (const auto& [word, arguments] : cases) {
        ASSERT_ASSIGN(const ProcessOutcome outcome, begin(arguments));
        EXPECT_NE(outcome.exit_code, 0) << word;
        const Result<UndoReport> report = world.undo(7);
        EXPECT_KIND(ErrorKind::kConflict, report);
        EXPECT_NE(failure_of(report).find(word + " is under way"), std::string::npos)
            << failure_of(report);
        EXPECT_EQ(report.error().advice(), "`git " + word + " --continue` finishes it, `git " +
                                               word + " --abort` gives it up");
        world.git({word, "--abort"});
    }
    world.git({"bisect", "start"});
    EXPECT_EQ(world.undo(7).error().advice(), "`git bisect reset` ends it");
}

TEST(GitAgain, S115_BetweenTwoCommitsOfASequence) {
    const Again world;
    // Both end in a conflict; the commit made by hand leaves only the list of what is next.
    for (const std::string word : {"revert", "cherry-pick"}) {
        world.git({"reset", "--quiet", "--hard", "origin/main"});
        world.commit("theirs", {{"a", "theirs\n"}, {"b", "theirs\n"}});
        ProcessRequest request;
        request.arguments = {"git", "-C", world.work(), word, world.two, world.one};
        ASSERT_OK(run_process(request));
        world.git({"commit", "--quiet", "--all", "--allow-empty", "-m", "by hand"});
        const Result<UndoReport> report = world.undo(7);
        EXPECT_NE(failure_of(report).find(word + " is under way"), std::string::npos)
            << failure_of(report);
        world.git({word, "--quit"});
    }
}

}  // namespace
}  // namespace unwrite::git::tests
