// Two changes of one text.
#include "edit/merge.h"

#include <gtest/gtest.h>

namespace unwrite::edit {
namespace {

std::string merge(std::string_view base, std::string_view ours, std::string_view theirs) {
    const auto result = merged(base, ours, theirs);
    if (!result) return "error: " + result.error().message();
    return result->value_or("conflict");
}

TEST(Merge, ChangesApartAreBothKeptS63) {
    EXPECT_EQ(merge("a\nb\nc\nd\ne\n", "A\nb\nc\nd\ne\n", "a\nb\nc\nd\nE\n"), "A\nb\nc\nd\nE\n");
    EXPECT_EQ(merge("a\nb\nc\nd\n", "b\nc\nd\n", "a\nb\nc\nd\ne\n"), "b\nc\nd\ne\n");
    EXPECT_EQ(merge("a\nb\nc\n", "a\nb\nc\n", "a\nx\nc\n"), "a\nx\nc\n");
    EXPECT_EQ(merge("a\nb\nc\n", "new\na\nb\nc\n", "a\nb\nc\nlast\n"), "new\na\nb\nc\nlast\n");
}

TEST(Merge, TheSameChangeIsMadeOnce) {
    EXPECT_EQ(merge("a\nb\nc\n", "a\nx\nc\n", "a\nx\nc\n"), "a\nx\nc\n");
    EXPECT_EQ(merge("a\nb\nc\nd\ne\n", "a\nx\nc\nd\nE\n", "a\nx\nc\nd\ne\n"), "a\nx\nc\nd\nE\n");
}

TEST(Merge, ChangesThatTouchAreAConflict) {
    EXPECT_EQ(merge("a\nb\nc\n", "a\nx\nc\n", "a\ny\nc\n"), "conflict");
    EXPECT_EQ(merge("a\nb\nc\n", "a\nx\nc\n", "a\nb\ny\n"), "conflict");
    EXPECT_EQ(merge("a\n", "a\nx\n", "a\ny\n"), "conflict");
    EXPECT_EQ(merge("a\nb\n", "", "a\nc\n"), "conflict");
    EXPECT_EQ(merge("a\nb\nc\nd\ne\n", "e\n", "a\nb\nX\nd\ne\n"), "conflict");
    EXPECT_EQ(merge("", "x\n", "y\n"), "conflict");
}

TEST(Merge, OneChangeThatSpansTwoOfTheOther) {
    EXPECT_EQ(merge("1\n2\n3\n4\n5\n6\n7\n", "1\nx\n7\n", "1\n2\nB\n4\n5\nF\n7\n"), "conflict");
}

TEST(Merge, EndingsStayAsTheyAre) {
    EXPECT_EQ(merge("a\r\nb\r\nc\r\nd", "A\r\nb\r\nc\r\nd", "a\r\nb\r\nc\r\nD"),
              "A\r\nb\r\nc\r\nD");
    EXPECT_EQ(merge("a\nb\nc", "A\nb\nc", "a\nb\nc\n"), "A\nb\nc\n");
    EXPECT_EQ(merge("", "", ""), "");
}

}  // namespace
}  // namespace unwrite::edit
