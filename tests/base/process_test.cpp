#include "base/process.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>

#include "tests/base/scratch.h"

namespace unwrite {
namespace {

using tests::Scratch;

ProcessRequest shell(const std::string& script) {
    ProcessRequest request;
    request.arguments = {"sh", "-c", script};
    return request;
}

TEST(Process, BothStreamsAndTheExitCodeComeBack) {
    ASSERT_ASSIGN(const ProcessOutcome outcome,
                  run_process(shell("printf 'a\\0b'; printf oops >&2; exit 7")));
    EXPECT_EQ(outcome.exit_code, 7);
    EXPECT_EQ(outcome.out, std::string("a\0b", 3));
    EXPECT_EQ(outcome.err, "oops");
}

TEST(Process, ArgumentsAreNotWordsOfAShell) {
    ProcessRequest request;
    request.arguments = {"printf", "%s.", "a b", "$(touch x)", "'", "\xff\n"};
    ASSERT_ASSIGN(const ProcessOutcome outcome, run_process(request));
    EXPECT_EQ(outcome.out, "a b.$(touch x).'.\xff\n.");
}

TEST(Process, InputDirectoryAndEnvironment) {
    const Scratch scratch;
    ::setenv("UNWRITE_TEST_KEPT", "kept", 1);
    ::setenv("UNWRITE_TEST_GONE", "gone", 1);
    ::setenv("UNWRITE_TEST_ANEW", "old", 1);
    ProcessRequest request = shell(
        "cat; pwd; echo $UNWRITE_TEST_KEPT-$UNWRITE_TEST_GONE-$UNWRITE_TEST_ANEW-$UNWRITE_TEST_X");
    request.input = "first line\n";
    request.directory = scratch.path().string();
    request.unset = {"UNWRITE_TEST_GONE"};
    request.set = {{"UNWRITE_TEST_ANEW", "new"}, {"UNWRITE_TEST_X", "x y"}};
    ASSERT_ASSIGN(const ProcessOutcome outcome, run_process(request));
    EXPECT_EQ(outcome.out, "first line\n" + std::filesystem::canonical(scratch.path()).string() +
                               "\nkept--new-x y\n");
}

TEST(Process, WithoutInputNothingIsRead) {
    ASSERT_ASSIGN(const ProcessOutcome outcome, run_process(shell("cat; echo end")));
    EXPECT_EQ(outcome.out, "end\n");
}

TEST(Process, MoreThanAPipeHolds) {
    ProcessRequest request =
        shell("head -c 3000000 /dev/zero; head -c 2000000 /dev/zero >&2; cat | wc -c");
    request.input = std::string(1'500'000, 'x');
    ASSERT_ASSIGN(const ProcessOutcome outcome, run_process(request));
    EXPECT_EQ(outcome.out.size(), 3'000'000 + std::string("1500000\n").size());
    EXPECT_EQ(outcome.err.size(), 2'000'000u);
}

TEST(Process, AProgramThatCannotBeStartedIsAnError) {
    const Scratch scratch;
    scratch.write("text", "no program");
    ProcessRequest request;
    request.arguments = {"no-such-program-of-this-name"};
    EXPECT_NUMBER(ENOENT, run_process(request));
    request.arguments = {(scratch.path() / "text").string()};
    EXPECT_NUMBER(EACCES, run_process(request));
    request.arguments = {"true"};
    request.directory = (scratch.path() / "none").string();
    EXPECT_NUMBER(ENOENT, run_process(request));
    request.arguments.clear();
    EXPECT_NUMBER(EINVAL, run_process(request));
}

TEST(Process, ASignalIsAnExitCode) {
    ASSERT_ASSIGN(const ProcessOutcome outcome, run_process(shell("kill -TERM $$")));
    EXPECT_EQ(outcome.exit_code, 128 + SIGTERM);
}

TEST(Process, WhatTakesTooLongIsEndedWithItsChildren) {
    const Scratch scratch;
    ProcessRequest request = shell("trap 'echo ended >t; exit' TERM; sleep 300 & echo $! >p; wait");
    request.directory = scratch.path().string();
    // A busy machine may need longer until there is somebody to be ended.
    request.timeout = std::chrono::milliseconds(125);
    do {
        request.timeout *= 2;
        EXPECT_NUMBER(ETIMEDOUT, run_process(request));
    } while (scratch.read("p").empty() && request.timeout < std::chrono::seconds(30));
    EXPECT_EQ(scratch.read("t"), "ended\n");
    const pid_t below = std::atoi(scratch.read("p").c_str());
    ASSERT_GT(below, 0);
    // It was signalled; whoever collects orphans may take a moment.
    bool lives = true;
    for (int tries = 0; lives && tries < 1000; ++tries) {
        std::string stat;
        std::ifstream("/proc/" + std::to_string(below) + "/stat") >> stat >> stat >> stat;
        lives = !stat.empty() && stat != "Z";
        if (lives) ::usleep(10'000);
    }
    EXPECT_FALSE(lives);
}

TEST(Process, WhatIsCancelledIsEndedPolitely) {
    const Scratch scratch;
    ProcessRequest request = shell("trap 'echo ended >t; exit' TERM; touch p; sleep 300 & wait");
    request.directory = scratch.path().string();
    request.cancelled = [&] { return std::filesystem::exists(scratch.path() / "p"); };
    EXPECT_NUMBER(ECANCELED, run_process(request));
    EXPECT_EQ(scratch.read("t"), "ended\n");
}

TEST(Process, WhatIsCancelledMayEndByItselfFirst) {
    const Scratch scratch;
    ProcessRequest request = shell("touch p; sleep 0.3; echo whole");
    request.directory = scratch.path().string();
    request.cancelled = [&] { return std::filesystem::exists(scratch.path() / "p"); };
    request.grace = std::chrono::seconds(30);
    ASSERT_ASSIGN(const ProcessOutcome outcome, run_process(request));
    EXPECT_EQ(outcome.out, "whole\n");
    request.arguments.back() = "touch p; sleep 300";
    request.grace = std::chrono::milliseconds(1);
    EXPECT_NUMBER(ECANCELED, run_process(request));
}

TEST(Process, WhoeverWritesWithoutEndIsEnded) {
    ProcessRequest request = shell("cat /dev/zero");
    request.most_output = 100'000;
    EXPECT_NUMBER(EFBIG, run_process(request));
}

TEST(Process, NobodyWaitsForWhatIsLeftRunning) {
    // The sleeper keeps both streams open, far longer than the time that is allowed.
    ProcessRequest request = shell("setsid sleep 20 & echo $!");
    request.timeout = std::chrono::milliseconds(15'000);
    ASSERT_ASSIGN(const ProcessOutcome outcome, run_process(request));
    const pid_t sleeper = std::atoi(outcome.out.c_str());
    ASSERT_GT(sleeper, 0);
    ::kill(sleeper, SIGKILL);
}

TEST(Process, ItLeadsASessionAndIgnoresNoSignal) {
    const auto before = std::signal(SIGPIPE, SIG_IGN);
    ASSERT_ASSIGN(const ProcessOutcome outcome,
                  run_process(shell("echo $(ps -o sid= -p $$) $$; grep SigIgn /proc/$$/status")));
    std::signal(SIGPIPE, before);
    int session = 0;
    int self = -1;
    unsigned long ignored = ~0ul;
    ASSERT_EQ(std::sscanf(outcome.out.c_str(), "%d %d SigIgn: %lx", &session, &self, &ignored), 3);
    EXPECT_EQ(session, self);
    EXPECT_EQ(ignored & (1ul << (SIGPIPE - 1)), 0u);
}

}  // namespace
}  // namespace unwrite
