// How a failure is told: the verb once, a full stop, the hint on a line of its own.
#include "cli/failure.h"

#include <gtest/gtest.h>

namespace unwrite::cli {
namespace {

Error error(const std::string& text, const std::string& advice = {}) {
    return Error(ErrorKind::kUsage, EINVAL, text, advice);
}

TEST(Failure, NamesTheVerbOnce) {
    EXPECT_EQ(failure_lines("undo", error("there is nothing to undo")),
              "unwrite undo: there is nothing to undo.\n");
    EXPECT_EQ(failure_lines("undo", error("undo: there is nothing to undo")),
              "unwrite undo: there is nothing to undo.\n");
    EXPECT_EQ(failure_lines("undo", error("undo n7: there is no such step")),
              "unwrite undo n7: there is no such step.\n");
    EXPECT_EQ(failure_lines("git undo", error("undoing failed")),
              "unwrite git undo: undoing failed.\n");
    EXPECT_EQ(failure_lines("", error("no command given")), "unwrite: no command given.\n");
    EXPECT_EQ(failure_lines("mount", Error(EACCES)), "unwrite mount: Permission denied.\n");
}

TEST(Failure, PutsTheHintOnALineOfItsOwn) {
    EXPECT_EQ(failure_lines("discard", error("\"before\" is a checkpoint, not a file.",
                                             "unwrite rollback before")),
              "unwrite discard: \"before\" is a checkpoint, not a file.\n"
              "hint: unwrite rollback before\n");
    EXPECT_EQ(failure_lines("help", error("unknown command \"x\". Did you mean \"y\"?", "z")),
              "unwrite help: unknown command \"x\". Did you mean \"y\"?\nhint: z\n");
}

TEST(Failure, AListEndsWithoutAFullStopAndNothingReachesTheTerminalRaw) {
    EXPECT_EQ(failure_lines("undo", error("these files were changed again:\n  a\n  b")),
              "unwrite undo: these files were changed again:\n  a\n  b\n");
    EXPECT_EQ(failure_lines("read", error("read a\x1b[2J", "b\x1b")),
              "unwrite read a^[[2J.\nhint: b^[\n");
}

}  // namespace
}  // namespace unwrite::cli
