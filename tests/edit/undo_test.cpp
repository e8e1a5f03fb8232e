#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "edit/observed.h"
#include "edit/undo_entry.h"
#include "tests/edit/memory_files.h"
#include "tests/edit/random.h"

namespace unwrite::edit {
namespace {

using testing::ElementsAre;

constexpr const char* kNothing = "No edits have been applied to any file with this session.";

class UndoTool : public testing::Test {
 protected:
    /// Plans the LP1 sections, carries the plan out and notes it, as the tool does.
    void edit(const std::string& sections) {
        const auto plan = plan_lp1("LP1\n" + sections + "END\n", settings, memory, {});
        ASSERT_TRUE(plan) << plan.error().message();
        memory.carry_out(*plan);
        entries.applied("s", targets_of(*plan));
    }
    std::string undo_error() {
        const auto undone = entries.undo("s", memory);
        return undone ? "" : undone.error().message();
    }

    MemoryFiles memory;
    Settings settings;
    UndoEntries entries;
};

TEST_F(UndoTool, S16_S33_T_UNDO_01_RestoresAFileThatTheEditEmptied) {
    memory.files = {{"a", {"1\n2\n"}}};
    const auto before = memory.files;
    edit("F a\nE\n1\n2\n.\n");
    ASSERT_EQ(memory.files["a"].bytes, "");
    EXPECT_EQ(undo_error(), "");
    EXPECT_EQ(memory.files, before);
}

TEST_F(UndoTool, S17_S34_T_UNDO_02_RemovesAFileThatTheEditCreated) {
    edit("F new\nT\nx\n.\n");
    ASSERT_TRUE(memory.files.contains("new"));
    EXPECT_EQ(undo_error(), "");
    EXPECT_FALSE(memory.files.contains("new"));
}

TEST_F(UndoTool, S8_S35_T_UNDO_03_TheEmptyStateText) {
    const auto undone = entries.undo("s", memory);
    ASSERT_FALSE(undone);
    EXPECT_EQ(undone.error().message(), kNothing);
    EXPECT_EQ(undone.error().kind(), ErrorKind::kNothing);
}

TEST_F(UndoTool, S13_S36_T_UNDO_04_AFileThatChangedSinceIsNotTouchedNorAreOthers) {
    memory.files = {{"a", {"1\n"}}, {"b", {"2\n"}}};
    edit("F a\nT\nx\n.\nF b\nT\ny\n.\n");
    memory.files["b"].bytes += "mine\n";
    const auto before = memory.files;
    EXPECT_EQ(undo_error(), "b: hash mismatch");
    EXPECT_EQ(memory.files, before);
    EXPECT_EQ(memory.changes, 0);
    EXPECT_TRUE(entries.has("s"));
}

TEST_F(UndoTool, S15_S24_S37_T_UNDO_05_AFailureAtAnyStepGoesBack) {
    // All three files that are there afterwards are prepared first.
    const std::string failing = "abdabcd";
    for (int step = 1; step <= 7; ++step) {
        memory = {};
        memory.files = {{"a", {"1\n"}}, {"b", {"2\n", 0600}}, {"d", {"3\n"}}};
        edit("F a\nT\nx\n.\nF b\nT\ny\n.\nF c\nT\nz\n.\nF d\nE\n3\n.\n");
        memory.files["b"].mode = 0755;  // someone's, since the edit
        const auto before = memory.files;
        memory.fail_at = step;
        EXPECT_EQ(undo_error(),
                  failing.substr(static_cast<std::size_t>(step) - 1, 1) + ": Input/output error");
        EXPECT_EQ(memory.files, before) << step;
        EXPECT_TRUE(memory.prepared.empty()) << step;
        if (step <= 3) {
            EXPECT_EQ(memory.changes, step) << "nothing was put in place";
        }
        EXPECT_TRUE(entries.has("s"));
        memory.fail_at = 0;
        EXPECT_EQ(undo_error(), "");
        EXPECT_EQ(memory.files["b"], (MemoryFile{"2\n", 0600}));
    }
}

TEST_F(UndoTool, S38_T_UNDO_06_AfterUndoAnEditNeedsANewRead) {
    memory.files = {{"a", {"1\n"}}};
    Observed observed;
    observed.read_all("s", "a", "1\n");
    edit("F a\nT\nx\n.\n");
    ASSERT_TRUE(observed.edited("s", "a", Content::of("1\n"), Content::of("1\nx\n")));
    const auto undone = entries.undo("s", memory);
    ASSERT_TRUE(undone);
    for (const std::string& path : undone->paths)
        observed.forget(path);
    const SeenCheck seen = [&](const FileState& file, const std::vector<std::uint64_t>& lines) {
        if (!lines.empty()) return observed.check_lines("s", file.path, lines);
        return observed.check("s", file.path, file.bytes);
    };
    const auto plan = plan_lp1("LP1\nF a\nT\nx\n.\nEND\n", settings, memory, seen);
    ASSERT_FALSE(plan);
    EXPECT_EQ(plan.error().message(),
              "a: File was not read before editing, or has been modified since last read");
}

TEST_F(UndoTool, S2_S26_NoArgumentsAreTaken) {
    EXPECT_EQ(undo_schema(), R"({"type":"object","properties":{},"additionalProperties":false})");
    EXPECT_TRUE(check_undo_arguments("{}"));
    for (const char* arguments :
         {R"({"path":"a"})", R"({"steps":2})", R"({"x":null})", "[]", "null", "", "{"}) {
        const auto refused = check_undo_arguments(arguments);
        ASSERT_FALSE(refused) << arguments;
        EXPECT_EQ(refused.error().message(), "Bad args: Undo takes no arguments");
    }
}

TEST_F(UndoTool, S4_S39_OneEntryForEachSession) {
    memory.files = {{"a", {"1\n"}}};
    edit("F a\nT\nx\n.\n");
    EXPECT_EQ(entries.undo("other", memory).error().message(), kNothing);
    EXPECT_EQ(undo_error(), "");
}

TEST_F(UndoTool, S9_S18_OnlyTheNewestEditAndOnlyOnce) {
    memory.files = {{"a", {"1\n"}}, {"b", {"1\n"}}};
    edit("F a\nT\n2\n.\n");
    edit("F b\nT\n3\n.\n");
    EXPECT_EQ(undo_error(), "");
    EXPECT_EQ(memory.files["a"].bytes, "1\n2\n");
    EXPECT_EQ(memory.files["b"].bytes, "1\n");
    EXPECT_EQ(undo_error(), kNothing);
}

TEST_F(UndoTool, S5_S7_AnEditWithoutChangesLeavesTheEntry) {
    memory.files = {{"a", {"1\n"}}};
    edit("F a\nT\n2\n.\n");
    edit("F a\n");
    EXPECT_EQ(undo_error(), "");
    EXPECT_EQ(memory.files["a"].bytes, "1\n");
    edit("F a\n");
    EXPECT_EQ(undo_error(), kNothing);
}

TEST_F(UndoTool, S6_AnEntryKnowsWhatTheEditFoundAndLeft) {
    memory.files = {{"a", {"1\n", 0751}}};
    const auto plan = plan_lp1("LP1\nF a\nT\n2\n.\nF n\nT\nx\n.\nEND\n", settings, memory, {});
    const auto targets = targets_of(*plan);
    ASSERT_EQ(targets.size(), 2U);
    EXPECT_EQ(targets[0].path, "a");
    EXPECT_TRUE(targets[0].existed);
    EXPECT_EQ(targets[0].before, "1\n");
    EXPECT_EQ(targets[0].mode, 0751U);
    EXPECT_EQ(targets[0].after, digest_of("1\n2\n"));
    EXPECT_FALSE(targets[1].existed);
    EXPECT_EQ(targets[1].after, digest_of("x"));
}

TEST_F(UndoTool, S10_S11_S12_S14_S21_S27_WhatTheTargetsMustBe) {
    memory.files = {{"a", {"1\n"}}, {"b", {"2\n"}}};
    edit("F a\nT\nx\n.\nF b\nT\ny\n.\n");
    const MemoryFiles good = memory;
    const auto with = [&](const auto& spoil) {
        memory = good;
        spoil();
        const auto before = memory.files;
        const std::string error = undo_error();
        EXPECT_EQ(memory.files, before);
        EXPECT_EQ(memory.changes, 0);
        return error;
    };
    EXPECT_EQ(with([&] { memory.refused["b"] = "outside sandbox"; }), "b: outside sandbox");
    EXPECT_EQ(with([&] { memory.refused["b"] = "denied pattern"; }), "b: denied pattern");
    EXPECT_EQ(with([&] { memory.files.erase("b"); }), "b: file missing");
    EXPECT_EQ(with([&] {
                  memory.files.erase("b");
                  memory.directories.insert("b");
              }),
              "b: is a directory");
    EXPECT_EQ(with([&] {
                  memory.files.erase("b");
                  memory.special.insert("b");
              }),
              "b: is not a regular file");
}

// A change that comes after the check is found by the step itself, and all goes back.
TEST_F(UndoTool, S23_AChangeBetweenCheckAndStepIsNotOverwritten) {
    class Racing final : public UndoFiles {
     public:
        explicit Racing(MemoryFiles& files) : files_(files) {}
        Result<> allowed(const std::string& path, const std::string* bytes) override {
            return files_.allowed(path, bytes);
        }
        Result<FileState> look(const std::string& path) override { return files_.look(path); }
        Result<> prepare(const std::string&, const std::string&,
                         std::optional<std::uint32_t>) override {
            return {};
        }
        void drop_prepared() override {}
        Result<> put(const std::string& path, const std::optional<Digest>& expected,
                     const std::string& bytes, std::optional<std::uint32_t> mode) override {
            if (path == "b") files_.files["b"].bytes = "mine\n";
            return files_.put(path, expected, bytes, mode);
        }
        Result<> remove(const std::string& path, const Digest& expected) override {
            return files_.remove(path, expected);
        }
        Result<> remove_empty_directory(const std::string& path) override {
            return files_.remove_empty_directory(path);
        }

     private:
        MemoryFiles& files_;
    };
    memory.files = {{"a", {"1\n"}}, {"b", {"2\n"}}};
    edit("F a\nT\nx\n.\nF b\nT\ny\n.\n");
    Racing racing(memory);
    const auto undone = entries.undo("s", racing);
    ASSERT_FALSE(undone);
    EXPECT_EQ(undone.error().message(), "b: hash mismatch");
    EXPECT_EQ(memory.files["a"].bytes, "1\nx\n");
    EXPECT_EQ(memory.files["b"].bytes, "mine\n");
}

TEST_F(UndoTool, S37_WhatCannotGoBackIsNamed) {
    memory.files = {{"a", {"1\n"}}, {"b", {"2\n"}}};
    edit("F a\nT\nx\n.\nF b\nT\ny\n.\n");
    class Broken final : public UndoFiles {
     public:
        explicit Broken(MemoryFiles& files) : files_(files) {}
        Result<> allowed(const std::string& path, const std::string* bytes) override {
            return files_.allowed(path, bytes);
        }
        Result<FileState> look(const std::string& path) override { return files_.look(path); }
        Result<> prepare(const std::string&, const std::string&,
                         std::optional<std::uint32_t>) override {
            return {};
        }
        void drop_prepared() override {}
        Result<> put(const std::string& path, const std::optional<Digest>& expected,
                     const std::string& bytes, std::optional<std::uint32_t> mode) override {
            if (++puts_ > 1) return Error(EIO);
            return files_.put(path, expected, bytes, mode);
        }
        Result<> remove(const std::string&, const Digest&) override { return Error(EIO); }
        Result<> remove_empty_directory(const std::string&) override { return {}; }

     private:
        MemoryFiles& files_;
        int puts_ = 0;
    };
    Broken broken(memory);
    const auto undone = entries.undo("s", broken);
    ASSERT_FALSE(undone);
    EXPECT_EQ(undone.error().kind(), ErrorKind::kRecovery);
    EXPECT_EQ(undone.error().message(),
              "b: Input/output error; could not go back:\na: Input/output error");
}

TEST_F(UndoTool, S20_TheReportCountsAndNames) {
    memory.files = {{"d/a", {"1\n"}}, {"b\nc", {"2\n"}}};
    memory.links = {{"bc", "b\nc"}};
    edit("F d/a\nT\nx\n.\nF bc\nT\ny\n.\n");
    const auto undone = entries.undo("s", memory);
    ASSERT_TRUE(undone);
    EXPECT_EQ(undone->report,
              "Reverted 2 file(s):\nd/a\nb\xe2\x90\x8a"
              "c");
    EXPECT_THAT(undone->paths, ElementsAre("d/a", "b\nc"));
}

TEST_F(UndoTool, S22_PathsInReasonsAreSafeToShow) {
    memory.files = {{"a\x1b[2J", {"1\n"}}};
    memory.links = {{"a", "a\x1b[2J"}};
    edit("F a\nT\nx\n.\n");
    memory.files.clear();
    EXPECT_EQ(undo_error(), "a: file missing");
}

TEST_F(UndoTool, S21_ARefusalSaysWhatToDoNext) {
    memory.files = {{"d/a", {"1\n"}}};
    edit("F d/a\nT\nx\n.\n");
    memory.files = {{"d/a", {"2\n"}}};
    const auto undone = entries.undo("s", memory);
    ASSERT_FALSE(undone);
    EXPECT_EQ(undone.error().message(), "d/a: hash mismatch");
    EXPECT_THAT(undone.error().advice(), testing::HasSubstr("Nothing was undone"));
    EXPECT_THAT(undone.error().advice(), testing::HasSubstr("Call Read for \"d/a\""));
}

TEST_F(UndoTool, S30_NothingButTheTargetsIsRead) {
    memory.files = {{"a", {"1\n"}}, {"b", {"2\n"}}, {"other", {std::string(1000, 'x')}}};
    edit("F a\nT\nx\n.\nF b\nT\ny\n.\n");
    memory.read.clear();
    EXPECT_EQ(undo_error(), "");
    EXPECT_EQ(memory.read, (std::set<std::string>{"a", "b"}));
}

TEST_F(UndoTool, S29_S31_OldBytesAreReleased) {
    memory.files = {{"a", {std::string(1000, 'x') + "\n"}}, {"b", {"2\n"}}};
    edit("F a\nT\nx\n.\n");
    EXPECT_EQ(entries.held(), 1001U);
    edit("F b\nT\nx\n.\n");
    EXPECT_EQ(entries.held(), 2U);
    entries.end_session("s");
    EXPECT_EQ(entries.held(), 0U);
    EXPECT_EQ(undo_error(), kNothing);
}

TEST_F(UndoTool, S17_ARemovedFileComesBackAndDirectoriesGo) {
    memory.files = {{"old", {"1\n", 0700}}};
    const auto plan = plan_unified(
        "--- a/old\n+++ /dev/null\n@@ -1 +0,0 @@\n-1\n--- /dev/null\n+++ b/d/e/new\n@@ -0,0 +1 @@\n"
        "+n\n",
        1, settings, memory, {});
    ASSERT_TRUE(plan) << plan.error().message();
    memory.carry_out(*plan);
    memory.directories = {"d", "d/e"};
    auto targets = targets_of(*plan);
    targets[1].directories = {"d", "d/e"};
    entries.applied("s", std::move(targets));
    EXPECT_EQ(undo_error(), "");
    EXPECT_EQ(memory.files["old"], (MemoryFile{"1\n", 0700}));
    EXPECT_EQ(memory.files.size(), 1U);
    EXPECT_TRUE(memory.directories.empty());
}

TEST_F(UndoTool, S25_AFileInThePlaceOfARemovedOneStays) {
    memory.files = {{"old", {"1\n"}}};
    const auto plan =
        plan_unified("--- a/old\n+++ /dev/null\n@@ -1 +0,0 @@\n-1\n", 1, settings, memory, {});
    memory.carry_out(*plan);
    entries.applied("s", targets_of(*plan));
    memory.files["old"].bytes = "mine\n";
    EXPECT_EQ(undo_error(), "old: file exists");
    EXPECT_EQ(memory.files["old"].bytes, "mine\n");
}

TEST_F(UndoTool, S33_ApplyThenUndoIsTheIdentity) {
    Random random(9);
    SCOPED_TRACE(random.trace());
    std::size_t undone = 0;
    for (int i = 0; i < 3000; ++i) {
        memory.files.clear();
        for (const char* name : {"a", "b", "c"}) {
            if (!random.chance(4)) memory.files[name] = {random.text(6, {"\n", "\r\n"}), 0640};
        }
        const auto before = memory.files;
        std::string sections;
        for (std::size_t count = random.below(5) + 1; count > 0; --count) {
            sections += "F " + random.one_of(std::vector<std::string>{"a", "b", "c"}) + "\n";
            sections +=
                random.one_of(std::vector<std::string>{"E 1\na\n.\n", "T\nx\n.\n", "B\ny\n.\n",
                                                       "N -\n", "N +\n", "R 1\nab\n.\n1\n2\n.\n"});
        }
        const auto plan = plan_lp1("LP1\n" + sections + "END\n", settings, memory, {});
        if (!plan || plan->files.empty()) continue;
        memory.carry_out(*plan);
        ASSERT_NE(memory.files, before);
        entries.applied("s", targets_of(*plan));
        ASSERT_EQ(undo_error(), "");
        ASSERT_EQ(memory.files, before) << sections;
        ++undone;
    }
    EXPECT_GT(undone, 1000U);
}

}  // namespace
}  // namespace unwrite::edit
