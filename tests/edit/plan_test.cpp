#include "edit/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "edit/report.h"
#include "tests/edit/memory_files.h"
#include "tests/edit/random.h"

namespace unwrite::edit {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::string lp1(const std::string& sections) {
    return "LP1\n" + sections + "END\n";
}

class Plan : public testing::Test {
 protected:
    Result<EditPlan> patch(const std::string& sections, const SeenCheck& seen = {}) {
        return plan_lp1(lp1(sections), settings, memory, seen);
    }
    std::string error_of(const std::string& sections, const SeenCheck& seen = {}) {
        const auto plan = patch(sections, seen);
        return plan ? "" : plan.error().message();
    }
    /// What a path holds after the plan has been carried out; "-" when it is not there.
    std::string after(const Result<EditPlan>& plan, const std::string& path) {
        EXPECT_TRUE(plan) << plan.error().message();
        if (plan) memory.carry_out(*plan);
        return memory.files.contains(path) ? memory.files[path].bytes : "-";
    }
    std::string report(const std::string& sections) {
        const auto plan = patch(sections);
        if (!plan) return "error: " + plan.error().message();
        return *edit_report(*plan);
    }

    MemoryFiles memory;
    Settings settings;
};

TEST_F(Plan, S159_SeveralFilesInOnePlan) {
    memory.files = {{"a", {"1\n"}}, {"b", {"2\n"}}};
    const auto plan = patch("F a\nR\n1\n.\nx\n.\nF b\nE\n2\n.\nF c\nT\nnew\n.\n");
    ASSERT_TRUE(plan);
    ASSERT_EQ(plan->files.size(), 3U);
    EXPECT_EQ(plan->files[0].path, "a");
    EXPECT_EQ(plan->files[0].before, "1\n");
    EXPECT_EQ(plan->files[0].after, "x\n");
    EXPECT_EQ(plan->files[0].hash_before, digest_of("1\n"));
    EXPECT_EQ(plan->files[0].hash_after, digest_of("x\n"));
    EXPECT_EQ(plan->files[0].mode_before, 0644U);
    EXPECT_EQ(plan->files[1].after, "");
    EXPECT_TRUE(plan->files[1].remains);
    EXPECT_FALSE(plan->files[2].existed);
}

TEST_F(Plan, S159_AFailureInOneFileIsAFailureOfAll) {
    memory.files = {{"a", {"1\n"}}, {"b", {"2\n"}}};
    EXPECT_EQ(error_of("F a\nR\n1\n.\nx\n.\nF b\nE\n3\n.\n"),
              "Patch failed for b: Match not found");
}

TEST_F(Plan, S159_SectionsOfOneFileBuildOnEachOther) {
    memory.files = {{"a", {"1\n"}}};
    memory.links = {{"other/name", "a"}};
    const auto plan = patch(
        "F a\nT\n2\n.\nF other/name\nR\n2\n.\n3\n.\nF new\nT\nx\n.\nF new\nE\nx\n.\nT\ny\n.\n");
    EXPECT_EQ(after(plan, "a"), "1\n3\n");
    EXPECT_EQ(memory.files["new"].bytes, "y");
    EXPECT_EQ(plan->files.size(), 2U);
}

TEST_F(Plan, S132_S159_TwoNamesOfOneFileAreNotChangedInOnePatch) {
    memory.files = {{"a", {"1\n2\n"}}, {"b", {"1\n2\n"}}, {"c", {"1\n2\n"}}};
    memory.objects = {{"a", "7"}, {"b", "7"}, {"c", "8"}};
    const std::string change = "R\n1\n.\nx\n.\n";
    const auto made =
        plan_patch({lp1("F a\n" + change + "F b\nR\n2\n.\ny\n.\n")}, settings, memory, {});
    EXPECT_EQ(made.response.status, EditStatus::kError);
    EXPECT_EQ(made.response.message,
              "Patch failed for b: It is the same file as \"a\" (hard link)");
    EXPECT_EQ(made.response.path, "b");
    EXPECT_EQ(made.response.hash_before, digest_of("1\n2\n"));
    EXPECT_NE(made.response.next.find("one section, under one of its names"), std::string::npos);
    EXPECT_TRUE(patch("F a\n" + change + "F c\n" + change));
    EXPECT_TRUE(patch("F a\n" + change + "F b\nN +\n")) << "only one of them changes";
    const std::string hunk = "@@ -1 +1 @@\n-1\n+x\n";
    EXPECT_FALSE(plan_unified("--- a/a\n+++ b/a\n" + hunk + "--- a/b\n+++ b/b\n" + hunk, 1,
                              settings, memory, {}));
}

TEST_F(Plan, S158_AMissingFileIsCreatedByTBAndN) {
    EXPECT_EQ(after(patch("F new\nT\nx\n.\nB\ny\n.\nN +\n"), "new"), "y\nx\n");
}

TEST_F(Plan, S158_OperationsThatMatchNeedAFile) {
    for (const char* operation : {"R 1\n.\nx\n.\n", "I 1\n.\nx\n.\n", "P 1\n.\nx\n.\n", "E 1\n.\n"})
        EXPECT_EQ(error_of("F new\nT\nx\n.\n" + std::string(operation)),
                  "Patch failed for new: File does not exist for match-based operation");
}

TEST_F(Plan, S161_NothingIsChangedByAPatchThatChangesNothing) {
    memory.files = {{"a", {"1\n"}}};
    for (const char* sections : {"", "F a\n", "F a\nR\n1\n.\n1\n.\n", "F new\n", "F new\nN -\n",
                                 "F a\nT\nx\n.\nE\nx\n.\n"}) {
        const auto plan = patch(sections);
        ASSERT_TRUE(plan) << sections;
        EXPECT_THAT(plan->files, IsEmpty()) << sections;
        EXPECT_EQ(report(sections), "No changes applied.");
    }
}

TEST_F(Plan, S161_OneFileIsReportedByItsDiffAlone) {
    memory.files = {{"a", {"1\n2\n3\n"}}};
    EXPECT_EQ(report("F a\nR\n2\n.\nx\n.\n"), "1  1\n2 -2\n2 +x\n3  3\n");
}

TEST_F(Plan, S161_ALongNewFileIsNotSentBack) {
    std::string lines;
    for (int i = 1; i <= 1000; ++i)
        lines += std::to_string(i) + "\n";
    EXPECT_EQ(report("F a\nT\n" + lines + ".\n"),
              "1 +1\n2 +2\n3 +3\n4 +4\n5 +5\n... (1000 lines)\n");
}

TEST_F(Plan, S132_S140_APatchThatFailsSaysWhere) {
    memory.files = {{"a", {"one\r\ntwo\r\nthree\r\n"}}, {"b", {"x\nx\n"}}};
    const auto answer = [&](const std::string& sections) {
        return plan_patch({lp1(sections)}, settings, memory, {}).response;
    };
    EditResponse told = answer("F a\nR\none\n.\n1\n.\nR\nthre\n.\n3\n.\n");
    EXPECT_EQ(told.action, EditAction::kPatch);
    EXPECT_EQ(told.status, EditStatus::kNoMatch);
    EXPECT_EQ(told.message, "Patch failed for a: Match not found");
    EXPECT_EQ(told.path, "a");
    EXPECT_EQ(told.patch_line, 8U);
    EXPECT_EQ(told.operation, 2U);
    EXPECT_EQ(told.newline, Newline::kCrlf);
    EXPECT_EQ(told.hash_after, digest_of(memory.files["a"].bytes));
    ASSERT_EQ(told.candidates.size(), 1U);
    EXPECT_EQ(told.candidates[0].line, 3U);
    EXPECT_EQ(facts_of(told), "a: not changed, newline_kind CRLF, file_hash " +
                                  to_text(*told.hash_after) +
                                  "\nat line 8 of the patch, operation 2\nnearest lines of the "
                                  "file:\n  3: three\nnext: " +
                                  next_step(told));
    told = answer("F a\nT\nx\n.\nF b\nE\nx\n.\n");
    EXPECT_EQ(told.path, "b");
    EXPECT_EQ(told.patch_line, 7U);
    ASSERT_EQ(told.candidates.size(), 2U);
    EXPECT_EQ(told.candidates[1].line, 2U);
    told = answer("F a\nT\nx\n.\nF none\nE\nx\n.\n");
    EXPECT_EQ(told.path, "none");
    EXPECT_EQ(told.patch_line, 6U);
    EXPECT_FALSE(told.hash_after);
    told = answer("F a\nX\n");
    EXPECT_EQ(told.patch_line, 3U);
    EXPECT_EQ(told.path, "a");
}

TEST_F(Plan, S132_ARefusedFileHasNothingOfTheOneBefore) {
    memory.files = {{"a", {"1\n"}}};
    memory.refused = {{"b", "refused"}};
    const EditResponse told =
        plan_patch({lp1("F a\nT\nx\n.\nF b\nT\nx\n.\n")}, settings, memory, {}).response;
    const EditResponse diff =
        plan_diff(
            "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-1\n+2\n--- /dev/null\n+++ b/b\n@@ -0,0 +1 @@\n+x\n", 1,
            settings, memory, {})
            .response;
    for (const EditResponse& response : {told, diff}) {
        EXPECT_EQ(response.path, "b");
        EXPECT_FALSE(response.hash_before);
        EXPECT_FALSE(response.hash_after);
        EXPECT_FALSE(response.newline);
    }
}

TEST_F(Plan, S132_WhatAPatchDidIsToldFileByFile) {
    memory.files = {{"a", {"1\r\n2\r\n3\r\n"}}};
    AnsweredPlan made =
        plan_patch({lp1("F a\nR\n2\n.\nx\ny\n.\nF n\nT\nnew\n.\n")}, settings, memory, {});
    tell(made.response, made.plan);
    ASSERT_EQ(made.response.files.size(), 2U);
    EXPECT_EQ(made.response.files[0].newline, Newline::kCrlf);
    EXPECT_EQ(made.response.files[0].lines, (std::vector<LineRange>{{2, 3}}));
    EXPECT_EQ(made.response.files[1].change, FileChange::kCreated);
    EXPECT_EQ(made.response.message, "modified: a\ncreated: n");
    EXPECT_EQ(made.response.path, "");
    EXPECT_EQ(facts_of(made.response),
              "a: modified, lines 2-3, newline_kind CRLF, file_hash " +
                  to_text(digest_of("1\r\nx\r\ny\r\n3\r\n")) +
                  "\nn: created, line 1, newline_kind LF, file_hash " + to_text(digest_of("new")) +
                  "\nnext: Undo takes this edit back. The lines that it wrote count as read.");
}

TEST_F(Plan, S161_LinesThatEndInCrAreCounted) {
    memory.files = {{"cr", {"1\r2\r3\r"}}, {"crlf", {"1\r\n2\r\n"}}};
    LineRequest request{.path = "cr", .lines = {2, 2}, .new_content = "x"};
    AnsweredPlan made = plan_lines(request, settings, memory, {});
    EXPECT_EQ(*edit_report(made.plan), "1  1\n2 -2\n2 +x\n3  3\n");
    tell(made.response, made.plan);
    EXPECT_THAT(made.response.files.front().lines, ElementsAre(LineRange{2, 2}));
    EXPECT_EQ(report("F crlf\nR\n2\n.\nx\n.\n"), "1  1\n2 -2\n2 +x\n");
}

TEST_F(Plan, S132_ANewlineThatComesOrGoesAtTheEndIsSaid) {
    memory.files = {{"a", {"1\n2\n"}}, {"b", {"1"}}};
    const auto next = [&](const std::string& sections) {
        const auto plan = patch(sections);
        EditResponse response;
        response.status = EditStatus::kOk;
        if (plan) tell(response, *plan);
        return next_step(response);
    };
    EXPECT_EQ(next("F a\nN -\n"),
              "The last line of \"a\" has no newline any more. Undo takes this edit back.");
    EXPECT_EQ(next("F b\nN +\n"),
              "The last line of \"b\" has a newline now. Undo takes this edit back.");
    EXPECT_EQ(next("F a\nT\n3\n.\n"),
              "Undo takes this edit back. The lines that it wrote count as read.");
}

TEST_F(Plan, S161_SeveralFilesAreListedFirst) {
    memory.files = {{"a\nb", {"1\n"}}};
    memory.links = {{"a", "a\nb"}};
    EXPECT_EQ(report("F a\nE\n1\n.\nF new\nT\nx\n.\n"),
              "modified: a\xe2\x90\x8a"
              "b\ncreated: new\n\n"
              "a\xe2\x90\x8a"
              "b:\n1 -1\nnew:\n1 +x\n");
}

TEST_F(Plan, S161_TheUserIsAskedWithTheNames) {
    EXPECT_EQ(approval_summary(lp1("F a\nF \"b c\"\nF a\n")), "Apply patch to 2 file(s): a, b c");
    EXPECT_EQ(approval_summary(lp1("")), "Apply patch (no files)");
    EXPECT_EQ(approval_summary("nonsense"), "Apply patch (no files)");
    std::string many;
    for (int i = 0; i < 100; ++i)
        many += "F \xc3\xa4" + std::to_string(i) + "\n";
    const std::string summary = approval_summary(lp1(many));
    EXPECT_LE(summary.size(), kMaxSummary);
    EXPECT_GE(summary.size(), kMaxSummary - 1);
}

TEST_F(Plan, S162_TextsOfWhatCannotBeEdited) {
    memory.directories = {"dir"};
    memory.special = {"fifo"};
    memory.files = {{"big", {std::string(11, 'x')}}, {"cr", {"a\rb\n"}}, {"bin", {"\xff"}}};
    settings.max_file = 10;
    EXPECT_EQ(error_of("F dir\nT\nx\n.\n"), "Patch failed for dir: Path is a directory");
    EXPECT_EQ(error_of("F fifo\nT\nx\n.\n"), "Patch failed for fifo: Path is not a regular file");
    EXPECT_EQ(error_of("F big\nT\nx\n.\n"),
              "Patch failed for big: File too large for Edit tool (11 bytes > 10 "
              "max_file_read_bytes)");
    EXPECT_EQ(error_of("F cr\nT\nx\n.\n"), "Patch failed for cr: Bare CR in file");
    EXPECT_EQ(error_of("F bin\nT\nx\n.\n"), "Patch failed for bin: Invalid UTF-8 in file");
    settings.max_patch = 5;
    EXPECT_EQ(error_of("F a\n"), "Patch exceeds max_patch_bytes");
}

TEST_F(Plan, S155_ParseErrorsNameThePatch) {
    EXPECT_EQ(error_of("T\n"), "Patch failed for <patch>: Expected file section (F <path>)");
}

TEST_F(Plan, S142_RefusalsOfFilesAreHandedOn) {
    memory.refused = {{"../x", "Path outside sandbox (attempted: ../x, resolved: /x)"}};
    EXPECT_EQ(error_of("F ../x\nT\ny\n.\n"),
              "Path outside sandbox (attempted: ../x, resolved: /x)");
    EXPECT_EQ(error_of("F a\x01"
                       "b\nT\ny\n.\n"),
              "Bad args: path contains invalid control characters");
}

TEST_F(Plan, S160_ExistingFilesMustHaveBeenSeen) {
    memory.files = {{"a", {"1\n2\n"}}};
    std::vector<std::vector<std::uint64_t>> asked;
    const SeenCheck all = [&](const FileState&, const std::vector<std::uint64_t>& lines) {
        asked.push_back(lines);
        return Result<>{};
    };
    EXPECT_EQ(error_of("F a\nE\n2\n.\nF new\nT\nx\n.\n", all), "");
    EXPECT_THAT(asked, ElementsAre(IsEmpty(), ElementsAre(2U)));
    const SeenCheck none = [](const FileState&, const std::vector<std::uint64_t>&) {
        return Result<>{Error(ErrorKind::kConflict, 0, "not read")};
    };
    const auto plan = patch("F a\nE\n2\n.\n", none);
    ASSERT_FALSE(plan);
    EXPECT_EQ(plan.error().message(), "a: not read");
    EXPECT_EQ(plan.error().kind(), ErrorKind::kConflict);
    const SeenCheck first = [](const FileState&, const std::vector<std::uint64_t>& lines) {
        return lines.empty() ? Result<>{} : Result<>{Error(ErrorKind::kConflict, 0, "line")};
    };
    EXPECT_EQ(error_of("F a\nE\n2\n.\n", first), "a: line");
    EXPECT_EQ(error_of("F a\nT\n2\n.\n", first), "");
}

TEST_F(Plan, S156_TheOptionForMixedEndings) {
    memory.files = {{"a", {"1\n2\r\n3\n"}}};
    const std::string sections = "F a\nE\n3\n.\n";
    settings.lp1_eol = MixedEndings::kStrict;
    EXPECT_EQ(error_of(sections), "Patch failed for a: Mixed EOL detected");
    settings.lp1_eol = MixedEndings::kNormalize;
    EXPECT_EQ(patch(sections)->files[0].after, "1\n2\n");
    EXPECT_EQ(patch("F a\n")->files[0].after, "1\n2\n3\n");
    settings.lp1_eol = MixedEndings::kPreserve;
    EXPECT_EQ(patch(sections)->files[0].after, "1\n2\r\n");
    EXPECT_THAT(patch("F a\n")->files, IsEmpty());
}

TEST_F(Plan, S132_ASpanPlanAnswersInEveryOutcome) {
    memory.files = {{"a", {"1\r\n2\r\n"}}};
    memory.directories = {"dir"};
    SnippetRequest request;
    request.path = "a";
    request.old_snippet = "2";
    request.new_snippet = "x";
    request.region_id = "r";
    AnsweredPlan made = plan_snippet(request, settings, memory, {});
    EXPECT_EQ(made.response.status, EditStatus::kOk);
    ASSERT_EQ(made.plan.files.size(), 1U);
    EXPECT_EQ(made.plan.files[0].after, "1\r\nx\r\n");
    EXPECT_EQ(made.plan.files[0].hash_after, made.response.hash_after);

    request.new_snippet = "2";
    made = plan_snippet(request, settings, memory, {});
    EXPECT_EQ(made.response.message, "No changes applied.");
    EXPECT_THAT(made.plan.files, IsEmpty());

    for (const char* path : {"dir", "none"}) {
        request.path = path;
        made = plan_snippet(request, settings, memory, {});
        EXPECT_EQ(made.response.status, EditStatus::kError);
        EXPECT_EQ(made.response.region_id, "r");
        EXPECT_FALSE(made.response.hash_after);
        EXPECT_THAT(made.plan.files, IsEmpty());
    }
}

TEST_F(Plan, S144_ASpanOfAnUnseenFileIsStale) {
    memory.files = {{"a", {"1\n2\n"}}};
    LineRequest request;
    request.path = "a";
    request.lines = {2, 2};
    request.new_content = "x";
    for (const bool at_once : {true, false}) {
        const SeenCheck seen = [&](const FileState&, const std::vector<std::uint64_t>& lines) {
            return at_once || !lines.empty() ? Result<>{Error(ErrorKind::kConflict, 0, "unseen")}
                                             : Result<>{};
        };
        const AnsweredPlan made = plan_lines(request, settings, memory, seen);
        EXPECT_EQ(made.response.status, EditStatus::kStaleFile);
        EXPECT_EQ(made.response.message, "a: unseen");
        EXPECT_EQ(made.response.hash_after, digest_of("1\n2\n"));
        EXPECT_EQ(made.response.newline, Newline::kLf);
        EXPECT_THAT(made.plan.files, IsEmpty());
    }
}

// What an LP1 patch leaves alone is as it was, whatever the patch is.
TEST_F(Plan, S145_NothingButThePlanSaysWhatChanges) {
    Random random(7);
    SCOPED_TRACE(random.trace());
    std::size_t planned = 0;
    for (int i = 0; i < 3000; ++i) {
        memory.files = {{"a", {random.text(6, {"\n", "\r\n"})}}, {"b", {random.text(6, {"\n"})}}};
        const auto before = memory.files;
        std::string sections;
        for (std::size_t count = random.below(4); count > 0; --count) {
            sections += random.chance(2) ? "F a\n" : "F b\n";
            sections += random.one_of(
                std::vector<std::string>{"E 1\na\n.\n", "T\nx\n.\n", "R\nab\n.\n..\n.\n", "N -\n"});
        }
        const auto plan = patch(sections);
        ASSERT_EQ(memory.files, before);
        if (!plan) continue;
        ++planned;
        for (const PlannedFile& file : plan->files) {
            ASSERT_EQ(file.before, before.at(file.path).bytes);
            ASSERT_NE(file.before, file.after);
        }
    }
    EXPECT_GT(planned, 500U);
}

}  // namespace
}  // namespace unwrite::edit
