#include <gtest/gtest.h>

#include "edit/span_edit.h"
#include "tests/edit/random.h"

namespace unwrite::edit {
namespace {

SpanEdit lines(std::string_view bytes, LineRange range, std::string content) {
    LineRequest asked;
    asked.path = "f";
    asked.lines = range;
    asked.new_content = std::move(content);
    return apply_lines(asked, bytes, {});
}

TEST(LineEdit, S154_IT_SFE_LINE_01_ReplacesExactlyTheLines) {
    const SpanEdit edit = lines("1\n2\n3\n4\n", {2, 3}, "x\ny\nz\n");
    ASSERT_EQ(edit.response.status, EditStatus::kOk);
    EXPECT_EQ(edit.bytes, "1\nx\ny\nz\n4\n");
    EXPECT_EQ(edit.response.action, EditAction::kLines);
    EXPECT_EQ(*edit.response.lines, (LineRange{2, 3}));
    EXPECT_EQ(edit.response.replaced->start, 2U);
    EXPECT_EQ(edit.response.replaced->end, 6U);
}

TEST(LineEdit, S154_TheLastNewlineIsAddedWhereThereWasOne) {
    EXPECT_EQ(lines("1\n2\n3\n", {2, 2}, "x").bytes, "1\nx\n3\n");
    EXPECT_EQ(lines("1\n2\n3", {3, 3}, "x").bytes, "1\n2\nx");
    EXPECT_EQ(lines("1\n2\n3", {3, 3}, "x\n").bytes, "1\n2\nx\n");
    EXPECT_EQ(lines("1\r\n2\r\n", {2, 2}, "x").bytes, "1\r\nx\r\n");
}

TEST(LineEdit, S154_EmptyContentRemovesTheLines) {
    EXPECT_EQ(lines("1\n2\n3\n", {1, 2}, "").bytes, "3\n");
    EXPECT_EQ(lines("1\n2", {2, 2}, "").bytes, "1\n");
    EXPECT_EQ(lines("1\n2\n", {1, 2}, "").bytes, "");
}

TEST(LineEdit, S136_ContentIsWrittenInTheDominantEnding) {
    EXPECT_EQ(lines("1\r\n2\r\n3\n", {2, 2}, "x\ny").bytes, "1\r\nx\r\ny\r\n3\n");
    EXPECT_EQ(lines("1\r2\r", {1, 1}, "x\r\ny").bytes, "x\ry\r2\r");
}

TEST(LineEdit, S131_ARangeBeyondTheFileIsAnError) {
    for (const LineRange range : {LineRange{2, 4}, LineRange{4, 4}, LineRange{0, 1},
                                  LineRange{3, 2}, LineRange{1, ~0ULL}}) {
        const SpanEdit edit = lines("1\n2\n3\n", range, "x");
        EXPECT_EQ(edit.response.status, EditStatus::kError);
        EXPECT_EQ(edit.bytes, "");
        EXPECT_EQ(edit.response.hash_after, digest_of("1\n2\n3\n"));
    }
}

TEST(LineEdit, S154_AnEmptyFileHasOneRange) {
    EXPECT_EQ(lines("", {1, 1}, "x\n").bytes, "x\n");
    EXPECT_EQ(lines("", {1, 1}, "x").bytes, "x");
    EXPECT_EQ(lines("", {1, 2}, "x").response.status, EditStatus::kError);
}

TEST(LineEdit, S145_LineEndingsThatWouldMeetAreAnError) {
    EXPECT_EQ(lines("1\r2\r\n3\r4\r\n\r\n", {2, 2}, "\n").response.status, EditStatus::kOk);
    EXPECT_EQ(lines("1\rX\r3\n\n", {2, 3}, "").response.status, EditStatus::kError);
}

TEST(LineEdit, S150_AStaleHashIsRefused) {
    LineRequest asked;
    asked.path = "f";
    asked.lines = {1, 1};
    asked.new_content = "x";
    asked.file_hash = to_text(digest_of("other"));
    EXPECT_EQ(apply_lines(asked, "1\n", {}).response.status, EditStatus::kStaleFile);
    asked.file_hash = to_text(digest_of("1\n"));
    EXPECT_EQ(apply_lines(asked, "1\n", {}).bytes, "x\n");
}

TEST(LineEdit, S154_OtherLinesStay) {
    Random random(2);
    SCOPED_TRACE(random.trace());
    std::size_t applied = 0;
    for (int i = 0; i < 20000; ++i) {
        const std::string bytes = random.text(8, {"\n", "\r\n", "\r"});
        const CanonicalView view(bytes);
        if (view.line_count() == 0) continue;
        const std::uint64_t start = random.below(view.line_count()) + 1;
        const std::uint64_t end = start + random.below(view.line_count() - start + 1);
        const SpanEdit edit = lines(bytes, {start, end}, random.text(3, {"\n", "\r\n", "\r"}));
        if (edit.response.status != EditStatus::kOk) continue;
        ++applied;
        const std::size_t before = view.original_offset(view.line_begin(start));
        const std::size_t after = bytes.size() - view.original_offset(view.line_end(end));
        ASSERT_EQ(edit.bytes.substr(0, before), bytes.substr(0, before));
        ASSERT_GE(edit.bytes.size(), before + after);
        ASSERT_EQ(edit.bytes.substr(edit.bytes.size() - after), bytes.substr(bytes.size() - after));
    }
    EXPECT_GT(applied, 10000U);
}

TEST(LineEdit, S154_AByteOrderMarkStays) {
    EXPECT_EQ(lines("\xef\xbb\xbfone\r\ntwo\r\n", {1, 1}, "eins").bytes,
              "\xef\xbb\xbf"
              "eins\r\ntwo\r\n");
    EXPECT_EQ(lines("\xef\xbb\xbfone\n", {1, 1}, "\xef\xbb\xbfx\n").bytes, "\xef\xbb\xbfx\n");
}

TEST(LineEdit, S132_ARangeBeyondTheFileSaysHowToAppend) {
    const EditResponse beyond = lines("1\n2\n3\n", {4, 4}, "x").response;
    EXPECT_EQ(beyond.message, "Bad args: line 4 is not in the file, which has 3 lines");
    EXPECT_EQ(
        beyond.next,
        "Give lines from 1 to 3. To add lines at the end, replace line 3 with its own text and "
        "the new lines.");
    EXPECT_EQ(lines("1\n", {1, 9}, "x").response.message,
              "Bad args: lines 1-9 are not in the file, which has 1 line");
    const EditResponse empty = lines("", {2, 2}, "x").response;
    EXPECT_EQ(empty.message, "Bad args: line 2 is not in the file, which has 0 lines");
    EXPECT_EQ(empty.next, "The file is empty. Give start_line 1 and end_line 1.");
}

}  // namespace
}  // namespace unwrite::edit
