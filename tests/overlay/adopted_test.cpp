// Runs of processes that exist already: one run follows another for the same process, and a later
// process with the same number is nobody's (D21).
#include <gtest/gtest.h>
#include <linux/sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include "tests/overlay/stepping.h"

namespace unwrite::tests {
namespace {

/// A process that sleeps until it is killed.
class Sleeper {
 public:
    /// `number`: the process gets this one; 0: any.
    explicit Sleeper(pid_t number = 0) {
        clone_args arguments = {};
        arguments.exit_signal = SIGCHLD;
        if (number != 0) arguments.set_tid = reinterpret_cast<std::uint64_t>(&number);
        arguments.set_tid_size = number != 0 ? 1 : 0;
        pid_ = static_cast<pid_t>(::syscall(SYS_clone3, &arguments, sizeof arguments));
        if (pid_ == 0) {
            for (;;)
                ::syscall(SYS_pause);
        }
    }
    ~Sleeper() { end(); }
    Sleeper(const Sleeper&) = delete;
    Sleeper& operator=(const Sleeper&) = delete;
    void end() {
        if (pid_ <= 0) return;
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
        pid_ = 0;
    }
    pid_t pid() const { return pid_; }

 private:
    pid_t pid_ = 0;
};

class AdoptedTest : public Stepping {
 protected:
    Result<overlay::Moved> undo_by(pid_t pid, unsigned count = 1) {
        overlay::Asker asker = World::asker();
        asker.pid = pid;
        return operations().undo(asker, count, overlay::Consent::kOwn);
    }
};

TEST_F(AdoptedTest, S52_TheNextRunOfAProcessEndsTheOneBeforeAndKeepsItsSession) {
    const Sleeper agent;
    begin_run(agent.pid(), "one", "claude");
    as(agent.pid());
    make("a", "agent");
    begin_run(agent.pid(), "two");
    make("b", "agent");
    const auto third = begin_run(agent.pid(), "three");
    end_run(third);
    as_user();
    EXPECT_EQ(log(), (Lines{"run two: b", "run one: a", "root"}));
    ASSERT_OK(undo(1));
    EXPECT_EQ(files(), (Lines{"a", "old"}));
    ASSERT_OK(redo());
    ASSERT_OK(operations().revert(World::asker(), "claude", false));
    EXPECT_EQ(files(), (Lines{"old"}));
}

TEST_F(AdoptedTest, S52_WhileItGoesOnTheUserUndoesOneOfItsRuns) {
    const Sleeper agent;
    begin_run(agent.pid(), "one", "claude");
    as(agent.pid());
    make("a", "agent");
    begin_run(agent.pid(), "two");
    make("b", "agent");
    begin_run(agent.pid(), "");
    as_user();
    ASSERT_OK(undo(1));
    EXPECT_EQ(files(), (Lines{"a", "old"}));
    as(agent.pid());
    make("c", "agent");
    begin_run(agent.pid(), "");
    as_user();
    EXPECT_EQ(log().front(), "run: c");
    ASSERT_OK(undo(1));
    EXPECT_EQ(files(), (Lines{"a", "old"}));
}

TEST_F(AdoptedTest, S60_AnAgentUndoesItsOwnStepsAndKeepsTheUsers) {
    const Sleeper agent;
    begin_run(agent.pid(), "one", "claude");
    as(agent.pid());
    make("its", "agent");
    begin_run(agent.pid(), "two");
    make("its-too", "agent");
    as_user();
    make("mine", "user");
    checkpoint("saved");
    make("mine-too", "user");
    auto moved = undo_by(agent.pid());
    ASSERT_OK(moved);
    EXPECT_NE(moved->from, 0U);
    EXPECT_EQ(files(), (Lines{"its", "mine", "mine-too", "old"}));
    EXPECT_KIND(ErrorKind::kNotFound, undo_by(agent.pid(), 2));
    ASSERT_OK(undo_by(agent.pid()));
    EXPECT_EQ(files(), (Lines{"mine", "mine-too", "old"}));
    EXPECT_KIND(ErrorKind::kNothing, undo_by(agent.pid()));
}

TEST_F(AdoptedTest, S60_TheRunsOfTwoProcessesAreNotEachOthers) {
    const Sleeper one;
    const Sleeper two;
    begin_run(one.pid(), "one", "claude");
    begin_run(two.pid(), "two", "claude");
    as(one.pid());
    make("a", "agent");
    as_user();
    EXPECT_KIND(ErrorKind::kNothing, undo_by(two.pid()));
    EXPECT_EQ(files(), (Lines{"a", "old"}));
}

TEST_F(AdoptedTest, S40_AThreadOfTheProcessIsTheAgent) {
    const auto run = begin_run(::getpid(), "one");
    bool is_agent = false;
    std::thread([&] { is_agent = world_->session().is_agent(::gettid()); }).join();
    EXPECT_TRUE(is_agent);
    end_run(run);
}

TEST_F(AdoptedTest, S40_ALaterProcessWithTheSameNumberIsNoAgent) {
    Sleeper agent;
    const pid_t number = agent.pid();
    begin_run(number, "one");
    EXPECT_TRUE(world_->session().is_agent(number));
    agent.end();
    // Clocks of processes tick a hundred times a second.
    ::usleep(50'000);
    const Sleeper other(number);
    if (other.pid() != number) GTEST_SKIP() << "only root chooses the number of a process";
    EXPECT_FALSE(world_->session().is_agent(number));
}

}  // namespace
}  // namespace unwrite::tests
