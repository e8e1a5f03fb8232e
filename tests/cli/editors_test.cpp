#include "cli/editors.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/cli/scratch.h"

namespace unwrite::cli {
namespace {

overlay::Change change(const std::string& path) {
    overlay::Change one;
    one.path = path;
    return one;
}

TEST(Editors, SwapFilesAreKnownByTheirNames) {
    for (const char* name : {".a.swp", ".a.c.swo", ".main.cpp.swn", ".a.kate-swp", ".x.swx"})
        EXPECT_TRUE(is_swap_name(name)) << name;
    for (const char* name : {"a.swp", ".swp", "a.c", ".a.swift", ".a.sw", ".a.sw1", "", "."})
        EXPECT_FALSE(is_swap_name(name)) << name;
}

TEST(Editors, TheOneThatHoldsASwapFileOpenIsFound) {
    const Scratch scratch;
    std::filesystem::create_directory(scratch / "src");
    scratch.write("src/.a.c.swp", "swap");
    scratch.write("src/a.c", "text");
    EXPECT_TRUE(editors_below(scratch.path()).empty());
    const int swap = ::open((scratch / "src/.a.c.swp").c_str(), O_RDWR | O_CLOEXEC);
    const int text = ::open((scratch / "src/a.c").c_str(), O_RDONLY | O_CLOEXEC);
    const std::vector<Editor> editors = editors_below(scratch.path());
    ASSERT_EQ(editors.size(), 1u);
    EXPECT_EQ(editors[0].pid, ::getpid());
    EXPECT_EQ(editors[0].swap, "src/.a.c.swp");
    EXPECT_TRUE(editors_below(scratch / "other").empty());
    EXPECT_EQ(editor_lines(editors, {change("src/.a.c.swp")}).size(), 1u);
    EXPECT_EQ(editor_lines(editors, {change("src")}).size(), 1u);
    EXPECT_TRUE(editor_lines(editors, {change("src/a.c"), change("sr")}).empty());
    ::close(swap);
    ::close(text);
}

}  // namespace
}  // namespace unwrite::cli
