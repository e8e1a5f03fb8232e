#include "base/crash_point.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/base/scratch.h"

namespace unwrite {
namespace {

/// Passes a, b, a in a child; says how it ended: 0, or the signal.
int passages(const char* crash_at, const char* list) {
    const pid_t child = ::fork();
    if (child == 0) {
        ::setenv("UNWRITE_CRASH_AT", crash_at, 1);
        ::setenv("UNWRITE_CRASH_LIST", list, 1);
        reset_crash_points();
        crash_point("a");
        crash_point("b");
        crash_point("a");
        ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
}

TEST(CrashPoint, KillsAtTheNamedPassage) {
    const tests::Scratch scratch;
    const std::string list = scratch.path() / "list";
    EXPECT_EQ(passages("a:2", list.c_str()), SIGKILL);
    EXPECT_EQ(scratch.read("list"), "a\nb\na\n");
}

TEST(CrashPoint, KillsAtAnyPassage) {
    const tests::Scratch scratch;
    const std::string list = scratch.path() / "list";
    EXPECT_EQ(passages("*:2", list.c_str()), SIGKILL);
    EXPECT_EQ(scratch.read("list"), "a\nb\n");
}

TEST(CrashPoint, LetsOthersPass) {
    const tests::Scratch scratch;
    const std::string list = scratch.path() / "list";
    EXPECT_EQ(passages("a:3", list.c_str()), 0);
    EXPECT_EQ(passages("c:1", list.c_str()), 0);
    EXPECT_EQ(passages("*:0", list.c_str()), 0);
}

}  // namespace
}  // namespace unwrite
