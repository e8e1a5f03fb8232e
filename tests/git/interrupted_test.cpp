// Ctrl-C and SIGTERM while git or gh does not come back: the undo ends at once, nothing is left
// half-done, and what was done is said.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <csignal>
#include <thread>

#include "tests/git/world.h"

namespace unwrite::git::tests {
namespace {

using Names = std::vector<std::string>;
using Clock = std::chrono::steady_clock;

// Far below the minutes for which the programs here hang, far above what a busy machine needs.
constexpr std::chrono::seconds kSoon(30);

/// A commit of the agent, and interruptions that come when something has begun to hang.
struct Hanging : World {
    Hanging() {
        commit("start", {{"a", "0\n"}, {"gone", "gone\n"}});
        agent = agent_commit(7, {{"a", "1\n"}, {"gone", ""}, {"new", "new\n"}});
        gh_says("pr-list-open", "[]");
    }
    /// A script that says that it runs, and then hangs.
    std::string hangs() const { return "echo $$ >>" + path("pids") + "\nexec sleep 300\n"; }
    void hook(const std::string& repository, const std::string& name,
              const std::string& script) const {
        const std::string file = repository + "/hooks/" + name;
        std::filesystem::create_directories(repository + "/hooks");
        std::ofstream(file) << "#!/bin/sh\n" << script;
        ::chmod(file.c_str(), 0755);
    }
    int hung() const {
        std::ifstream pids(path("pids"));
        int count = 0;
        for (std::string line; std::getline(pids, line);)
            ++count;
        return count;
    }
    /// Interrupts as soon as something hangs, and each time that something more does.
    UndoOptions interrupted(UndoOptions options) const {
        options.attendant.interruptions = [this] { return hung(); };
        return options;
    }
    UndoOptions pushing() const {
        UndoOptions pushing = options(7);
        pushing.push = true;
        return pushing;
    }
    Result<UndoReport> undo_soon(const UndoOptions& options) const {
        const Clock::time_point begin = Clock::now();
        Result<UndoReport> report = undo(options);
        EXPECT_LT(Clock::now() - begin, kSoon);
        EXPECT_GT(hung(), 0) << "nothing hung";
        expect_ended();
        return report;
    }
    void expect_ended() const {
        std::ifstream pids(path("pids"));
        for (pid_t pid = 0; pids >> pid;) {
            bool lives = true;
            for (int tries = 0; lives && tries < 1000; ++tries) {
                lives = ::kill(pid, 0) == 0 && !is_zombie(pid);
                if (lives) std::this_thread::sleep_for(std::chrono::milliseconds(10));
            }
            EXPECT_FALSE(lives) << pid;
        }
    }
    static bool is_zombie(pid_t pid) {
        std::string word;
        std::ifstream("/proc/" + std::to_string(pid) + "/stat") >> word >> word >> word;
        return word == "Z";
    }
    std::string agent;
};

TEST(GitInterrupted, S116_APushThatHangs) {
    const Hanging world;
    world.add_remote();
    const std::string before = world.git_in(world.origin(), {"rev-parse", "main"});
    world.hook(world.origin(), "pre-receive", world.hangs());
    ASSERT_ASSIGN(const UndoReport report, world.undo_soon(world.interrupted(world.pushing())));
    EXPECT_EQ(report.end, UndoEnd::kPartly);
    EXPECT_EQ(report.reverted.size(), 1u);
    EXPECT_EQ(report.errors, Names{"Interrupted while pushing; the remote may have the commits or "
                                   "not. The commits are in the local branch."});
    EXPECT_EQ(report.revert_commit, world.head());
    EXPECT_EQ(world.git_in(world.origin(), {"rev-parse", "main"}), before);
    EXPECT_EQ(world.read("a"), "0\n");
    EXPECT_TRUE(world.is_clean());
    // The same again pushes that, and reverts nothing twice.
    std::filesystem::remove(world.origin() + "/hooks/pre-receive");
    ASSERT_ASSIGN(const UndoReport again, world.undo(world.pushing()));
    EXPECT_TRUE(again.pushed);
    EXPECT_TRUE(again.reverted.empty());
    EXPECT_EQ(world.head(), report.revert_commit);
    EXPECT_EQ(world.git_in(world.origin(), {"rev-parse", "main"}), report.revert_commit);
}

TEST(GitInterrupted, S116_AGhThatHangs) {
    const Hanging world;
    world.add_remote();
    const std::string head = world.head();
    world.gh_does("pr-list-open", world.hangs());
    const Result<UndoReport> report = world.undo_soon(world.interrupted(world.options(7)));
    EXPECT_NUMBER(ECANCELED, report);
    EXPECT_EQ(failure_of(report), "gh pr list was interrupted; nothing was undone");
    EXPECT_EQ(world.head(), head);
    EXPECT_TRUE(world.is_clean());
}

TEST(GitInterrupted, S111_S116_WhileAPullRequestIsClosed) {
    const Hanging world;
    world.add_remote();
    world.git({"switch", "--quiet", "--create", "gitclaw/issue-7"});
    world.git({"push", "--quiet", "origin", "gitclaw/issue-7"});
    const std::string tip = world.commit("a person's, never pushed", {{"mine", "1\n"}});
    world.git({"switch", "--quiet", "main"});
    world.gh_says("pr-list-open", R"([{"number":3,"url":"u"},{"number":4,"url":"v"}])");
    // As the real one: it deletes the branch here, and then the one at the remote.
    world.gh_does("pr-close", "git branch -q -D gitclaw/issue-7\necho $$ >>" + world.path("pids") +
                                  "\nsleep 300\n");
    ASSERT_ASSIGN(const UndoReport report, world.undo_soon(world.interrupted(world.options(7))));
    EXPECT_EQ(report.end, UndoEnd::kFailed);
    ASSERT_FALSE(report.errors.empty());
    EXPECT_EQ(report.errors[0],
              "Interrupted while closing PR #3; `gh pr view 3` shows whether it is closed. Nothing "
              "else was closed after it.");
    EXPECT_EQ(world.gh_calls().find("close 4"), std::string::npos);
    EXPECT_EQ(world.git({"rev-parse", "gitclaw/issue-7"}), tip);
    EXPECT_EQ(markdown(report).rfind("## ⚠️ Could not undo\n\nInterrupted", 0), 0u);
}

TEST(GitInterrupted, S115_S127_AHookBeforeTheCommit) {
    const Hanging world;
    const std::string head = world.head();
    world.hook(world.work() + "/.git", "prepare-commit-msg", world.hangs());
    const Result<UndoReport> report = world.undo_soon(world.interrupted(world.options(7)));
    EXPECT_EQ(failure_of(report), "git commit was interrupted; nothing was undone");
    EXPECT_EQ(world.head(), head);
    EXPECT_EQ(world.read("a"), "1\n");
    EXPECT_TRUE(world.is_clean());
}

TEST(GitInterrupted, S115_AHookAfterTheCommit) {
    const Hanging world;
    world.agent_commit(7, {{"a", "2\n"}});
    world.hook(world.work() + "/.git", "post-commit", world.hangs());
    UndoOptions two = world.interrupted(world.options(7, 2));
    two.memory = world.path("memory.log");
    ASSERT_ASSIGN(const UndoReport report, world.undo_soon(two));
    // The commit is there, so it counts, and the agent is told of it.
    EXPECT_EQ(report.end, UndoEnd::kPartly);
    EXPECT_EQ(report.revert_commit, world.head());
    EXPECT_EQ(report.errors, Names{"Interrupted: the rest was not undone."});
    EXPECT_TRUE(report.memory_noted);
    EXPECT_EQ(world.read("a"), "1\n");
    EXPECT_TRUE(world.is_clean());
}

/// A revert that hangs while it writes files: one is removed, one is there, one waits.
struct Smudged : Hanging {
    Smudged() {
        write(".git/info/attributes", "gone filter=slow\n");
        git({"config", "filter.slow.smudge", path("smudge")});
        smudge("if [ ! -e " + path("pids") + " ]; then " + hangs() + "fi\ncat\n");
        before = git({"rev-parse", "HEAD"});
    }
    void smudge(const std::string& script) const {
        const std::string file = path("smudge");
        std::ofstream(file) << "#!/bin/sh\n" << script;
        ::chmod(file.c_str(), 0755);
    }
    std::string before;
};

TEST(GitInterrupted, S115_S127_AFilterWhileFilesAreWritten) {
    const Smudged world;
    const Result<UndoReport> report = world.undo_soon(world.interrupted(world.options(7)));
    EXPECT_EQ(failure_of(report), "git revert was interrupted; nothing was undone");
    EXPECT_EQ(world.head(), world.before);
    EXPECT_EQ(world.read("a"), "1\n");
    EXPECT_EQ(world.read("new"), "new\n");
    EXPECT_FALSE(world.exists("gone"));
    EXPECT_TRUE(world.is_clean());
}

TEST(GitInterrupted, S115_S127_WhatAPersonWroteMeanwhileStays) {
    const Smudged world;
    world.smudge("printf 'precious\\n' >" + world.work() + "/gone2; printf 'mine\\n' >" +
                 world.work() + "/new\n" + world.hangs());
    const Result<UndoReport> report = world.undo_soon(world.interrupted(world.options(7)));
    EXPECT_EQ(world.read("new"), "mine\n");
    EXPECT_EQ(world.read("gone2"), "precious\n");
    EXPECT_NE(failure_of(report).find("new"), std::string::npos) << failure_of(report);
    EXPECT_NE(report.error().advice().find("git checkout HEAD -- FILE"), std::string::npos);
    EXPECT_EQ(world.head(), world.before);
}

TEST(GitInterrupted, S116_S127_ARebaseThatHangs) {
    const Hanging world;
    world.add_remote();
    world.push_from_elsewhere("elsewhere", "x\n");
    world.hook(world.work() + "/.git", "post-checkout", world.hangs());
    ASSERT_ASSIGN(const UndoReport report, world.undo_soon(world.interrupted(world.pushing())));
    EXPECT_EQ(report.end, UndoEnd::kPartly);
    EXPECT_FALSE(report.pushed);
    EXPECT_EQ(report.revert_commit, world.head());
    EXPECT_EQ(world.git({"branch", "--show-current"}), "main");
    EXPECT_EQ(world.read("a"), "0\n");
    EXPECT_TRUE(world.is_clean());
}

TEST(GitInterrupted, S107_ASecondInterruptionEndsTheCleaningUp) {
    const Hanging world;
    world.write(".git/info/attributes", "a filter=slow\n");
    world.git({"config", "filter.slow.smudge", "sh " + world.path("smudge")});
    std::ofstream(world.path("smudge")) << world.hangs();
    const Result<UndoReport> report = world.undo_soon(world.interrupted(world.options(7)));
    EXPECT_GE(world.hung(), 2);
    EXPECT_NE(failure_of(report).find("half-way"), std::string::npos) << failure_of(report);
    EXPECT_NE(report.error().advice().find("git checkout HEAD -- FILE"), std::string::npos);
}

TEST(GitInterrupted, S107_WhatTakesLongIsNamedOnce) {
    const Hanging world;
    world.add_remote();
    world.hook(world.origin(), "pre-receive", "sleep 2.5\n");
    Names waited;
    UndoOptions options = world.pushing();
    options.attendant.waiting = [&](const std::string& what) { waited.push_back(what); };
    ASSERT_ASSIGN(const UndoReport report, world.undo(options));
    EXPECT_TRUE(report.pushed);
    EXPECT_EQ(std::count(waited.begin(), waited.end(), "git push to origin"), 1);
}

TEST(GitInterrupted, S107_CommandsAreNamedAsAPersonDoes) {
    EXPECT_EQ(spoken({"git", "-C", "/w", "--no-pager", "-c", "a=b", "push", "--porcelain", "origin",
                      "HEAD:refs/heads/main"}),
              "git push to origin");
    EXPECT_EQ(spoken({"git", "fetch", "--quiet", "up", "refs/heads/main"}), "git fetch from up");
    EXPECT_EQ(spoken({"git", "revert", "--abort"}), "git revert");
    EXPECT_EQ(spoken({"gh", "pr", "list", "--head", "b", "--state", "open"}), "gh pr list");
    EXPECT_EQ(spoken({"gh", "pr", "close", "3", "--delete-branch"}), "gh pr close 3");
    EXPECT_EQ(spoken({"gh", "api", "--paginate", "repos/{owner}"}), "gh api");
}

}  // namespace
}  // namespace unwrite::git::tests
