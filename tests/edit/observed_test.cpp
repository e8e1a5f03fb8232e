#include "edit/observed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace unwrite::edit {
namespace {

using testing::ElementsAre;

constexpr const char* kNotRead =
    "File was not read before editing, or has been modified since last read";

class ObservedFiles : public testing::Test {
 protected:
    std::string check(std::string_view bytes, const std::vector<std::uint64_t>& lines = {},
                      const std::string& session = "s", const std::string& path = "f") {
        auto result = observed.check(session, path, bytes);
        if (result) result = observed.check_lines(session, path, lines);
        if (!result) {
            EXPECT_EQ(result.error().kind(), ErrorKind::kConflict);
            return result.error().message();
        }
        return "";
    }

    Observed observed;
};

TEST(LineSet, RangesAreMergedWhenTheyTouch) {
    LineSet lines;
    lines.add({5, 6});
    lines.add({1, 2});
    lines.add({9, 9});
    EXPECT_THAT(lines.ranges(), ElementsAre(LineRange{1, 2}, LineRange{5, 6}, LineRange{9, 9}));
    lines.add({3, 3});
    EXPECT_THAT(lines.ranges(), ElementsAre(LineRange{1, 3}, LineRange{5, 6}, LineRange{9, 9}));
    lines.add({4, 8});
    EXPECT_THAT(lines.ranges(), ElementsAre(LineRange{1, 9}));
    lines.add({3, 2});
    lines.add({0, 20});
    EXPECT_THAT(lines.ranges(), ElementsAre(LineRange{1, 9}));
    EXPECT_TRUE(lines.contains(9));
    EXPECT_FALSE(lines.contains(10));
}

TEST_F(ObservedFiles, S160_AFileMustHaveBeenRead) {
    EXPECT_EQ(check("1\n"), kNotRead);
    observed.read_all("s", "f", "1\n");
    EXPECT_EQ(check("1\n", {1}), "");
    EXPECT_EQ(check("1\n", {}, "s", "g"), kNotRead);
}

TEST_F(ObservedFiles, S160_EachSessionReadsForItself) {
    observed.read_all("s", "f", "1\n");
    EXPECT_EQ(check("1\n", {}, "t"), kNotRead);
}

TEST_F(ObservedFiles, S160_AChangeSinceIsNoticed) {
    observed.read_all("s", "f", "1\n2\n");
    EXPECT_EQ(check("1\n3\n"), "File content changed since last read");
    EXPECT_EQ(check("1\r\n2\n"), "File content changed since last read");
    EXPECT_EQ(check("1\n2"), "File content changed since last read");
}

TEST_F(ObservedFiles, S160_AnotherMarkIsAWriteWhateverTheBytesAre) {
    const auto mark_checked = [&](const std::string& mark) {
        auto result = observed.check("s", "f", "1\n2\n", mark);
        if (result) result = observed.check_lines("s", "f", {1});
        return result ? "" : result.error().message();
    };
    observed.read("s", "f", "1\n2\n", {1, 1}, "m1");
    EXPECT_EQ(mark_checked("m1"), "");
    EXPECT_EQ(mark_checked("m2"), kNotRead);
    EXPECT_EQ(mark_checked(""), kNotRead);
    observed.read("s", "f", "1\n2\n", {2, 2}, "m2");
    EXPECT_EQ(mark_checked("m2"), "Edit targets line 1 but only lines 2-2 were read");
    observed.read("s", "f", "1\n2\n", {1, 1}, "m2");
    EXPECT_EQ(mark_checked("m2"), "");
    observed.put_back("s", "f", "m3");
    EXPECT_EQ(mark_checked("m3"), "");
    ASSERT_TRUE(observed.edited("s", "f", Content::of("0\n2\n"), Content::of("1\n2\n"), "m4"));
    EXPECT_EQ(mark_checked("m3"), kNotRead);
    EXPECT_EQ(mark_checked("m4"), "");
}

TEST_F(ObservedFiles, S160_AChangeAboveIsToldApart) {
    observed.read("s", "f", "1\n2\n3\n4\n", {3, 4});
    EXPECT_EQ(check("0\n1\n2\n3\n4\n"),
              "Content above line 3 changed since last read (lines may have shifted)");
    EXPECT_EQ(check("1\n2\n3\nX\n"), "File content changed since last read");
    EXPECT_EQ(check(""), "Content above line 3 changed since last read (lines may have shifted)");
}

TEST_F(ObservedFiles, S66_OnlyLinesThatWereReadMayBeEdited) {
    observed.read("s", "f", "1\n2\n3\n4\n", {2, 3});
    EXPECT_EQ(check("1\n2\n3\n4\n", {2, 3}), "");
    EXPECT_EQ(check("1\n2\n3\n4\n", {2, 4}), "Edit targets line 4 but only lines 2-3 were read");
    EXPECT_EQ(check("1\n2\n3\n4\n", {1}), "Edit targets line 1 but only lines 2-3 were read");
}

TEST_F(ObservedFiles, S66_ReadingAddsUpWithoutTheGap) {
    const std::string bytes = "1\n2\n3\n4\n5\n";
    observed.read("s", "f", bytes, {1, 1});
    observed.read("s", "f", bytes, {4, 99});
    EXPECT_EQ(check(bytes, {1, 4, 5}), "");
    EXPECT_EQ(check(bytes, {2}), "Edit targets line 2 but only lines 1-1, 4-5 were read");
}

TEST_F(ObservedFiles, S66_ReadingAgainDoesNotBlessWhatChanged) {
    observed.read("s", "f", "1\n2\n3\n", {1, 1});
    observed.read("s", "f", "X\n2\n3\n", {3, 3});
    EXPECT_EQ(check("X\n2\n3\n", {3}), "");
    EXPECT_EQ(check("X\n2\n3\n", {1}), "Edit targets line 1 but only lines 3-3 were read");
}

TEST_F(ObservedFiles, S66_AnEmptyFileHasBeenSeenWhole) {
    observed.read_all("s", "f", "");
    EXPECT_EQ(check("", {1}), "");
    observed.read("s", "g", "", {1, 1});
    EXPECT_EQ(check("", {1}, "s", "g"), "");
    observed.read("s", "h", "1\n", {5, 9});
    EXPECT_EQ(check("1\n", {}, "s", "h"), kNotRead);
}

TEST_F(ObservedFiles, S66_AnEditKeepsWhatWasSeenWhereItIsNow) {
    const std::string before = "1\n2\n3\n4\n5\n6\n";
    observed.read("s", "f", before, {2, 4});
    const std::string after = "1\n2\na\nb\nc\n4\n5\n6\n";
    ASSERT_TRUE(observed.edited("s", "f", Content::of(before), Content::of(after)));
    EXPECT_EQ(check(after, {2, 3, 4, 5, 6}), "");
    EXPECT_EQ(check(after, {1}), "Edit targets line 1 but only lines 2-6 were read");
    EXPECT_EQ(check(after, {7}), "Edit targets line 7 but only lines 2-6 were read");
}

TEST_F(ObservedFiles, S66_AnEditThatRemovesLinesMovesTheRest) {
    const std::string before = "1\n2\n3\n4\n5\n";
    observed.read("s", "f", before, {2, 5});
    ASSERT_TRUE(observed.edited("s", "f", Content::of(before), Content::of("1\n4\n5\n")));
    EXPECT_EQ(check("1\n4\n5\n", {2, 3}), "");
    EXPECT_EQ(check("1\n4\n5\n", {1}), "Edit targets line 1 but only lines 2-3 were read");
}

TEST_F(ObservedFiles, S66_AnEmptiedOrCreatedFileCanBeEditedOn) {
    observed.read_all("s", "f", "1\n");
    ASSERT_TRUE(observed.edited("s", "f", Content::of("1\n"), Content::of("")));
    EXPECT_EQ(check("", {1}), "");
    ASSERT_TRUE(observed.edited("s", "g", Content::of(""), Content::of("1\n2\n")));
    EXPECT_EQ(check("1\n2\n", {1, 2}, "s", "g"), "");
}

TEST_F(ObservedFiles, S66_LineEndingsAloneAreNoNewLines) {
    observed.read("s", "f", "1\n2\r\n3\n", {2, 2});
    ASSERT_TRUE(observed.edited("s", "f", Content::of("1\n2\r\n3\n"), Content::of("1\n2\n3\n")));
    EXPECT_EQ(check("1\n2\n3\n", {1}), "Edit targets line 1 but only lines 2-2 were read");
}

TEST_F(ObservedFiles, S66_OtherSessionsHaveNotSeenAnEdit) {
    observed.read_all("s", "f", "1\n");
    observed.read_all("t", "f", "1\n");
    ASSERT_TRUE(observed.edited("s", "f", Content::of("1\n"), Content::of("2\n")));
    EXPECT_EQ(check("2\n", {1}, "s"), "");
    EXPECT_EQ(check("2\n", {}, "t"), kNotRead);
    // Not even when the bytes are back.
    EXPECT_EQ(check("1\n", {}, "t"), kNotRead);
}

TEST_F(ObservedFiles, S19_ForgottenFilesMustBeReadAgain) {
    for (const char* path : {"d", "d/f", "d/e/g", "dd", "d f"})
        observed.read_all("s", path, "1\n");
    observed.read_all("t", "d/f", "1\n");
    observed.forget("d");
    for (const char* path : {"d", "d/f", "d/e/g"})
        EXPECT_EQ(check("1\n", {}, "s", path), kNotRead) << path;
    EXPECT_EQ(check("1\n", {}, "t", "d/f"), kNotRead);
    EXPECT_EQ(check("1\n", {}, "s", "dd"), "");
    EXPECT_EQ(check("1\n", {}, "s", "d f"), "");
}

TEST_F(ObservedFiles, S66_AForeignWriteIsForgottenByTheOthers) {
    observed.read_all("s", "f", "1\n");
    observed.read_all("t", "f", "1\n");
    observed.forget_for_others("s", "f");
    EXPECT_EQ(check("1\n", {}, "s"), "");
    EXPECT_EQ(check("1\n", {}, "t"), kNotRead);
}

TEST_F(ObservedFiles, S66_SessionsEnd) {
    observed.read_all("s", "f", "1\n");
    observed.read_all("t", "f", "1\n");
    observed.end_session("s");
    EXPECT_EQ(check("1\n", {}, "s"), kNotRead);
    EXPECT_EQ(check("1\n", {}, "t"), "");
    observed.forget_all();
    EXPECT_EQ(check("1\n", {}, "t"), kNotRead);
}

}  // namespace
}  // namespace unwrite::edit
