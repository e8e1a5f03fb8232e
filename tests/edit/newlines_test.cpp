#include "edit/newlines.h"

#include <gtest/gtest.h>

namespace unwrite::edit {
namespace {

Newline kind_of(std::string_view bytes) {
    return dominant(count_newlines(bytes));
}

TEST(Newlines, S135_CountsEachKind) {
    const NewlineCounts counts = count_newlines("a\nb\r\nc\rd\r\r\n\n");
    EXPECT_EQ(counts.lf, 2U);
    EXPECT_EQ(counts.crlf, 2U);
    EXPECT_EQ(counts.cr, 2U);
}

TEST(Newlines, S135_CrAtTheEndIsAnEnding) {
    EXPECT_EQ(count_newlines("a\r").cr, 1U);
    EXPECT_EQ(count_newlines("a\r").crlf, 0U);
}

TEST(Newlines, S135_TheMostFrequentIsDominant) {
    EXPECT_EQ(kind_of("a\nb\nc\r\n"), Newline::kLf);
    EXPECT_EQ(kind_of("a\r\nb\r\nc\n"), Newline::kCrlf);
    EXPECT_EQ(kind_of("a\rb\rc\n"), Newline::kCr);
    EXPECT_EQ(kind_of("a\rb\rc\r\n"), Newline::kCr);
}

TEST(Newlines, S137_TiesAreCrlfBeforeLfBeforeCr) {
    EXPECT_EQ(kind_of("a\nb\r\n"), Newline::kCrlf);
    EXPECT_EQ(kind_of("a\rb\n"), Newline::kLf);
    EXPECT_EQ(kind_of("a\rb\r\n"), Newline::kCrlf);
    EXPECT_EQ(kind_of("a\rb\nc\r\n"), Newline::kCrlf);
}

TEST(Newlines, S135_NoEndingCountsAsLf) {
    EXPECT_EQ(kind_of(""), Newline::kLf);
    EXPECT_EQ(kind_of("abc"), Newline::kLf);
    EXPECT_EQ(name_of(Newline::kNone), "LF");
}

TEST(Newlines, S136_AllEndingsBecomeOneKind) {
    EXPECT_EQ(with_newlines("a\nb\r\nc\rd", Newline::kCrlf), "a\r\nb\r\nc\r\nd");
    EXPECT_EQ(with_newlines("a\nb\r\nc\r", Newline::kCr), "a\rb\rc\r");
    EXPECT_EQ(with_newlines("a\nb\r\nc\r", Newline::kLf), "a\nb\nc\n");
}

TEST(Newlines, S133_TheViewHasOnlyLf) {
    EXPECT_EQ(CanonicalView("a\r\nb\rc\nd").text(), "a\nb\nc\nd");
    EXPECT_EQ(CanonicalView("").text(), "");
    EXPECT_EQ(CanonicalView("\r\r\n\n").text(), "\n\n\n");
}

TEST(Newlines, S134_OffsetsLeadBackToTheBytes) {
    const std::string bytes = "a\r\nbc\rd\ne\r\n";
    const CanonicalView view(bytes);
    ASSERT_EQ(view.text(), "a\nbc\nd\ne\n");
    const std::vector<std::size_t> expected = {0, 1, 3, 4, 5, 6, 7, 8, 9, 11};
    for (std::size_t at = 0; at <= view.text().size(); ++at)
        EXPECT_EQ(view.original_offset(at), expected[at]) << at;
}

TEST(Newlines, S133_LinesIncludeTheirEndings) {
    const CanonicalView view("a\r\n\nlast");
    ASSERT_EQ(view.line_count(), 3U);
    EXPECT_EQ(view.line(1), "a");
    EXPECT_EQ(view.line(2), "");
    EXPECT_EQ(view.line(3), "last");
    EXPECT_EQ(view.line_begin(2), 2U);
    EXPECT_EQ(view.line_end(2), 3U);
    EXPECT_EQ(view.line_end(3), view.text().size());
    EXPECT_EQ(view.line_of(0), 1U);
    EXPECT_EQ(view.line_of(1), 1U);
    EXPECT_EQ(view.line_of(2), 2U);
    EXPECT_EQ(view.line_of(view.text().size()), 3U);
}

TEST(Newlines, S133_ACompleteLastLineIsNotFollowedByAnother) {
    EXPECT_EQ(CanonicalView("a\n").line_count(), 1U);
    EXPECT_EQ(CanonicalView("\n").line_count(), 1U);
    EXPECT_EQ(CanonicalView("").line_count(), 0U);
    EXPECT_EQ(CanonicalView("a\n\n").line_count(), 2U);
}

}  // namespace
}  // namespace unwrite::edit
