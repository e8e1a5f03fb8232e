#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "edit/span_edit.h"
#include "tests/edit/random.h"

namespace unwrite::edit {
namespace {

using testing::ElementsAre;

SnippetRequest request(std::string older, std::string newer) {
    SnippetRequest made;
    made.path = "f";
    made.old_snippet = std::move(older);
    made.new_snippet = std::move(newer);
    return made;
}

SpanEdit snippet(std::string_view bytes, std::string older, std::string newer) {
    return apply_snippet(request(std::move(older), std::move(newer)), bytes, {});
}

SpanEdit hinted(std::string_view bytes, std::string older, LineRange lines) {
    SnippetRequest asked = request(std::move(older), "NEW");
    asked.match_hint = lines;
    return apply_snippet(asked, bytes, {});
}

TEST(SnippetEdit, S148_T_SFE_NL_01_CrlfStaysCrlf) {
    const SpanEdit edit = snippet("one\r\ntwo\r\nthree\r\n", "two\n", "2a\n2b\n");
    ASSERT_EQ(edit.response.status, EditStatus::kOk);
    EXPECT_EQ(edit.bytes, "one\r\n2a\r\n2b\r\nthree\r\n");
    EXPECT_EQ(edit.response.newline, Newline::kCrlf);
}

TEST(SnippetEdit, S149_T_SFE_NL_02_MixedChoosesTheDominantAndTies) {
    EXPECT_EQ(snippet("a\nb\nc\r\nX", "X", "1\n2").bytes, "a\nb\nc\r\n1\n2");
    EXPECT_EQ(snippet("a\rb\rc\nX", "X", "1\n2").bytes, "a\rb\rc\n1\r2");
    EXPECT_EQ(snippet("a\nc\r\nX", "X", "1\n2").bytes, "a\nc\r\n1\r\n2");
    EXPECT_EQ(snippet("a\rc\nX", "X", "1\n2").bytes, "a\rc\n1\n2");
    EXPECT_EQ(snippet("X", "X", "1\n2").bytes, "1\n2");
}

TEST(SnippetEdit, S153_IT_SFE_E2E_01_LfInputMatchesACrlfFile) {
    const SpanEdit edit = snippet("a\r\nb\r\nc\r\nd\r\n", "b\nc", "x\ny\nz");
    ASSERT_EQ(edit.response.status, EditStatus::kOk);
    EXPECT_EQ(edit.bytes, "a\r\nx\r\ny\r\nz\r\nd\r\n");
    ASSERT_TRUE(edit.response.lines);
    EXPECT_EQ(*edit.response.lines, (LineRange{2, 3}));
    ASSERT_TRUE(edit.response.replaced);
    EXPECT_EQ(edit.response.replaced->start, 3U);
    EXPECT_EQ(edit.response.replaced->end, 7U);
    EXPECT_EQ(edit.response.bytes_written, 7U);
}

TEST(SnippetEdit, S136_AnyEndingInTheRequestIsConverted) {
    EXPECT_EQ(snippet("a\r\nb\r\n", "a\r\nb", "1\r2\n3\r\n4").bytes, "1\r\n2\r\n3\r\n4\r\n");
    EXPECT_EQ(snippet("a\nb\n", "a\r\nb", "1\r2\r\n3").bytes, "1\n2\n3\n");
}

TEST(SnippetEdit, S134_TheSpanCoversTheWholeCrlf) {
    const SpanEdit edit = snippet("a\r\nb\r\nc", "b\n", "");
    EXPECT_EQ(edit.bytes, "a\r\nc");
    EXPECT_EQ(edit.response.replaced->end - edit.response.replaced->start, 3U);
}

TEST(SnippetEdit, S132_HashesBeforeAndAfter) {
    const SpanEdit edit = snippet("abc\n", "b", "x");
    EXPECT_EQ(edit.response.hash_before, digest_of("abc\n"));
    EXPECT_EQ(edit.response.hash_after, digest_of("axc\n"));
    EXPECT_EQ(edit.response.newline, Newline::kLf);
}

TEST(SnippetEdit, S150_T_SFE_STALE_01_AStaleHashIsRefused) {
    SnippetRequest asked = request("b", "x");
    asked.file_hash = to_text(digest_of("what it was\n"));
    const SpanEdit edit = apply_snippet(asked, "abc\n", {});
    EXPECT_EQ(edit.response.status, EditStatus::kStaleFile);
    EXPECT_EQ(edit.bytes, "");
    EXPECT_EQ(edit.response.hash_after, digest_of("abc\n"));
    EXPECT_FALSE(edit.response.lines);
}

TEST(SnippetEdit, S138_TheHashIsTakenWithAndWithoutItsPrefix) {
    SnippetRequest asked = request("b", "x");
    asked.file_hash = to_text(digest_of("abc\n"));
    EXPECT_EQ(apply_snippet(asked, "abc\n", {}).bytes, "axc\n");
    asked.file_hash = to_text(digest_of("abc\n")).substr(7);
    EXPECT_EQ(apply_snippet(asked, "abc\n", {}).bytes, "axc\n");
    asked.file_hash = "sha256:abc";
    EXPECT_EQ(apply_snippet(asked, "abc\n", {}).response.status, EditStatus::kError);
}

TEST(SnippetEdit, S139_SeveralMatchesWithoutAHintAreAnError) {
    const SpanEdit edit = snippet("x\ny\nx\n", "x", "z");
    EXPECT_EQ(edit.response.status, EditStatus::kError);
    EXPECT_EQ(edit.response.message, "Match is not unique (2 matches)");
    ASSERT_EQ(edit.response.candidates.size(), 2U);
    EXPECT_EQ(edit.response.candidates[0].line, 1U);
    EXPECT_EQ(edit.response.candidates[1].line, 3U);
}

TEST(SnippetEdit, S139_OverlappingMatchesAreCounted) {
    EXPECT_EQ(snippet("aaa", "aa", "b").response.message, "Match is not unique (2 matches)");
    EXPECT_EQ(snippet("abababa", "aba", "b").response.message, "Match is not unique (3 matches)");
}

TEST(SnippetEdit, S151_T_SFE_HINT_01_TheHintRestricts) {
    EXPECT_EQ(hinted("x\ny\nx\n", "x", {1, 2}).bytes, "NEW\ny\nx\n");
    EXPECT_EQ(hinted("x\ny\nx\n", "x", {2, 3}).bytes, "x\ny\nNEW\n");
    EXPECT_EQ(hinted("x\ny\nx\n", "x", {3, 99}).bytes, "x\ny\nNEW\n");
}

TEST(SnippetEdit, S139_NoFallBackOutsideTheHint) {
    for (const LineRange lines : {LineRange{2, 2}, LineRange{4, 9}}) {
        const SpanEdit edit = hinted("x\ny\nx\n", "x", lines);
        EXPECT_EQ(edit.response.status, EditStatus::kNoMatch);
        EXPECT_EQ(edit.bytes, "");
    }
    EXPECT_EQ(hinted("x\ny\n", "x", {2, 2}).response.status, EditStatus::kNoMatch);
}

TEST(SnippetEdit, S139_AMatchMustLieWhollyInTheHint) {
    EXPECT_EQ(hinted("a\nb\nc\n", "a\nb", {2, 3}).response.status, EditStatus::kNoMatch);
    EXPECT_EQ(hinted("a\nb\nc\n", "a\nb", {1, 1}).response.status, EditStatus::kNoMatch);
    EXPECT_EQ(hinted("a\nb\nc\n", "a\nb", {1, 2}).response.status, EditStatus::kOk);
    EXPECT_EQ(hinted("a\nb\nc\n", "a\n", {1, 1}).response.status, EditStatus::kOk);
}

TEST(SnippetEdit, S139_SeveralMatchesInTheHintAreAnError) {
    EXPECT_EQ(hinted("x\nx\nx\n", "x", {1, 2}).response.message,
              "Match is not unique (2 matches in lines 1-2)");
}

TEST(SnippetEdit, S140_CandidatesComeByWhiteSpaceThenLikeness) {
    const SpanEdit edit = snippet("return  foo( a );\nreturn foo(b);\nnothing alike\n  int x;\n",
                                  "\n return foo( a );\nmore", "z");
    EXPECT_EQ(edit.response.status, EditStatus::kNoMatch);
    EXPECT_EQ(edit.response.message, "Match not found");
    ASSERT_EQ(edit.response.candidates.size(), 2U);
    EXPECT_EQ(edit.response.candidates[0].line, 1U);
    EXPECT_EQ(edit.response.candidates[0].score, 1.0);
    EXPECT_EQ(edit.response.candidates[0].preview, "return  foo( a );");
    EXPECT_EQ(edit.response.candidates[1].line, 2U);
    EXPECT_LT(edit.response.candidates[1].score, 1.0);
}

TEST(SnippetEdit, S140_CandidatesAreFewAndShort) {
    std::string text;
    for (int i = 0; i < 50; ++i)
        text += "the same  line " + std::string(200, 'x') + "\n";
    const SpanEdit edit = snippet(text, "the same line " + std::string(200, 'x'), "z");
    ASSERT_EQ(edit.response.candidates.size(), kMaxCandidates);
    for (const Candidate& candidate : edit.response.candidates)
        EXPECT_EQ(candidate.preview.size(), kMaxPreview);
}

TEST(SnippetEdit, S140_TheBestCandidatesAreKept) {
    const std::string wanted = "abcdefghijklmnopqrst";
    std::string text;
    for (std::size_t length = 9; length < 19; ++length)
        text += wanted.substr(0, length) + "\n";
    const SpanEdit edit = snippet(text, wanted, "z");
    std::vector<std::uint64_t> lines;
    for (const Candidate& candidate : edit.response.candidates)
        lines.push_back(candidate.line);
    EXPECT_THAT(lines, ElementsAre(10U, 9U, 8U, 7U, 6U));
}

TEST(SnippetEdit, S140_APreviewEndsBetweenCharacters) {
    std::string line(119, 'x');
    line += "\xe2\x82\xac and more";
    const SpanEdit edit = snippet(line + "\n", line + " ", "z");
    ASSERT_EQ(edit.response.candidates.size(), 1U);
    EXPECT_EQ(edit.response.candidates[0].preview, std::string(119, 'x'));
}

// Linear, whatever repeats: with a search that starts over this takes minutes.
TEST(SnippetEdit, S134_RepetitiveTextsAreSearchedInLinearTime) {
    const SpanEdit edit = snippet(std::string(200000, 'a'), std::string(100000, 'a') + "b", "z");
    EXPECT_EQ(edit.response.status, EditStatus::kNoMatch);
    EXPECT_EQ(snippet(std::string(200000, 'a'), std::string(100000, 'a'), "z").response.message,
              "Match is not unique (100001 matches)");
}

TEST(SnippetEdit, S145_LineEndingsThatWouldMeetAreAnError) {
    EXPECT_EQ(snippet("a\rX\nc", "X", "").response.status, EditStatus::kError);
    EXPECT_EQ(snippet("a\rb\rX\nc", "X", "y\n").response.status, EditStatus::kError);
    EXPECT_EQ(snippet("a\nb\nc\rX", "X", "\ny").response.message,
              "The replacement would join two line endings into one");
}

TEST(SnippetEdit, S144_LinesThatMayNotBeEditedAreStale) {
    std::vector<std::uint64_t> asked;
    const SpanEdit edit = apply_snippet(request("b\nc", "x"), "a\nb\nc\n",
                                        [&](const std::vector<std::uint64_t>& lines) -> Result<> {
                                            asked = lines;
                                            return Error(ErrorKind::kConflict, 0, "not read");
                                        });
    EXPECT_THAT(asked, ElementsAre(2U, 3U));
    EXPECT_EQ(edit.response.status, EditStatus::kStaleFile);
    EXPECT_EQ(edit.response.message, "not read");
    EXPECT_EQ(edit.bytes, "");
}

TEST(SnippetEdit, S161_AnEditThatChangesNothingSaysSo) {
    const SpanEdit edit = snippet("a\nb\n", "b", "b");
    EXPECT_EQ(edit.response.status, EditStatus::kOk);
    EXPECT_EQ(edit.response.message, "No changes applied.");
}

// Whatever is asked: outside the span that the answer names no byte changes, and in the view
// exactly the span is replaced.
TEST(SnippetEdit, S134_S147_BytesOutsideTheSpanStay) {
    Random random(1);
    SCOPED_TRACE(random.trace());
    std::size_t applied = 0;
    for (int i = 0; i < 20000; ++i) {
        const std::string bytes = random.text(8, {"\n", "\r\n", "\r"});
        const CanonicalView view(bytes);
        if (view.text().empty()) continue;
        const std::size_t at = random.below(view.text().size());
        const std::string older = view.text().substr(at, random.below(6) + 1);
        const std::string newer = random.text(3, {"\n", "\r\n", "\r"});
        const SpanEdit edit = snippet(bytes, older, newer);
        if (edit.response.status != EditStatus::kOk) continue;
        ++applied;
        const auto start = edit.response.replaced->start;
        const auto end = edit.response.replaced->end;
        ASSERT_EQ(edit.bytes.substr(0, start), bytes.substr(0, start));
        ASSERT_EQ(edit.bytes.substr(start + edit.response.bytes_written), bytes.substr(end));
        const std::string expected = view.text().substr(0, at) +
                                     with_newlines(newer, Newline::kLf) +
                                     view.text().substr(at + older.size());
        ASSERT_EQ(CanonicalView(edit.bytes).text(), expected);
    }
    EXPECT_GT(applied, 3000U);
}

TEST(SnippetEdit, S132_TheHintInTheAdviceMatchesOnePlace) {
    const auto next = [](const std::string& bytes, const std::string& old) {
        return snippet(bytes, old, "x").response.next;
    };
    const std::string example =
        "Make old_snippet longer until it occurs once, or say which lines are meant, for example "
        "match_hint: {\"start_line\": ";
    EXPECT_EQ(next("a\na\nb\n", "a"), example + "1, \"end_line\": 1}.");
    EXPECT_EQ(next("a a\na\nb\n", "a"), example + "2, \"end_line\": 2}.");
    EXPECT_EQ(next("1\nb\nc\n2\nb\nc\n", "b\nc"), example + "2, \"end_line\": 3}.");
    EXPECT_EQ(next("a a\nb\n", "a"), "Make old_snippet longer until it occurs once.")
        << "no range of lines holds one of them alone";
}

}  // namespace
}  // namespace unwrite::edit
