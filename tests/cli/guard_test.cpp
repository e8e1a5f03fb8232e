#include "cli/guard.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <thread>

#include "base/syscalls.h"
#include "tests/cli/scratch.h"

namespace unwrite::cli {
namespace {

Ended run(const Scratch& scratch, const std::vector<std::string>& command,
          bool leave_running = false) {
    Result<Guard> guard = Guard::fork(GuardOptions{command, leave_running});
    EXPECT_TRUE(guard);
    const Result<Ended> ended = guard->run(scratch.path(), "run-7");
    EXPECT_TRUE(ended) << ended.error().message();
    return ended ? *ended : Ended{};
}

Ended shell(const Scratch& scratch, const std::string& script, bool leave_running = false) {
    return run(scratch, {"/bin/sh", "-c", script}, leave_running);
}

bool is_gone(pid_t pid) {
    return ::kill(pid, 0) != 0;
}

TEST(Guard, TheExitCodeIsPassedOn) {
    const Scratch scratch;
    EXPECT_EQ(exit_code_of(shell(scratch, "exit 0")), 0);
    EXPECT_EQ(exit_code_of(shell(scratch, "exit 42")), 42);
    EXPECT_EQ(exit_code_of(shell(scratch, "kill -9 $$")), 128 + 9);
}

TEST(Guard, WhatCannotBeStartedIsSaid) {
    const Scratch scratch;
    scratch.write("plain", "x");
    const Ended missing = run(scratch, {"no-such-program-anywhere"});
    EXPECT_EQ(missing.exec_failure, ENOENT);
    EXPECT_EQ(exit_code_of(missing), 127);
    EXPECT_EQ(exit_code_of(run(scratch, {"./plain"})), 126);
}

TEST(Guard, TheCommandStandsInTheDirectoryWithItsSession) {
    const Scratch scratch;
    shell(scratch, "echo \"$UNWRITE_SESSION\" >session; pwd >where; echo \"$PWD\" >>where");
    EXPECT_EQ(scratch.read("session"), "run-7\n");
    EXPECT_EQ(scratch.read("where"), scratch.path() + "\n" + scratch.path() + "\n");
}

TEST(Guard, NothingButTheStandardStreamsIsInherited) {
    const Scratch scratch;
    // A descriptor that the caller forgot to close on exec.
    Result<UniqueFd> open = sys::open_at(AT_FDCWD, scratch.path(), O_RDONLY | O_DIRECTORY);
    ASSERT_TRUE(open);
    ASSERT_EQ(::fcntl(open->get(), F_SETFD, 0), 0);
    shell(scratch, "cd /proc/self/fd && echo *");
    run(scratch, {"/bin/sh", "-c", "ls -1 /proc/self/fd | sort -n | tail -1 >last"});
    EXPECT_LE(std::stoi(scratch.read("last")), 3);  // ls has its own descriptor of the listing
}

TEST(Guard, SignalsAreAsTheyWereForTheCommand) {
    const Scratch scratch;
    shell(scratch, "grep -E 'Sig(Blk|Ign)' /proc/self/status >signals");
    EXPECT_NE(scratch.read("signals").find("SigBlk:\t0000000000000000"), std::string::npos);
}

TEST(Guard, ASignalForTheProgramReachesTheCommand) {
    const Scratch scratch;
    // The thread must not be the one that gets the signal.
    sigset_t set;
    ::sigemptyset(&set);
    ::sigaddset(&set, SIGTERM);
    ASSERT_EQ(::pthread_sigmask(SIG_BLOCK, &set, nullptr), 0);
    std::thread sender([&scratch, self = ::getpid()] {
        while (scratch.read("ready").empty())
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        ::kill(self, SIGTERM);
    });
    const Ended ended =
        shell(scratch,
              "trap 'echo got >signal; exit 9' TERM; echo x >ready; while :; do sleep 0.05; done");
    sender.join();
    EXPECT_EQ(exit_code_of(ended), 9);
    EXPECT_EQ(scratch.read("signal"), "got\n");
}

TEST(Guard, WhatTheCommandLeavesBehindIsEnded) {
    const Scratch scratch;
    const Ended ended = shell(scratch,
                              "(sleep 100 & echo $! >pid; exec setsid sleep 100) & "
                              "until [ -s pid ]; do sleep 0.01; done; exit 3");
    EXPECT_EQ(exit_code_of(ended), 3);
    EXPECT_GE(ended.leftovers, 2u);
    EXPECT_TRUE(is_gone(std::stoi(scratch.read("pid"))));
}

TEST(Guard, LeftoversMayStayWhenAsked) {
    const Scratch scratch;
    const Ended ended = shell(scratch, "sleep 100 >/dev/null 2>&1 & echo $! >pid", true);
    EXPECT_EQ(ended.leftovers, 0u);
    const pid_t pid = std::stoi(scratch.read("pid"));
    EXPECT_FALSE(is_gone(pid));
    ::kill(pid, SIGKILL);
}

TEST(Guard, WithoutAStartNothingRuns) {
    const Scratch scratch;
    pid_t pid = 0;
    {
        const Result<Guard> guard =
            Guard::fork(GuardOptions{{"/bin/sh", "-c", "touch ran"}, false});
        ASSERT_TRUE(guard);
        pid = guard->pid();
    }
    EXPECT_TRUE(is_gone(pid));
    EXPECT_EQ(scratch.read("ran"), "");
}

}  // namespace
}  // namespace unwrite::cli
