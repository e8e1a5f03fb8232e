#include "overlay/line_diff.h"

#include "edit/diff.h"
#include "edit/patch_names.h"
#include "tests/support/scratch.h"

namespace unwrite::tests {
namespace {

using overlay::DiffSide;
using overlay::LineDiff;

DiffSide file(const std::string& path, const std::string& bytes, std::uint32_t mode = 0100644) {
    return {{path, mode}, bytes};
}

TEST(LineDiff, HasTheFormOfGit) {
    ASSERT_ASSIGN(const LineDiff diff,
                  overlay::line_diff(file("x", "a\nb\nc\n"), file("x", "a\nB\nc\nd"), false, true));
    EXPECT_EQ(diff.text,
              "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,3 +1,4 @@\n a\n-b\n+B\n c\n+d\n\\ No "
              "newline at end of file\n");
    EXPECT_EQ(diff.lines.added, 2U);
    EXPECT_EQ(diff.lines.removed, 1U);
}

TEST(LineDiff, MadeAndRemoved) {
    ASSERT_ASSIGN(const LineDiff made, overlay::line_diff({}, file("x", "a\n"), false, true));
    EXPECT_EQ(
        made.text,
        "diff --git a/x b/x\nnew file mode 100644\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n");
    ASSERT_ASSIGN(const LineDiff gone,
                  overlay::line_diff(file("x", "a", 0100755), {}, false, true));
    EXPECT_EQ(gone.text,
              "diff --git a/x b/x\ndeleted file mode 100755\n--- a/x\n+++ /dev/null\n@@ -1 +0,0 "
              "@@\n-a\n\\ No newline at end of file\n");
    ASSERT_ASSIGN(const LineDiff counted, overlay::line_diff({}, file("x", "a\nb"), false, false));
    EXPECT_EQ(counted.lines.added, 2U);
    EXPECT_EQ(counted.text, "");
}

TEST(LineDiff, RenamesAndModes) {
    ASSERT_ASSIGN(const LineDiff moved,
                  overlay::line_diff(file("x", "", 0100644), file("y", "", 0100755), true, true));
    EXPECT_EQ(moved.text,
              "diff --git a/x b/y\nold mode 100644\nnew mode 100755\nsimilarity index 100%\nrename "
              "from x\nrename to y\n");
    ASSERT_ASSIGN(
        const LineDiff changed,
        overlay::line_diff(file("x", "1\n2\n3\n4\n"), file("y", "1\n2\n3\n5\n"), false, true));
    EXPECT_NE(
        changed.text.find("similarity index 75%\nrename from x\nrename to y\n--- a/x\n+++ b/y\n"),
        std::string::npos);
    ASSERT_ASSIGN(const LineDiff same,
                  overlay::line_diff(file("x", "1\n"), file("x", "1\n"), false, true));
    EXPECT_EQ(same.text, "");
}

TEST(LineDiff, Binary) {
    const std::string nul("a\0b", 3);
    ASSERT_ASSIGN(const LineDiff diff,
                  overlay::line_diff(file("x", nul), file("x", "text"), false, true));
    EXPECT_TRUE(diff.binary);
    EXPECT_EQ(diff.text, "diff --git a/x b/x\nBinary files a/x and b/x differ\n");
    EXPECT_EQ(diff.lines.added, 0U);
    ASSERT_ASSIGN(const LineDiff large,
                  overlay::line_diff({}, {{"x", 0100644}, std::nullopt}, false, true));
    EXPECT_EQ(large.text,
              "diff --git a/x b/x\nnew file mode 100644\nBinary files /dev/null and b/x differ\n");
    EXPECT_FALSE(edit::is_binary(std::string(8000, 'a') + nul));
}

TEST(LineDiff, QuotesNamesAsGitDoes) {
    EXPECT_EQ(edit::quoted_name("a/plain name"), "a/plain name");
    EXPECT_EQ(edit::quoted_name("a/\ttab\nline\"\\"), "\"a/\\ttab\\nline\\\"\\\\\"");
    EXPECT_EQ(edit::quoted_name("a/\xc3\xa4\x01\x7f"), "\"a/\\303\\244\\001\\177\"");
    ASSERT_ASSIGN(const LineDiff spaced,
                  overlay::line_diff(file("x y", "a\n"), file("x y", "b\n"), false, true));
    EXPECT_NE(spaced.text.find("--- a/x y\t\n+++ b/x y\t\n"), std::string::npos);
}

}  // namespace
}  // namespace unwrite::tests
