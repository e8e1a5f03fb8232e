#include "cli/context.h"

#include <gtest/gtest.h>

#include "cli/workspace.h"
#include "tests/cli/scratch.h"

namespace unwrite::cli {
namespace {

TEST(Paths, Absolute) {
    EXPECT_EQ(absolute_path("/a/b", "c"), "/a/b/c");
    EXPECT_EQ(absolute_path("/a/b", "/c//d/./e/"), "/c/d/e");
    EXPECT_EQ(absolute_path("/a/b", ".."), "/a");
    EXPECT_EQ(absolute_path("/a/b", "../../.."), "/");
    EXPECT_EQ(absolute_path("/", "x"), "/x");
    EXPECT_EQ(absolute_path("/", "."), "/");
    EXPECT_EQ(absolute_path("/a", "n\nx/..y"), "/a/n\nx/..y");
}

TEST(Paths, RealFollowsSymlinks) {
    const Scratch scratch;
    std::filesystem::create_directories(scratch / "d/e");
    std::filesystem::create_symlink("d", scratch / "l");
    EXPECT_EQ(*real_path(scratch.path(), "l/e"), scratch / "d/e");
    EXPECT_FALSE(real_path(scratch.path(), "none"));
}

TEST(Paths, TheStateDirectoryIsLookedForUpwards) {
    const Scratch scratch;
    std::filesystem::create_directories(scratch / "w/.unwrite");
    std::filesystem::create_directories(scratch / "w/a/b");
    scratch.write("w/.unwrite/VERSION", "unwrite state 1\n");
    scratch.write("w/a/.unwrite", "a file is none");
    // One in which nothing was begun is none either.
    std::filesystem::create_directories(scratch / "w/a/b/.unwrite");
    scratch.write("w/a/b/.unwrite/config.toml", "durability = 'power'");
    EXPECT_EQ(state_above(scratch / "w/a/b"), scratch / "w");
    EXPECT_EQ(state_above(scratch / "w"), scratch / "w");
    EXPECT_EQ(state_above(scratch.path()), "");
}

TEST(ExitCodes, AreTheDocumentedOnes) {
    const auto code = [](ErrorKind kind) { return exit_code(Error(kind, 1, "x")); };
    EXPECT_EQ(code(ErrorKind::kSystem), 1);
    EXPECT_EQ(code(ErrorKind::kNotFound), 1);
    EXPECT_EQ(code(ErrorKind::kUsage), 2);
    EXPECT_EQ(code(ErrorKind::kNothing), 3);
    EXPECT_EQ(code(ErrorKind::kRefused), 4);
    EXPECT_EQ(code(ErrorKind::kConflict), 5);
    EXPECT_EQ(code(ErrorKind::kNoWorkspace), 6);
    EXPECT_EQ(code(ErrorKind::kRecovery), 7);
    EXPECT_EQ(code(ErrorKind::kCorrupt), 7);
}

}  // namespace
}  // namespace unwrite::cli
