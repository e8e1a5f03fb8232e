// Whose a change is when its process can no longer be asked: an agent's, if any agent is at work.
#include "overlay/origins.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>

#include "tests/support/scratch.h"

namespace unwrite::overlay {
namespace {

class OriginsTest : public ::testing::Test {
 protected:
    OriginsTest() {
        const auto directory = sys::open_at(AT_FDCWD, scratch_.path(), O_RDONLY | O_DIRECTORY);
        auto journal = journal::Journal::open(directory->get(), {.create = true});
        EXPECT_TRUE(journal);
        journal_ = *std::move(journal);
        auto origins = Origins::open(*journal_);
        EXPECT_TRUE(origins);
        origins_ = *std::move(origins);
    }
    ~OriginsTest() override {
        for (const pid_t pid : living_) {
            ::kill(pid, SIGKILL);
            ::waitpid(pid, nullptr, 0);
        }
    }

    pid_t sleeper(const std::function<void()>& first = {}) {
        const pid_t pid = ::fork();
        if (pid == 0) {
            if (first) first();
            for (;;)
                ::pause();
        }
        living_.push_back(pid);
        return pid;
    }
    void end(pid_t pid) {
        ::kill(pid, SIGKILL);
        ::waitpid(pid, nullptr, 0);
        std::erase(living_, pid);
    }
    static Caller caller(pid_t pid) {
        Caller one;
        one.pid = pid;
        return one;
    }
    std::string session_of(pid_t pid) {
        return origins_->name_of(origins_->resolve(caller(pid)).session);
    }

    tests::Scratch scratch_;
    std::unique_ptr<journal::Journal> journal_;
    std::unique_ptr<Origins> origins_;
    std::vector<pid_t> living_;
};

TEST_F(OriginsTest, S40_S167_ADeadProcessIsAnAgentsWhileOneIsAtWork) {
    const pid_t agent = sleeper();
    const pid_t dead = sleeper();
    end(dead);
    EXPECT_EQ(session_of(dead), "user");
    EXPECT_FALSE(origins_->is_agent(dead));
    origins_->begin_run(agent, "bot", 1);
    EXPECT_TRUE(origins_->is_agent(dead));
    EXPECT_TRUE(origins_->belonging_of(caller(dead)).agent);
    EXPECT_EQ(session_of(dead), "bot");
    EXPECT_EQ(session_of(::getpid()), "user");
    EXPECT_FALSE(origins_->is_agent(::getpid()));
    origins_->end_run(1);
    EXPECT_FALSE(origins_->is_agent(dead));
}

TEST_F(OriginsTest, S40_S167_ADeadProcessBelongsToTheRunThatItWasSeenIn) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    // It ends when it is told to, and its parent does not keep it.
    const pid_t first = sleeper([&] {
        ::signal(SIGCHLD, SIG_IGN);
        const pid_t child = ::fork();
        if (child == 0)
            for (;;)
                ::pause();
        if (::write(ends[1], &child, sizeof child) < 0) ::_exit(1);
    });
    pid_t child = 0;
    ASSERT_EQ(::read(ends[0], &child, sizeof child), static_cast<ssize_t>(sizeof child));
    const pid_t second = sleeper();
    origins_->begin_run(first, "first", 1);
    origins_->begin_run(second, "second", 2);
    EXPECT_EQ(session_of(child), "first");
    ::kill(child, SIGKILL);
    // What is remembered for speed is asked anew after a second.
    ::usleep(1'100'000);
    ASSERT_NE(::kill(child, 0), 0);
    EXPECT_EQ(session_of(child), "first");
    EXPECT_EQ(origins_->session_of_agent(child), "first");
}

TEST_F(OriginsTest, S40_S167_AnAgentInASandboxIsNobodyElseWhenItsGuardIsGone) {
    int ready[2];
    ASSERT_EQ(::pipe(ready), 0);
    // The guard, in a pid namespace below it the agent, which outlives the guard.
    pid_t agent = 0;
    const pid_t guard = sleeper([&] {
        pid_t inside = 0;
        if (::unshare(CLONE_NEWUSER | CLONE_NEWPID) == 0) inside = ::fork();
        if (inside == 0 && ::getpid() == 1)
            for (;;)
                ::pause();
        if (::write(ready[1], &inside, sizeof inside) < 0) ::_exit(1);
    });
    ASSERT_EQ(::read(ready[0], &agent, sizeof agent), static_cast<ssize_t>(sizeof agent));
    if (agent == 0) GTEST_SKIP() << "this machine allows no namespaces";
    origins_->begin_run(guard, "bot", 1);
    end(guard);
    EXPECT_TRUE(origins_->is_agent(agent));
    EXPECT_EQ(session_of(agent), "bot");
    EXPECT_EQ(session_of(::getpid()), "user");
    ::kill(agent, SIGKILL);
}

}  // namespace
}  // namespace unwrite::overlay
