// What a model is told that sends something else than an LP1 patch (S155, S140): the file that it
// meant, the line, and what to send instead.
#include "edit/patch_advice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "edit/lp1.h"
#include "edit/plan.h"
#include "tests/edit/memory_files.h"

namespace unwrite::edit {
namespace {

using testing::HasSubstr;

class PatchAdviceTest : public testing::Test {
 protected:
    EditResponse answer(const std::string& patch) {
        return plan_patch({patch}, {}, memory_, {}).response;
    }

    MemoryFiles memory_;
};

TEST_F(PatchAdviceTest, S155_AnotherFormatIsNamedAndSoIsItsFile) {
    EditResponse told = answer("--- a/src/a.c\n+++ b/src/a.c\n@@ -1 +1 @@\n-x\n+y\n");
    EXPECT_EQ(told.message, "Patch failed for <patch>: Invalid LP1 header");
    EXPECT_EQ(told.path, "src/a.c");
    EXPECT_EQ(told.patch_line, 1U);
    EXPECT_THAT(told.next, HasSubstr("This is a unified diff"));
    EXPECT_THAT(told.next, HasSubstr("Call Edit with path \"src/a.c\", old_snippet"));

    told = answer("*** Begin Patch\n*** Update File: lib/b.py\n@@\n-x\n+y\n*** End Patch\n");
    EXPECT_EQ(told.path, "lib/b.py");
    EXPECT_THAT(told.next, HasSubstr("a patch for another tool"));
    EXPECT_THAT(told.next, HasSubstr("Call Edit with path \"lib/b.py\""));

    told = answer("```\nLP1\nF a.c\nT\nx\n.\nEND\n```\n");
    EXPECT_EQ(told.path, "a.c");
    EXPECT_EQ(told.patch_line, 1U);
    EXPECT_THAT(told.next, HasSubstr("Leave out the lines that begin with ```"));
}

TEST_F(PatchAdviceTest, S155_WhatHasNoHeaderIsToldOfIt) {
    for (const char* const patch : {"", "please\n", "F a.c\nR x\n.\ny\n.\nEND\n"}) {
        const EditResponse told = answer(patch);
        EXPECT_THAT(told.next,
                    HasSubstr("A patch begins with a line LP1 and ends with a line END:\nLP1\nF "));
        EXPECT_EQ(told.patch_line.has_value(), *patch != '\0');
    }
    EXPECT_EQ(answer("F a.c\nT\nx\n.\nEND\n").path, "a.c");
}

TEST_F(PatchAdviceTest, S155_ALineThatIsAlmostRight) {
    EditResponse told = answer("LP1\nF a.c\nR old text\n.\nnew\n.\nEND\n");
    EXPECT_EQ(told.path, "a.c");
    EXPECT_EQ(told.patch_line, 3U);
    EXPECT_THAT(told.next, HasSubstr("Write R alone on its line."));
    EXPECT_THAT(told.next, HasSubstr("R\nold text\n."));

    told = answer("LP1\nF my file.c\nT\nx\n.\nEND\n");
    EXPECT_EQ(told.path, "my file.c");
    EXPECT_EQ(told.patch_line, 2U);
    EXPECT_EQ(told.next, "Put a path with blanks in quotes: F \"my file.c\"");

    told = answer("LP1\nF a.c\nT\n.config\n.\nEND\n");
    EXPECT_EQ(told.patch_line, 4U);
    EXPECT_THAT(told.next, HasSubstr("Put one more dot"));

    told = answer("LP1\nF a.c\nT\nx\nEND\n");
    EXPECT_EQ(told.patch_line, 5U);
    EXPECT_THAT(told.next, HasSubstr("a single dot, and the patch with a line END"));

    told = answer("LP1\nF a.c\nT\nx\n.\nEND\nthat is all\n");
    EXPECT_EQ(told.patch_line, 7U);
    EXPECT_EQ(told.next, "Leave out what follows the line END: the patch ends there.");
}

TEST_F(PatchAdviceTest, S155_S140_OneOfThreeOperationsFails) {
    memory_.files = {{"a.c", {"int a;\nint b;\nint b;\n"}}};
    const std::string first = "LP1\nF a.c\nR\nint a;\n.\nlong a;\n.\n";
    EditResponse told = answer(first + "E\nint  c;\n.\nT\nx\n.\nEND\n");
    EXPECT_EQ(told.status, EditStatus::kNoMatch);
    EXPECT_EQ(told.operation, 2U);
    EXPECT_EQ(told.patch_line, 8U);
    EXPECT_FALSE(told.candidates.empty());
    EXPECT_THAT(told.next, HasSubstr("Call Read for \"a.c\""));
    EXPECT_THAT(told.next, HasSubstr("nothing of it was applied"));

    told = answer(first + "T\nx\n.\nE\nint b;\n.\nEND\n");
    EXPECT_EQ(told.operation, 3U);
    EXPECT_EQ(told.candidates.size(), 2U);
    EXPECT_THAT(told.next, HasSubstr("say which match is meant: E 2."));

    told = answer(first + "E 3\nint b;\n.\nEND\n");
    EXPECT_THAT(told.next, HasSubstr("correct the number"));
    told = answer(first + "I\n.\nx\n.\nEND\n");
    EXPECT_THAT(told.next, HasSubstr("I 3 is the gap before line 3"));
}

TEST_F(PatchAdviceTest, S155_EveryBrokenPatchGetsAdvice) {
    const std::string whole = "LP1\nF a.c\nR 2\nx\n.\n..y\n.\nN +\nEND\n";
    for (std::size_t length = 0; length < whole.size() - 1; ++length) {
        const std::string patch = whole.substr(0, length);
        std::uint64_t line = 0;
        const auto parsed = parse_lp1(patch, &line);
        if (parsed) continue;
        EXPECT_NE(advice_on(patch, line, parsed.error().text()).next, "") << patch;
    }
}

}  // namespace
}  // namespace unwrite::edit
