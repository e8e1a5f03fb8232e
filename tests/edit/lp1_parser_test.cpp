#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "edit/lp1.h"

namespace unwrite::edit {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::string error_of(std::string_view patch) {
    const auto sections = parse_lp1(patch);
    return sections ? "" : sections.error().message();
}

std::vector<Lp1Section> parsed(std::string_view patch) {
    auto sections = parse_lp1(patch);
    EXPECT_TRUE(sections) << sections.error().message();
    return sections ? *std::move(sections) : std::vector<Lp1Section>{};
}

Lp1Operation operation(const std::string& text) {
    const auto sections = parsed("LP1\nF a\n" + text + "END\n");
    EXPECT_EQ(sections.size(), 1U);
    if (sections.empty() || sections[0].operations.size() != 1) {
        ADD_FAILURE() << "not one operation: " << text;
        return {};
    }
    return sections[0].operations[0];
}

std::string path_of(const std::string& written) {
    const auto sections = parsed("LP1\nF " + written + "\nEND\n");
    return sections.empty() ? "" : sections[0].path;
}

TEST(Lp1Parser, S155_SeveralSections) {
    const auto sections = parsed("LP1\nF a\nT\nx\n.\nN +\nF b\nF c\nB\n.\nEND\n");
    ASSERT_EQ(sections.size(), 3U);
    EXPECT_EQ(sections[0].path, "a");
    EXPECT_EQ(sections[0].operations.size(), 2U);
    EXPECT_THAT(sections[1].operations, IsEmpty());
    EXPECT_EQ(sections[2].operations.size(), 1U);
}

TEST(Lp1Parser, S155_BlankAndCommentLinesOutsideBlocks) {
    const auto sections = parsed(
        "\n # before\n\nLP1\n\t\n# after\nF a\n\n  # in a section\nT\nx\n.\n\n#\nEND\n\n \t\n");
    ASSERT_EQ(sections.size(), 1U);
    EXPECT_EQ(sections[0].operations.size(), 1U);
}

TEST(Lp1Parser, S155_CommandLinesMayBeIndentedAndTrailed) {
    EXPECT_EQ(operation(" \tR \t 3 \t\na\n.\nb\n.\n").occurrence, 3U);
    EXPECT_EQ(path_of("  a \t"), "a");
}

TEST(Lp1Parser, S155_CrlfPatches) {
    const auto sections = parsed("LP1\r\nF a\r\nR\r\nx\r\n.\r\ny\r\nz\r\n.\r\nEND\r\n");
    ASSERT_EQ(sections.size(), 1U);
    EXPECT_THAT(sections[0].operations[0].find, ElementsAre("x"));
    EXPECT_THAT(sections[0].operations[0].content, ElementsAre("y", "z"));
}

TEST(Lp1Parser, S155_EachOperation) {
    const Lp1Operation replace = operation("R\na\nb\n.\nc\n.\n");
    EXPECT_EQ(replace.command, Lp1Command::kReplace);
    EXPECT_THAT(replace.find, ElementsAre("a", "b"));
    EXPECT_THAT(replace.content, ElementsAre("c"));
    EXPECT_FALSE(replace.occurrence);
    EXPECT_EQ(operation("I 2\na\n.\nc\n.\n").command, Lp1Command::kInsertAfter);
    EXPECT_EQ(operation("P 2\na\n.\nc\n.\n").command, Lp1Command::kInsertBefore);
    const Lp1Operation erase = operation("E 7\na\n.\n");
    EXPECT_EQ(erase.command, Lp1Command::kErase);
    EXPECT_EQ(erase.occurrence, 7U);
    EXPECT_THAT(erase.content, IsEmpty());
    const Lp1Operation append = operation("T\na\n.\n");
    EXPECT_EQ(append.command, Lp1Command::kAppend);
    EXPECT_THAT(append.find, IsEmpty());
    EXPECT_THAT(append.content, ElementsAre("a"));
    EXPECT_EQ(operation("B\na\n.\n").command, Lp1Command::kPrepend);
    EXPECT_TRUE(operation("N +\n").newline);
    EXPECT_FALSE(operation("N -\n").newline);
}

TEST(Lp1Parser, S155_BlocksAreContentToTheDot) {
    EXPECT_THAT(operation("T\nEND\nF x\n# no comment\n\n .\n\t..\n.\n").content,
                ElementsAre("END", "F x", "# no comment", "", " .", "\t.."));
    EXPECT_THAT(operation("T\n..\n...\n.. \n..x\n.\t \n").content,
                ElementsAre(".", "..", ". ", ".x"));
    EXPECT_THAT(operation("R\n.\n.\n").find, IsEmpty());
}

TEST(Lp1Parser, S155_Paths) {
    EXPECT_EQ(path_of("a/b.txt"), "a/b.txt");
    EXPECT_EQ(path_of("\"a b\""), "a b");
    EXPECT_EQ(path_of("\" a \" "), " a ");
    EXPECT_EQ(path_of("\"q\\\"b\\\\s\""), "q\"b\\s");
    EXPECT_EQ(path_of("\xff"), "\xff");
}

TEST(Lp1Parser, S155_HeaderAndFooterErrors) {
    EXPECT_EQ(error_of(""), "Missing LP1 header");
    EXPECT_EQ(error_of("\n# only\n"), "Missing LP1 header");
    EXPECT_EQ(error_of("LP2\nEND\n"), "Invalid LP1 header");
    EXPECT_EQ(error_of("\xef\xbb\xbfLP1\nEND\n"), "Invalid LP1 header");
    EXPECT_EQ(error_of("LP1\n"), "Missing END footer");
    EXPECT_EQ(error_of("LP1\nF a\n"), "Missing END footer");
    EXPECT_EQ(error_of("LP1\nF a\nT\n.\n"), "Missing END footer");
    EXPECT_EQ(error_of("LP1\nEND\n# more\n"), "Unexpected text after END");
    EXPECT_EQ(error_of("LP1\nEND"), "");
}

TEST(Lp1Parser, S155_SectionErrors) {
    EXPECT_EQ(error_of("LP1\nT\nx\n.\nEND\n"), "Expected file section (F <path>)");
    EXPECT_EQ(error_of("LP1\nF\nEND\n"), "Missing file path");
    EXPECT_EQ(error_of("LP1\nF \"\"\nEND\n"), "Missing file path");
    EXPECT_EQ(error_of("LP1\nF \"a\nEND\n"), "Unterminated quoted path");
    EXPECT_EQ(error_of("LP1\nF \"a\\\nEND\n"), "Unterminated quoted path");
    EXPECT_EQ(error_of("LP1\nF \"a\\x\"\nEND\n"), "Invalid escape in quoted path");
    EXPECT_EQ(error_of("LP1\nF \"a\"b\nEND\n"), "Invalid quoted path");
    EXPECT_EQ(error_of("LP1\nF \"a\rb\"\nEND\n"), "Invalid quoted path");
    EXPECT_EQ(error_of("LP1\nF a\"b\"\nEND\n"), "Invalid quoted path");
}

TEST(Lp1Parser, S155_OperationErrors) {
    const auto in_section = [](const std::string& text) {
        return error_of("LP1\nF a\n" + text + "END\n");
    };
    EXPECT_EQ(in_section("X\n"), "Unknown LP1 operation");
    EXPECT_EQ(in_section("t\nx\n.\n"), "Unknown LP1 operation");
    EXPECT_EQ(in_section("T 1\nx\n.\n"), "Unknown LP1 operation");
    EXPECT_EQ(in_section("B junk\nx\n.\n"), "Unknown LP1 operation");
    EXPECT_EQ(in_section("END 1\n"), "Unknown LP1 operation");
    EXPECT_EQ(in_section("N\n"), "Invalid N flag; expected + or -");
    EXPECT_EQ(in_section("N x\n"), "Invalid N flag; expected + or -");
    EXPECT_EQ(in_section("N + +\n"), "Invalid N flag; expected + or -");
    EXPECT_EQ(in_section("T\n.x\n.\n"), "Dot-stuffed line must start with '..'");
    EXPECT_EQ(in_section("R\na\n.\nb\n"), "Unterminated LP1 block");
    EXPECT_EQ(in_section("T\na\rb\n.\n"), "Bare CR in patch");
    EXPECT_EQ(in_section("T\n\xff\n.\n"), "Invalid UTF-8 in patch");
}

TEST(Lp1Parser, S157_Occurrences) {
    const auto with = [](const std::string& occurrence) {
        return error_of("LP1\nF a\nE " + occurrence + "\nx\n.\nEND\n");
    };
    EXPECT_EQ(with("18446744073709551615"), "");
    EXPECT_EQ(with("0"), "Occurrence must be >= 1");
    for (const char* wrong :
         {"x", "-1", "+2", "02", "00", "1 2", "1x", "1.0", "18446744073709551616"})
        EXPECT_EQ(with(wrong), "Invalid occurrence") << wrong;
}

TEST(Lp1Parser, S155_ErrorsNameTheLine) {
    std::uint64_t line = 0;
    const auto sections = parse_lp1("# one\nLP1\nF a\nT\n.x\n.\nEND\n", &line);
    ASSERT_FALSE(sections);
    EXPECT_EQ(line, 5U);
    EXPECT_EQ(sections.error().kind(), ErrorKind::kUsage);
}

}  // namespace
}  // namespace unwrite::edit
