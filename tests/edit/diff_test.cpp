#include "edit/diff.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "edit/line_changes.h"
#include "edit/patch_names.h"
#include "edit/unified_patch.h"
#include "tests/edit/random.h"

namespace unwrite::edit {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::string unified(std::string_view older, std::string_view newer) {
    auto text = unified_diff({"f", older}, {"f", newer});
    return text ? *std::move(text) : "error: " + text.error().message();
}

std::string numbered(std::string_view older, std::string_view newer) {
    auto text = numbered_diff(older, newer);
    return text ? *std::move(text) : "error: " + text.error().message();
}

std::string count_up(int last) {
    std::string text;
    for (int i = 1; i <= last; ++i)
        text += std::to_string(i) + "\n";
    return text;
}

TEST(LineChanges, AreNumberedFromOne) {
    EXPECT_THAT(*line_changes("a\nb\nc\n", "a\nx\ny\nc\n"), ElementsAre(LineChange{2, 1, 2, 2}));
    EXPECT_THAT(*line_changes("a\nb\n", "b\n"), ElementsAre(LineChange{1, 1, 1, 0}));
    EXPECT_THAT(*line_changes("b\n", "a\nb\n"), ElementsAre(LineChange{1, 0, 1, 1}));
    EXPECT_THAT(*line_changes("a\n", "a\nb\n"), ElementsAre(LineChange{2, 0, 2, 1}));
    EXPECT_THAT(*line_changes("", "a\n"), ElementsAre(LineChange{1, 0, 1, 1}));
    EXPECT_THAT(*line_changes("a\n", ""), ElementsAre(LineChange{1, 1, 1, 0}));
    EXPECT_THAT(*line_changes("a\n", "a\n"), IsEmpty());
    EXPECT_THAT(*line_changes("a", "a\n"), ElementsAre(LineChange{1, 1, 1, 1}));
}

TEST(LineChanges, AreFoundFarInsideOfLongTexts) {
    const std::string long_text = count_up(3000);
    const auto with = [&](const std::string& line, const std::string& instead) {
        std::string text = long_text;
        const std::string whole = "\n" + line + "\n";
        return text.replace(text.find(whole), whole.size(), "\n" + instead);
    };
    EXPECT_THAT(*line_changes(long_text, with("1500", "x\n")),
                ElementsAre(LineChange{1500, 1, 1500, 1}));
    EXPECT_THAT(*line_changes(long_text, with("1500", "")),
                ElementsAre(LineChange{1500, 1, 1500, 0}));
    EXPECT_THAT(*line_changes(long_text, with("1500", "1500\nx\n")),
                ElementsAre(LineChange{1501, 0, 1501, 1}));
    EXPECT_THAT(*line_changes(long_text, long_text + "x"),
                ElementsAre(LineChange{3001, 0, 3001, 1}));
    EXPECT_THAT(*line_changes(long_text, long_text.substr(0, long_text.size() - 1)),
                ElementsAre(LineChange{3000, 1, 3000, 1}));
    EXPECT_THAT(*line_changes(long_text, "x\n" + long_text), ElementsAre(LineChange{1, 0, 1, 1}));
    EXPECT_THAT(*line_changes(with("100", "x\n"), with("2900", "y\n")),
                ElementsAre(LineChange{100, 1, 100, 1}, LineChange{2900, 1, 2900, 1}));
}

// The newer text out of the older one, the changes, and only those lines of the newer one that they
// name.
std::string changed(std::string_view older, std::string_view newer) {
    const auto old_lines = split_lines(older);
    const auto new_lines = split_lines(newer);
    std::string text;
    std::size_t at = 0;
    const auto changes = line_changes(older, newer);
    for (const LineChange& change : *changes) {
        while (at + 1 < change.old_start)
            text += old_lines.at(at++);
        at += change.old_count;
        for (std::size_t i = 0; i < change.new_count; ++i)
            text += new_lines.at(change.new_start - 1 + i);
    }
    while (at < old_lines.size())
        text += old_lines.at(at++);
    return text;
}

TEST(LineChanges, AreAllThatDiffersBetweenLongTexts) {
    Random random(20261122);
    SCOPED_TRACE(random.trace());
    for (int round = 0; round < 300; ++round) {
        const auto lines = [&](std::size_t most) {
            std::string text;
            for (std::size_t i = random.below(most); i > 0; --i)
                text += random.chance(2) ? "a\n" : "\n";
            return text;
        };
        const std::string before = lines(500);
        const std::string after = lines(500) + (random.chance(2) ? "end" : "");
        const std::string older = before + lines(20) + after;
        const std::string newer = before + lines(20) + after + (random.chance(9) ? "\n" : "");
        ASSERT_EQ(changed(older, newer), newer) << older;
    }
}

TEST(NumberedDiff, S161_OneLineOfContext) {
    EXPECT_EQ(numbered("1\n2\n3\n4\n5\n", "1\n2\nx\n4\n5\n"), "2  2\n3 -3\n3 +x\n4  4\n");
    EXPECT_EQ(numbered("1\n", "x\n1\n"), "1 +x\n2  1\n");
    EXPECT_EQ(numbered("1\n2\n", "1\n"), "1  1\n2 -2\n");
    EXPECT_EQ(numbered("", "a\nb"), "1 +a\n2 +b\n");
    EXPECT_EQ(numbered("a\n", "a\n"), "");
}

TEST(NumberedDiff, S161_NumbersAreToTheRight) {
    std::string newer = count_up(12);
    newer.replace(newer.find("9\n"), 2, "x\n");
    EXPECT_EQ(numbered(count_up(12), newer), " 8  8\n 9 -9\n 9 +x\n10  10\n");
}

TEST(NumberedDiff, S161_AGapOfMoreThanThreeLinesIsNotShown) {
    const auto with = [](int second) {
        std::string text;
        for (int i = 1; i <= 20; ++i)
            text += (i == 5 || i == second ? "x" : std::to_string(i)) + "\n";
        return numbered(count_up(20), text);
    };
    EXPECT_EQ(with(11),
              " 4  4\n 5 -5\n 5 +x\n 6  6\n 7  7\n 8  8\n 9  9\n10  10\n11 -11\n11 +x\n12  12\n");
    EXPECT_EQ(with(12), " 4  4\n 5 -5\n 5 +x\n 6  6\n...\n11  11\n12 -12\n12 +x\n13  13\n");
    EXPECT_EQ(with(7), " 4  4\n 5 -5\n 5 +x\n 6  6\n 7 -7\n 7 +x\n 8  8\n");
}

TEST(NumberedDiff, S161_EndingsAreNotShown) {
    EXPECT_EQ(numbered("a\r\nb\r\n", "a\r\nc"), "1  a\n2 -b\n2 +c\n");
}

TEST(UnifiedDiff, HunksWithThreeLinesOfContext) {
    std::string newer = count_up(20);
    newer.replace(newer.find("5\n"), 2, "x\ny\n");
    EXPECT_EQ(unified(count_up(20), newer),
              "diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -2,7 +2,8 @@\n 2\n 3\n 4\n-5\n+x\n+y\n 6\n "
              "7\n 8\n");
}

TEST(UnifiedDiff, ChangesWhoseContextsTouchAreOneHunk) {
    const auto hunks = [](int second) {
        std::string text;
        for (int i = 1; i <= 30; ++i)
            text += (i == 5 || i == second ? "x" : std::to_string(i)) + "\n";
        const auto patch = parse_unified(unified(count_up(30), text));
        return patch->front().hunks.size();
    };
    EXPECT_EQ(hunks(12), 1U);
    EXPECT_EQ(hunks(13), 2U);
}

TEST(UnifiedDiff, CreatedDeletedModesAndNames) {
    EXPECT_EQ(
        *unified_diff({"f", std::nullopt}, {"f", "a\n", true}),
        "diff --git a/f b/f\nnew file mode 100755\n--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+a\n");
    EXPECT_EQ(*unified_diff({"f", "a"}, {"f", std::nullopt}),
              "diff --git a/f b/f\ndeleted file mode 100644\n--- a/f\n+++ /dev/null\n@@ -1 +0,0 "
              "@@\n-a\n\\ No newline at end of file\n");
    EXPECT_EQ(*unified_diff({"f", "a"}, {"f", "a", true}),
              "diff --git a/f b/f\nold mode 100644\nnew mode 100755\n");
    EXPECT_EQ(*unified_diff({"f", "a"}, {"g", "a"}),
              "diff --git a/f b/g\nrename from f\nrename to g\n");
    EXPECT_EQ(*unified_diff({"f", std::nullopt}, {"f", ""}),
              "diff --git a/f b/f\nnew file mode 100644\n");
    EXPECT_EQ(*unified_diff({"f", "a"}, {"f", "a"}), "");
    EXPECT_EQ(*unified_diff({"f", std::string_view("\0", 1)}, {"f", "a"}),
              "diff --git a/f b/f\nBinary files a/f and b/f differ\n");
}

TEST(PatchNames, QuotedAsGitDoes) {
    EXPECT_EQ(quoted_name("a b"), "a b");
    EXPECT_EQ(quoted_name("a\"b\\c\nd\te"), "\"a\\\"b\\\\c\\nd\\te\"");
    EXPECT_EQ(quoted_name("\xc3\xa4\x01"), "\"\\303\\244\\001\"");
}

TEST(PatchNames, AnyNameIsReadBack) {
    Random random(5);
    SCOPED_TRACE(random.trace());
    for (int i = 0; i < 3000; ++i) {
        const std::string name = "\n" + random.bytes(20);
        const std::string text = quoted_name(name);
        const auto read = unquoted_name(text + "rest");
        ASSERT_TRUE(read);
        ASSERT_EQ(read->name, name);
        ASSERT_EQ(read->length, text.size());
    }
}

TEST(PatchNames, WrongQuotesAreNone) {
    for (const char* text : {"\"abc", "\"a\\", "\"a\\x\"", "\"\\40\"", "\"\\777\"", "\"\\18a\""})
        EXPECT_FALSE(unquoted_name(text)) << text;
}

// A diff applied to the older text gives the newer one, byte for byte, and the reverse by parts.
TEST(UnifiedDiff, AppliedGivesTheNewerText) {
    Random random(6);
    SCOPED_TRACE(random.trace());
    for (int i = 0; i < 5000; ++i) {
        const std::string older = random.text(30, {"\n", "\n", "\r\n", "\r"});
        std::string newer = older;
        for (std::size_t changes = random.below(4); changes > 0; --changes) {
            const std::size_t at = random.below(newer.size() + 1);
            newer.replace(at, random.below(4), random.text(2, {"\n", "\r\n"}));
        }
        const std::string text = unified(older, newer);
        if (older == newer) {
            ASSERT_EQ(text, "");
            continue;
        }
        const auto patch = parse_unified(text);
        ASSERT_TRUE(patch) << patch.error().message() << "\n" << text;
        ASSERT_EQ(patch->size(), 1U);
        const auto applied = apply_hunks(patch->front().hunks, older);
        ASSERT_TRUE(applied) << applied.error().message() << "\n" << text;
        ASSERT_EQ(*applied, newer) << text;
    }
}

}  // namespace
}  // namespace unwrite::edit
