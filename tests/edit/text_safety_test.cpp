#include "edit/text_safety.h"

#include <gtest/gtest.h>

namespace unwrite::edit {
namespace {

TEST(TextSafety, Utf8) {
    EXPECT_TRUE(is_utf8(""));
    EXPECT_TRUE(is_utf8(std::string_view("a\0b", 3)));
    EXPECT_TRUE(is_utf8("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\xf4\x8f\xbf\xbf"));
    for (const char* wrong :
         {"\xff", "\xc3", "\xc0\x80", "\xc1\xbf", "\xe0\x80\x80", "\xed\xa0\x80",
          "\xf0\x80\x80\x80", "\xf4\x90\x80\x80", "\x80", "\xe2\x82", "\xc3\x28"})
        EXPECT_FALSE(is_utf8(wrong));
}

TEST(TextSafety, S142_S168_UnsafeCharacters) {
    for (const char* path : {"\x01",
                             "\x1f",
                             "\x7f",
                             "\xc2\x80",
                             "\xc2\xad",
                             "\xcd\x8f",
                             "\xd8\x9c",
                             "\xe1\x85\x9f",
                             "\xe1\x85\xa0",
                             "\xe1\x9e\xb4",
                             "\xe1\xa0\x8e",
                             "\xe2\x80\x8b",
                             "\xe2\x80\xae",
                             "\xe2\x81\xa0",
                             "\xe2\x81\xa9",
                             "\xe3\x85\xa4",
                             "\xef\xb8\x80",
                             "\xef\xbb\xbf",
                             "\xef\xbe\xa0",
                             "\xef\xbf\xb9",
                             "\xf3\xa0\x80\x81",
                             "\xf3\xa0\x84\x80"})
        EXPECT_TRUE(has_unsafe_character("a" + std::string(path) + "b"));
    EXPECT_TRUE(has_unsafe_character(std::string_view("\0", 1)));
}

TEST(TextSafety, S142_OrdinaryNamesAreSafe) {
    for (const char* path : {"a b", "\xc3\xa4", "\xff\xfe", "\xe6\x97\xa5", "\xf0\x9f\x98\x80",
                             "\xe2\x80\x90", "\xe2\x81\xaa", "\xef\xbf\xbd"})
        EXPECT_FALSE(has_unsafe_character(path)) << path;
}

TEST(TextSafety, S22_S168_APathIsShownWithoutWhatATerminalObeys) {
    EXPECT_EQ(displayed("a/b c.txt"), "a/b c.txt");
    EXPECT_EQ(displayed("a\x1b[31mred\x1b[0m"), "ared");
    EXPECT_EQ(displayed("a\x1b]0;title\x07"
                        "b\x1b]8;;x\x1b\\c"),
              "abc");
    EXPECT_EQ(displayed("a\x1b[12"), "a12");
    EXPECT_EQ(displayed("a\nb\rc\td"),
              "a\xe2\x90\x8a"
              "b\xe2\x90\x8d"
              "c\xe2\x90\x89"
              "d");
    EXPECT_EQ(displayed("a\x01\x7f\xc2\x9b"
                        "b\xe2\x80\xae"
                        "c"),
              "abc");
    EXPECT_EQ(displayed("\xff"
                        "a\xc3"),
              "\xef\xbf\xbd"
              "a\xef\xbf\xbd");
    EXPECT_EQ(displayed("\xe2\x80\x8b"), "\xe2\x80\x8b");
}

}  // namespace
}  // namespace unwrite::edit
