#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "edit/unified_patch.h"

namespace unwrite::edit {
namespace {

using testing::HasSubstr;

std::vector<FilePatch> parsed(std::string_view patch, unsigned strip = 1) {
    auto files = parse_unified(patch, strip);
    EXPECT_TRUE(files) << files.error().message();
    return files ? *std::move(files) : std::vector<FilePatch>{};
}

std::string error_of(std::string_view patch, unsigned strip = 1) {
    const auto files = parse_unified(patch, strip);
    return files ? "" : files.error().message();
}

std::string applied(const std::string& hunks, std::string_view bytes) {
    const auto files = parsed("--- a/f\n+++ b/f\n" + hunks);
    if (files.size() != 1) return "not one file";
    auto result = apply_hunks(files[0].hunks, bytes);
    return result ? *std::move(result) : "error: " + result.error().message();
}

TEST(UnifiedParser, AGitPatchOfSeveralFiles) {
    const auto files = parsed(
        "From 1234 Mon Sep 17 00:00:00 2001\nSubject: [PATCH] x\n\n---\n f | 2 +-\n\n"
        "diff --git a/f b/f\nindex 123..456 100644\n--- a/f\n+++ b/f\n"
        "@@ -1,2 +1,2 @@ int main()\n a\n-b\n+c\n"
        "diff --git a/new file b/new file\nnew file mode 100755\n--- /dev/null\n+++ b/new file\t\n"
        "@@ -0,0 +1 @@\n+x\n\\ No newline at end of file\n"
        "diff --git a/old b/old\ndeleted file mode 100644\n--- a/old\n+++ /dev/null\n"
        "@@ -1 +0,0 @@\n-x\n-- \n2.39.2\n");
    ASSERT_EQ(files.size(), 3U);
    EXPECT_EQ(files[0].old_path, "f");
    EXPECT_EQ(files[0].new_path, "f");
    ASSERT_EQ(files[0].hunks.size(), 1U);
    EXPECT_EQ(files[0].hunks[0].lines.size(), 3U);
    EXPECT_FALSE(files[1].old_path);
    EXPECT_EQ(files[1].new_path, "new file");
    EXPECT_EQ(files[1].executable, true);
    EXPECT_EQ(files[1].hunks[0].lines[0].text, "x");
    EXPECT_EQ(files[2].old_path, "old");
    EXPECT_FALSE(files[2].new_path);
}

TEST(UnifiedParser, RenamesCopiesAndModesWithoutHunks) {
    const auto files = parsed(
        "diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n"
        "diff --git a/x b/z\nsimilarity index 100%\ncopy from x\ncopy to z\n"
        "diff --git a/m b/m\nold mode 100644\nnew mode 100755\n"
        "diff --git \"a/q\\303\\244\" \"b/q\\303\\244\"\nnew file mode 100644\n");
    ASSERT_EQ(files.size(), 4U);
    EXPECT_EQ(files[0].old_path, "x");
    EXPECT_EQ(files[0].new_path, "y");
    EXPECT_FALSE(files[0].copies);
    EXPECT_TRUE(files[1].copies);
    EXPECT_EQ(files[2].new_path, "m");
    EXPECT_EQ(files[2].executable, true);
    EXPECT_EQ(files[3].new_path, "q\xc3\xa4");
    EXPECT_FALSE(files[3].old_path);
}

TEST(UnifiedParser, PlainDiffsNameTheSecondFile) {
    const auto files = parsed(
        "diff -u f.orig f\n--- f.orig\t2020-01-01 00:00:00\n+++ f\t2020-01-02 00:00:00\n"
        "@@ -1 +1 @@\n-a\n+b\n--- g\n+++ g\n@@ -1 +1 @@\n-a\n+b\n",
        0);
    ASSERT_EQ(files.size(), 2U);
    EXPECT_EQ(files[0].old_path, "f");
    EXPECT_EQ(files[0].new_path, "f");
    EXPECT_EQ(files[1].new_path, "g");
}

TEST(UnifiedParser, ComponentsAreDropped) {
    const std::string patch = "--- x/y/f\n+++ x/y/f\n@@ -1 +1 @@\n-a\n+b\n";
    EXPECT_EQ(parsed(patch, 0)[0].new_path, "x/y/f");
    EXPECT_EQ(parsed(patch, 2)[0].new_path, "f");
    EXPECT_EQ(error_of(patch, 3), "A name has too few components to drop 3");
}

TEST(UnifiedParser, CrlfHeadersAndEmptyContextLines) {
    const auto files = parsed("--- a/f\r\n+++ b/f\r\n@@ -1,3 +1,3 @@\r\n a\r\n\n-b\r\n+c\r\n");
    ASSERT_EQ(files.size(), 1U);
    EXPECT_EQ(files[0].new_path, "f");
    EXPECT_EQ(files[0].hunks[0].lines[0].text, "a\r\n");
    EXPECT_EQ(files[0].hunks[0].lines[1].text, "\n");
}

TEST(UnifiedParser, WhatIsDamagedIsRefused) {
    const std::string names = "--- a/f\n+++ b/f\n";
    EXPECT_EQ(error_of(""), "No file in the patch");
    EXPECT_EQ(error_of("hello\n"), "No file in the patch");
    EXPECT_EQ(error_of("@@ -1 +1 @@\n-a\n+b\n"), "A hunk without a file");
    EXPECT_EQ(error_of(names + "@@ -x +1 @@\n"), "Invalid hunk header");
    EXPECT_EQ(error_of(names + "@@ -1 +1\n-a\n+b\n"), "Invalid hunk header");
    EXPECT_EQ(error_of(names + "@@ -0,1 +1 @@\n-a\n+b\n"), "Invalid hunk header");
    EXPECT_EQ(error_of(names + "@@ -99999999999 +1 @@\n-a\n+b\n"), "Invalid hunk header");
    EXPECT_EQ(error_of(names + "@@ -1,2 +1 @@\n-a\n+b\n"), "A hunk is cut off");
    EXPECT_EQ(error_of(names + "@@ -1 +1 @@\n-a\n-b\n"), "A hunk is damaged");
    EXPECT_EQ(error_of(names + "@@ -1 +1 @@\nxa\n+b\n"), "A hunk is damaged");
    EXPECT_EQ(error_of(names + "@@ -1 +1 @@\n\\ No\n-a\n+b\n"), "A hunk is damaged");
    EXPECT_EQ(error_of(names + "@@ -1 +1 @@\n-a\n+b\n+c\n"), "A hunk has more lines than it says");
    EXPECT_EQ(error_of("--- \"a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n"), "Invalid file name");
    EXPECT_EQ(error_of("diff --git a/f b/g\n--- a/f\n+++ b/g\n@@ -1 +1 @@\n-a\n+b\n"),
              "The names of a file differ, but it is not renamed");
    EXPECT_EQ(error_of("diff --git x y\n"), "A file without a name");
}

TEST(UnifiedParser, WhatIsCutOffIsRefused) {
    const std::string names = "--- a/f\n+++ b/f\n";
    const std::string git = "diff --git a/f b/f\n";
    const std::string whole = names + "@@ -1 +1 @@\n-a\n+b\n";
    EXPECT_EQ(error_of(names + "@@ @@\n-a\n+b\n"), "Invalid hunk header");
    EXPECT_EQ(error_of(names + "@@ ... @@\n-a\n+b\n"), "Invalid hunk header");
    EXPECT_EQ(error_of(whole + "@@ @@\n-a\n+b\n"), "Invalid hunk header");
    EXPECT_EQ(error_of(names + "@@@ -1 -1 +1 @@@\n- a\n++b\n"), "Combined diffs cannot be applied");
    const std::string no_hunk = "The patch of a file is cut off: it has no hunk";
    for (const std::string& cut :
         {names, git, git + "index 123..456 100644\n", git + "index 1..2\n" + names,
          git + "old mode 100644\n", whole + git, whole + names})
        EXPECT_EQ(error_of(cut), no_hunk) << cut;
    EXPECT_NE(error_of(git + "--- a/f\n"), "");
    EXPECT_NE(error_of(whole + "--- a/f\n"), "");
    EXPECT_NE(error_of("diff --git a/f b/g\nrename from f\n"), "");
    EXPECT_NE(error_of("diff --git a/f b/f\nrename from f\n"), "");
}

TEST(UnifiedParser, WhatCannotBePatchedIsRefused) {
    const std::string git = "diff --git a/f b/f\n";
    EXPECT_EQ(error_of(git + "GIT binary patch\n"), "Binary files cannot be patched");
    EXPECT_EQ(error_of(git + "Binary files a/f and b/f differ\n"),
              "Binary files cannot be patched");
    EXPECT_EQ(error_of(git + "new file mode 120000\n"), "Symbolic links cannot be patched");
    EXPECT_EQ(error_of(git + "deleted file mode 160000\n"), "Submodules cannot be patched");
    EXPECT_EQ(error_of(git + "new mode 100777\n"), "Unknown file mode");
}

TEST(UnifiedParser, ErrorsNameTheLine) {
    std::uint64_t line = 0;
    const auto files = parse_unified("--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\nxb\n", 1, &line);
    ASSERT_FALSE(files);
    EXPECT_EQ(line, 5U);
}

TEST(UnifiedApply, AHunkFitsWhereItSays) {
    EXPECT_EQ(applied("@@ -2 +2 @@\n-b\n+x\n", "a\nb\nc\n"), "a\nx\nc\n");
    EXPECT_EQ(applied("@@ -1,0 +2 @@\n+x\n", "a\nb\n"), "a\nx\nb\n");
    EXPECT_EQ(applied("@@ -0,0 +1 @@\n+x\n", ""), "x\n");
    EXPECT_EQ(applied("@@ -1 +0,0 @@\n-a\n", "a\n"), "");
    // The same lines stand elsewhere as well, but the number decides.
    EXPECT_EQ(applied("@@ -2 +2 @@\n-b\n+x\n", "b\nb\nb\n"), "b\nx\nb\n");
}

TEST(UnifiedApply, AHunkMayHaveMovedToOneOtherPlace) {
    EXPECT_EQ(applied("@@ -1 +1 @@\n-b\n+x\n", "a\nc\nb\n"), "a\nc\nx\n");
    EXPECT_EQ(applied("@@ -1 +1 @@\n-b\n+x\n", "a\nb\nb\n"),
              "error: Hunk #1 (line 1) matches in more than one place");
    EXPECT_EQ(applied("@@ -9 +9 @@\n-b\n+x\n", "a\nc\n"), "error: Hunk #1 (line 9) does not match");
    EXPECT_EQ(applied("@@ -5,0 +6 @@\n+x\n", "a\n"), "error: Hunk #1 (line 5) does not match");
}

TEST(UnifiedApply, LaterHunksFollowTheEarlierOnes) {
    EXPECT_EQ(applied("@@ -1 +1 @@\n-b\n+x\n@@ -3 +3 @@\n-b\n+y\n", "new\nb\nc\nb\nb\n"),
              "error: Hunk #1 (line 1) matches in more than one place");
    EXPECT_EQ(applied("@@ -1 +1 @@\n-a\n+x\n@@ -3 +3 @@\n-b\n+y\n", "new\na\nc\nb\nb\n"),
              "new\nx\nc\ny\nb\n");
    EXPECT_EQ(applied("@@ -3 +3 @@\n-c\n+x\n@@ -1 +1 @@\n-a\n+y\n", "a\nb\nc\n"),
              "error: Hunk #2 (line 1) does not match");
}

TEST(UnifiedApply, LinesWithoutAnEndingAreLast) {
    EXPECT_EQ(applied("@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n", "a"), "b\n");
    EXPECT_EQ(applied("@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n", "a\n"),
              "error: Hunk #1 (line 1) does not match");
    EXPECT_EQ(applied("@@ -1 +1 @@\n-a\n+b\n\\ No newline at end of file\n", "a\nc\n"),
              "error: Hunk #1 puts a line without an ending before others");
    EXPECT_EQ(applied("@@ -1,0 +2 @@\n+b\n", "a"),
              "error: Hunk #1 (line 1) puts a line behind one without an ending");
}

TEST(UnifiedApply, ReversedHunksTakeThemBack) {
    const auto back = [](const std::string& hunks, const std::string& before) {
        const auto files = parsed("--- a/f\n+++ b/f\n" + hunks);
        const auto after = apply_hunks(files[0].hunks, before);
        EXPECT_TRUE(after) << hunks;
        const auto again = after ? apply_hunks(reversed(files[0].hunks), *after) : after;
        return again ? *again : "error: " + again.error().message();
    };
    // The same lines stand everywhere, so that only the numbers decide.
    const std::string many = "b\nb\nb\nb\nb\nb\n";
    EXPECT_EQ(
        back("@@ -2 +2,2 @@\n-b\n+b\n+b\n@@ -4,2 +5 @@\n-b\n-b\n+b\n@@ -6,0 +7 @@\n+b\n", many),
        many);
    EXPECT_EQ(back("@@ -1,3 +1 @@\n-b\n-b\n b\n@@ -5 +3 @@\n-b\n+x\n", many), many);
    EXPECT_EQ(back("@@ -0,0 +1 @@\n+x\n", ""), "");
    EXPECT_EQ(back("@@ -1 +0,0 @@\n-x\n", "x\n"), "x\n");
    EXPECT_EQ(back("@@ -1 +1 @@\n-x\n+x\n\\ No newline at end of file\n", "x\n"), "x\n");
}

TEST(UnifiedApply, ErrorsSayWhere) {
    const auto files = parsed("--- a/f\n+++ b/f\n@@ -2 +2 @@\n-z\n+y\n");
    std::uint64_t line = 0;
    const auto result = apply_hunks(files[0].hunks, "a\nb\n", &line);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().kind(), ErrorKind::kConflict);
    EXPECT_EQ(line, 3U);
}

}  // namespace
}  // namespace unwrite::edit
