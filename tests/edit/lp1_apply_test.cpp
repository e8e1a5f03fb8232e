#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "edit/lp1.h"
#include "tests/edit/random.h"

namespace unwrite::edit {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct Outcome {
    std::string bytes;  ///< or "error: ..."
    std::vector<std::uint64_t> targets;
};

Outcome run(const std::string& operations, std::string_view bytes,
            MixedEndings mode = MixedEndings::kPreserve) {
    const auto sections = parse_lp1("LP1\nF a\n" + operations + "END\n");
    if (!sections) return {"error: " + sections.error().message(), {}};
    auto file = read_text(bytes, mode);
    if (!file) return {"error: " + file.error().message(), {}};
    auto targets = apply_lp1(sections->front(), *file);
    if (!targets) return {"error: " + targets.error().message(), {}};
    return {written(*file), *targets};
}

std::string applied(const std::string& operations, std::string_view bytes,
                    MixedEndings mode = MixedEndings::kPreserve) {
    return run(operations, bytes, mode).bytes;
}

TEST(TextFile, S156_LinesAndFlag) {
    const auto lines = [](std::string_view bytes) {
        const auto file = read_text(bytes, MixedEndings::kStrict);
        return std::to_string(file->lines.size()) + (file->final_newline ? "+" : "-");
    };
    EXPECT_EQ(lines(""), "0-");
    EXPECT_EQ(lines("a"), "1-");
    EXPECT_EQ(lines("a\n"), "1+");
    EXPECT_EQ(lines("\n"), "1+");
    EXPECT_EQ(lines("\r\n\r\n"), "2+");
    EXPECT_EQ(lines("a\nb"), "2-");
}

TEST(TextFile, S156_WhatCannotBeRead) {
    const auto error = [](std::string_view bytes, MixedEndings mode) {
        const auto file = read_text(bytes, mode);
        return file ? "" : file.error().message();
    };
    for (const char* bytes : {"a\rb\n", "a\r", "a\r\r\nb\n"})
        EXPECT_EQ(error(bytes, MixedEndings::kPreserve), "Bare CR in file");
    EXPECT_EQ(error("\xff\n", MixedEndings::kPreserve), "Invalid UTF-8 in file");
    EXPECT_EQ(error("a\nb\r\n", MixedEndings::kStrict), "Mixed EOL detected");
    EXPECT_EQ(error("a\nb\r\n", MixedEndings::kPreserve), "");
    EXPECT_EQ(error(std::string_view("a\0b\n\xe2\x80\xa8", 7), MixedEndings::kStrict), "");
}

TEST(TextFile, S156_WrittenAsRead) {
    Random random(3);
    SCOPED_TRACE(random.trace());
    for (int i = 0; i < 5000; ++i) {
        const std::string bytes = random.text(10, {"\n", "\r\n"});
        const auto file = read_text(bytes, MixedEndings::kPreserve);
        ASSERT_TRUE(file);
        ASSERT_EQ(written(*file), bytes);
    }
}

TEST(Lp1Apply, S155_EachOperation) {
    EXPECT_EQ(applied("R\nb\n.\nx\ny\n.\n", "a\nb\nc\n"), "a\nx\ny\nc\n");
    EXPECT_EQ(applied("R\na\nb\n.\nx\n.\n", "a\nb\nc\n"), "x\nc\n");
    EXPECT_EQ(applied("I\nb\n.\nx\n.\n", "a\nb\nc\n"), "a\nb\nx\nc\n");
    EXPECT_EQ(applied("P\nb\n.\nx\n.\n", "a\nb\nc\n"), "a\nx\nb\nc\n");
    EXPECT_EQ(applied("E\nb\nc\n.\n", "a\nb\nc\n"), "a\n");
    EXPECT_EQ(applied("T\nx\n.\n", "a\n"), "a\nx\n");
    EXPECT_EQ(applied("T\nx\n.\n", "a"), "a\nx");
    EXPECT_EQ(applied("B\nx\n.\n", "a\n"), "x\na\n");
    EXPECT_EQ(applied("B\n.\n", "a\n"), "a\n");
}

TEST(Lp1Apply, S157_AMatchMustBeUniqueWithoutAnOccurrence) {
    EXPECT_EQ(applied("E\nx\n.\n", "x\nx\n"), "error: Match is not unique");
    EXPECT_EQ(applied("E\nz\n.\n", "x\nx\n"), "error: Match not found");
    EXPECT_EQ(applied("E 1\nx\n.\n", "x\ny\nx\n"), "y\nx\n");
    EXPECT_EQ(applied("E 2\nx\n.\n", "x\ny\nx\n"), "x\ny\n");
    EXPECT_EQ(applied("E 3\nx\n.\n", "x\ny\nx\n"), "error: Occurrence out of range");
    EXPECT_EQ(applied("E 1\nz\n.\n", "x\n"), "error: Occurrence out of range");
}

TEST(Lp1Apply, S157_OverlappingMatchesCount) {
    EXPECT_EQ(applied("R 2\nx\nx\n.\ny\n.\n", "x\nx\nx\n"), "x\ny\n");
    EXPECT_EQ(applied("R\nx\nx\n.\ny\n.\n", "x\nx\nx\n"), "error: Match is not unique");
}

TEST(Lp1Apply, S157_TheGapBeforeALine) {
    EXPECT_EQ(applied("I 1\n.\nx\n.\n", "a\nb\n"), "x\na\nb\n");
    EXPECT_EQ(applied("R 2\n.\nx\n.\n", "a\nb\n"), "a\nx\nb\n");
    EXPECT_EQ(applied("P 3\n.\nx\n.\n", "a\nb\n"), "a\nb\nx\n");
    EXPECT_EQ(applied("E 1\n.\n", "a\nb\n"), "a\nb\n");
    EXPECT_EQ(applied("P 4\n.\nx\n.\n", "a\nb\n"), "error: Occurrence out of range");
    EXPECT_EQ(applied("P\n.\nx\n.\n", "a\nb\n"), "error: Empty match requires occurrence");
    EXPECT_EQ(applied("P 1\n.\nx\n.\n", ""), "x");
}

TEST(Lp1Apply, S155_OperationsSeeTheEarlierOnes) {
    EXPECT_EQ(applied("R\na\n.\nb\n.\nR\nb\n.\nc\n.\n", "a\n"), "c\n");
    EXPECT_EQ(applied("R\na\n.\nb\n.\nR\nb\n.\nc\n.\n", "a\nb\n"), "error: Match is not unique");
}

TEST(Lp1Apply, S155_WholeLinesMatchExactly) {
    EXPECT_EQ(applied("E\na\n.\n", "a \n"), "error: Match not found");
    EXPECT_EQ(applied("E\na\n.\n", "ab\n"), "error: Match not found");
    EXPECT_EQ(applied("E\na\n.\n",
                      "\xef\xbb\xbf"
                      "a\n"),
              "error: Match not found");
    EXPECT_EQ(applied("E\na\n.\n", "a"), "");
}

TEST(Lp1Apply, S155_TheFinalNewline) {
    EXPECT_EQ(applied("N +\n", ""), "\n");
    EXPECT_EQ(applied("N +\n", "a"), "a\n");
    EXPECT_EQ(applied("N +\n", "a\r\nb"), "a\r\nb\r\n");
    EXPECT_EQ(applied("N -\n", "a\n"), "a");
    EXPECT_EQ(applied("N -\n", "\n"), "");
    EXPECT_EQ(applied("N -\n", "\n\n"), "\n");
    EXPECT_EQ(applied("N -\nN +\n", "a"), "a\n");
    EXPECT_EQ(applied("N +\nT\nb\n.\n", ""), "\nb\n");
    EXPECT_EQ(applied("T\nb\n.\nN +\n", ""), "b\n");
    EXPECT_EQ(applied("N -\nT\nb\n.\n", "\n"), "b");
    EXPECT_EQ(applied("E\na\n.\nT\nb\n.\n", "a\n"), "b");
    EXPECT_EQ(applied("R\na\n.\n.\n", "a\n"), "");
    EXPECT_EQ(applied("T\n\n.\n", ""), "");
}

TEST(Lp1Apply, S156_PreserveKeepsEachLinesEnding) {
    EXPECT_EQ(applied("R\nb\n.\nx\n.\n", "a\r\nb\nc\nd\n"), "a\r\nx\nc\nd\n");
    EXPECT_EQ(applied("I\na\n.\nx\n.\n", "a\nb\r\nc\r\n"), "a\nx\r\nb\r\nc\r\n");
    EXPECT_EQ(applied("T\nx\n.\n", "a\nb\r\n"), "a\nb\r\nx\n");
    EXPECT_EQ(applied("T\nx\n.\n", "a\r\nb"), "a\r\nb\r\nx");
    EXPECT_EQ(applied("E\nb\n.\n", "a\r\nb\n"), "a\r\n");
}

TEST(Lp1Apply, S156_NormalizeWritesTheMajority) {
    const auto normalized = [](const std::string& operations, std::string_view bytes) {
        return applied(operations, bytes, MixedEndings::kNormalize);
    };
    EXPECT_EQ(normalized("", "a\nb\r\n"), "a\nb\n");
    EXPECT_EQ(normalized("", "a\nb\r\nc\r\n"), "a\r\nb\r\nc\r\n");
    EXPECT_EQ(normalized("T\nx\n.\n", "a\r\nb\nc\nd"), "a\nb\nc\nd\nx");
    EXPECT_EQ(applied("", "a\nb\r\n", MixedEndings::kStrict), "error: Mixed EOL detected");
}

TEST(Lp1Apply, S160_TargetsAreLinesOfTheFileAsRead) {
    EXPECT_THAT(run("R\nb\nc\n.\nx\n.\n", "a\nb\nc\nd\n").targets, ElementsAre(2U, 3U));
    EXPECT_THAT(run("B\nx\n.\n", "a\nb\n").targets, ElementsAre(1U));
    EXPECT_THAT(run("B\n.\n", "a\nb\n").targets, IsEmpty());
    EXPECT_THAT(run("T\nx\n.\nN -\n", "a\nb\n").targets, IsEmpty());
    EXPECT_THAT(run("B\nx\ny\n.\nE\nb\n.\n", "a\nb\n").targets, ElementsAre(1U, 2U));
    EXPECT_THAT(run("E\na\n.\nI\nc\n.\nx\n.\nE\nx\n.\n", "a\nb\nc\n").targets, ElementsAre(1U, 3U));
    EXPECT_THAT(run("P 2\n.\nx\n.\n", "a\nb\n").targets, ElementsAre(2U));
    EXPECT_THAT(run("P 3\n.\nx\n.\n", "a\nb\n").targets, ElementsAre(2U));
}

TEST(Lp1Apply, S158_WhichOperationsNeedAFile) {
    const auto needs = [](const std::string& operations) {
        return needs_file(parse_lp1("LP1\nF a\n" + operations + "END\n")->front());
    };
    EXPECT_FALSE(needs(""));
    EXPECT_FALSE(needs("T\nx\n.\nB\ny\n.\nN +\n"));
    for (const char* command : {"R 1\n.\nx\n.\n", "I 1\n.\nx\n.\n", "P 1\n.\nx\n.\n", "E 1\n.\n"})
        EXPECT_TRUE(needs("T\nx\n.\n" + std::string(command)));
}

// A patch that would keep the machine busy for minutes.
TEST(Lp1Apply, S162_StepsAreLimited) {
    std::string operations;
    for (int i = 0; i < 300; ++i)
        operations += "P 1\n.\nx\n.\n";
    EXPECT_EQ(applied(operations, std::string(100000, '\n')), "error: Patch needs too many steps");
    EXPECT_EQ(applied("R 1\n" + std::string(50000, '\n') + ".\nx\n.\n", std::string(100000, '\n')),
              "x\n" + std::string(50000, '\n'));
}

// With a unique line as the target, every other line keeps its bytes.
TEST(Lp1Apply, S156_UntouchedLinesKeepTheirBytes) {
    Random random(4);
    SCOPED_TRACE(random.trace());
    for (int i = 0; i < 5000; ++i) {
        const std::string before = random.text(6, {"\n", "\r\n"}) + "\n";
        const std::string ending = random.chance(2) ? "\n" : "\r\n";
        const std::string after = random.text(6, {"\n", "\r\n"});
        const Outcome outcome = run("R\nTARGET\n.\n1\n2\n.\n", before + "TARGET" + ending + after);
        const std::string& bytes = outcome.bytes;
        ASSERT_EQ(bytes.substr(0, before.size()), before);
        ASSERT_GE(bytes.size(), before.size() + after.size());
        ASSERT_EQ(bytes.substr(bytes.size() - after.size()), after);
        const std::string middle =
            bytes.substr(before.size(), bytes.size() - before.size() - after.size());
        ASSERT_TRUE(middle == "1\n2\n" || middle == "1\r\n2\r\n") << middle;
    }
}

}  // namespace
}  // namespace unwrite::edit
