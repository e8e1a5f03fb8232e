// What gets onto a screen of bytes that nobody vouches for.
#include <gmock/gmock.h>

#include <clocale>

#include "cli/screen/diff_page.h"
#include "cli/screen/frame.h"

namespace unwrite::cli::screen {
namespace {

class Unicode : public ::testing::Test {
 protected:
    void SetUp() override { ASSERT_NE(std::setlocale(LC_CTYPE, "C.UTF-8"), nullptr); }
};

std::string written(std::string_view bytes, std::size_t columns = 200, std::size_t skip = 0,
                    Charset charset = Charset::kUnicode) {
    LineWriter writer(columns, charset, skip);
    writer.add(bytes);
    return text_of(writer.take());
}

using ScreenText = Unicode;
TEST_F(ScreenText, ControlsAreVisibleS61) {
    EXPECT_EQ(written("\x1b[31mred\x07\r\x7f"), "^[[31mred^G^M<U+007F>");
    EXPECT_EQ(written(std::string_view("\0\n", 2)), "^@^J");
    EXPECT_EQ(written("\xc2\x9b"
                      "1m"),
              "<U+009B>1m");
}

TEST_F(ScreenText, MarksOfDirectionAndWhatShowsAsNothing) {
    EXPECT_EQ(written("a\xe2\x80\xae"
                      "b\xe2\x80\x8b"
                      "c\xef\xbb\xbf"),
              "a<U+202E>b<U+200B>c<U+FEFF>");
}

TEST_F(ScreenText, WhatIsNoUtf8) {
    EXPECT_EQ(written("caf\xe9"), "caf<E9>");
    EXPECT_EQ(written("\xc0\xaf|\xed\xa0\x80|\xf4\x90\x80\x80|\xe2\x82"),
              "<C0><AF>|<ED><A0><80>|<F4><90><80><80>|<E2><82>");
}

TEST_F(ScreenText, WithoutUnicodeCharactersHaveNumbers) {
    EXPECT_EQ(written("caf\xc3\xa9", 200, 0, Charset::kAscii), "caf<U+00E9>");
}

TEST_F(ScreenText, TabsAndWideCharactersKeepTheirColumns) {
    EXPECT_EQ(written("a\tb"), "a       b");
    EXPECT_EQ(width_of("\xe6\xbc\xa2\xe5\xad\x97", Charset::kUnicode), 4U);
    EXPECT_EQ(written("\xe6\xbc\xa2\xe5\xad\x97", 3), "\xe6\xbc\xa2 ");
    EXPECT_EQ(written("\xe6\xbc\xa2\xe5\xad\x97", 9, 1), " \xe5\xad\x97");
}

TEST_F(ScreenText, CombiningCharactersDoNotPileUp) {
    std::string tower = "e";
    for (int i = 0; i < 10; ++i)
        tower += "\xcc\x81";
    EXPECT_EQ(width_of("e\xcc\x81", Charset::kUnicode), 1U);
    EXPECT_THAT(written(tower), ::testing::HasSubstr("<U+0301>"));
    EXPECT_THAT(written("\xcc\x81"), ::testing::StartsWith("<U+0301>"));
}

TEST_F(ScreenText, IsCutAndScrolled) {
    EXPECT_EQ(written("abcdef", 3), "abc");
    EXPECT_EQ(written("abcdef", 3, 2), "cde");
    EXPECT_EQ(written("abc", 3, 5), "");
    EXPECT_EQ(end_of("some/long/path", 8, Charset::kUnicode), ".../path");
    EXPECT_EQ(end_of("short", 8, Charset::kUnicode), "short");
    EXPECT_EQ(end_of("much longer", 2, Charset::kUnicode), "..");
}

constexpr const char* kDiff =
    "diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1,4 +1,4 @@\n one\n-two\n-three\n+2\n four\n+five\n"
    "@@ -20 +20 @@\n--- x\n\\ No newline at end of file\n++++ y\n";

TEST(DiffPage, RowsAndHunks) {
    const DiffPage page(kDiff);
    EXPECT_EQ(page.hunk_count(), 2U);
    const auto& rows = page.rows();
    ASSERT_EQ(rows.size(), 14U);
    EXPECT_EQ(rows[3].kind, DiffRow::Kind::kHunk);
    EXPECT_EQ(rows[5].text, "two");
    EXPECT_EQ(rows[5].old_line, 2U);
    EXPECT_EQ(rows[5].partner, 7U);
    EXPECT_EQ(rows[6].partner, kNone);
    EXPECT_EQ(rows[9].new_line, 4U);
    // A removed line that looks like a header.
    EXPECT_EQ(rows[11].kind, DiffRow::Kind::kRemoved);
    EXPECT_EQ(rows[11].text, "-- x");
    EXPECT_EQ(rows[13].kind, DiffRow::Kind::kAdded);
    EXPECT_EQ(rows[13].partner, 11U);
    EXPECT_EQ(page.begin_of_hunk(1, false), 10U);
}

TEST(DiffPage, SideBySide) {
    const DiffPage page(kDiff);
    const auto& pairs = page.pairs();
    ASSERT_EQ(pairs.size(), 12U);
    EXPECT_EQ(pairs[5].left, 5U);
    EXPECT_EQ(pairs[5].right, 7U);
    EXPECT_EQ(pairs[6].left, 6U);
    EXPECT_EQ(pairs[6].right, kNone);
    EXPECT_EQ(pairs[8].left, kNone);
    EXPECT_EQ(page.begin_of_hunk(1, true), 9U);
}

TEST(DiffPage, Search) {
    const DiffPage page(kDiff);
    EXPECT_EQ(page.find("FOUR", 0, false), kNone);
    EXPECT_EQ(page.find("four", 0, false), 8U);
    EXPECT_EQ(page.find("f", 13, false), 0U);
    EXPECT_EQ(page.find("two", 5, true), 5U);
    EXPECT_EQ(page.find("@@", 10, true), 3U);
    EXPECT_EQ(DiffPage("").find("x", 0, false), kNone);
}

}  // namespace
}  // namespace unwrite::cli::screen
