// What answers a question, and how a question is broken over lines.
#include "cli/prompt.h"

#include <gtest/gtest.h>

#include "cli/text.h"

namespace unwrite::cli {
namespace {

const Answers kEnd{{"commit", "discard", "review", "keep"}, 'k'};
const Answers kYesNo{{"yes", "no"}};

TEST(Prompt, OnlyALetterOrAWholeWordAnswersD22) {
    for (const char* line : {"c", "C", " c ", "commit", "COMMIT", "\tCommit\r"})
        EXPECT_EQ(answer_in(line, kEnd), 'c') << line;
    EXPECT_EQ(answer_in("d", kEnd), 'd');
    EXPECT_EQ(answer_in("keep", kEnd), 'k');
    for (const char* line : {"cat notes.md", "cd .", "clear", "commit everything", "cc", "co",
                             "c d", "commi", "[c]", "x", "1", "\x1b[A", "c;", "ç"})
        EXPECT_EQ(answer_in(line, kEnd), std::nullopt) << line;
}

TEST(Prompt, EnterAnswersOnlyWhereThereIsADefault) {
    for (const char* line : {"", "  ", "\r"}) {
        EXPECT_EQ(answer_in(line, kEnd), 'k');
        EXPECT_EQ(answer_in(line, kYesNo), std::nullopt);
    }
}

TEST(Prompt, WhatTheAnswersAreIsSaid) {
    EXPECT_EQ(answers_words(kEnd), "Type c, d, r or k. Enter means k.");
    EXPECT_EQ(answers_words(kYesNo), "Type y or n.");
}

TEST(Prompt, AQuestionIsBrokenBetweenChoicesOrWords) {
    constexpr const char* kQuestion =
        "[C]ommit changes  [D]iscard and restore  [R]eview  [K]eep (Enter)";
    EXPECT_EQ(folded(kQuestion, 80), kQuestion);
    EXPECT_EQ(folded(kQuestion, 40),
              "[C]ommit changes  [D]iscard and restore\n[R]eview  [K]eep (Enter)");
    EXPECT_EQ(folded("Discard all changes from this task? (y/n)", 40),
              "Discard all changes from this task?\n(y/n)");
    for (std::size_t columns = 25; columns < 90; ++columns) {
        for (const std::string_view line : lines_of(folded(kQuestion, columns)))
            EXPECT_LT(line.size(), columns);
    }
    EXPECT_EQ(folded("unbreakable", 4), "unbreakable");
}

}  // namespace
}  // namespace unwrite::cli
