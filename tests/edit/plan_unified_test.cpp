#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "edit/diff.h"
#include "edit/plan.h"
#include "edit/report.h"
#include "tests/edit/memory_files.h"
#include "tests/edit/random.h"

namespace unwrite::edit {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class UnifiedPlan : public testing::Test {
 protected:
    Result<EditPlan> plan(const std::string& patch, const SeenCheck& seen = {}) {
        return plan_unified(patch, 1, settings, memory, seen);
    }
    std::string error_of(const std::string& patch) {
        const auto made = plan(patch);
        return made ? "" : made.error().message();
    }
    void carry_out(const std::string& patch) {
        const auto made = plan(patch);
        ASSERT_TRUE(made) << made.error().message();
        memory.carry_out(*made);
    }

    MemoryFiles memory;
    Settings settings;
};

constexpr const char* kChangeA = "--- a/a\n+++ b/a\n@@ -2 +2 @@\n-2\n+x\n";

TEST_F(UnifiedPlan, S159_ChangesCreatesAndDeletes) {
    memory.files = {{"a", {"1\n2\n3\n"}}, {"old", {"x\n"}}};
    const auto made = plan(std::string(kChangeA) +
                           "--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+n\n"
                           "--- a/old\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n");
    ASSERT_TRUE(made) << made.error().message();
    memory.carry_out(*made);
    EXPECT_EQ(memory.files["a"].bytes, "1\nx\n3\n");
    EXPECT_EQ(memory.files["new"].bytes, "n\n");
    EXPECT_FALSE(memory.files.contains("old"));
    EXPECT_EQ(*edit_report(*made),
              "modified: a\ncreated: new\ndeleted: old\n\n"
              "a:\n1  1\n2 -2\n2 +x\n3  3\nnew:\n1 +n\nold:\n1 -x\n");
}

TEST_F(UnifiedPlan, S159_SwappedAndChainedRenames) {
    memory.files = {{"x", {"x\n", 0755}}, {"y", {"y\n"}}, {"z", {"z\n"}}};
    carry_out(
        "diff --git a/x b/y\nrename from x\nrename to y\n"
        "diff --git a/y b/x\nrename from y\nrename to x\n--- a/y\n+++ b/x\n@@ -1 +1 @@\n-y\n+Y\n");
    EXPECT_EQ(memory.files["y"], (MemoryFile{"x\n", 0755}));
    EXPECT_EQ(memory.files["x"], (MemoryFile{"Y\n", 0644}));
    carry_out(
        "diff --git a/x b/y\nrename from x\nrename to y\n"
        "diff --git a/y b/z\nrename from y\nrename to z\n"
        "diff --git a/z b/w\nrename from z\nrename to w\n");
    EXPECT_FALSE(memory.files.contains("x"));
    EXPECT_EQ(memory.files["y"].bytes, "Y\n");
    EXPECT_EQ(memory.files["z"].bytes, "x\n");
    EXPECT_EQ(memory.files["w"].bytes, "z\n");
    EXPECT_NE(error_of("diff --git a/w b/z\nrename from w\nrename to z\n"), "");
}

TEST_F(UnifiedPlan, S159_WhatDiffNSaysOfAbsentFiles) {
    memory.files = {{"gone", {"a\nb\n"}}, {"emptied", {"a\n"}}};
    const std::string now = "\t2026-11-25 10:00:00.000000000 +0100\n";
    const std::string absent = "\t1970-01-01 01:00:00.000000000 +0100\n";
    carry_out("--- a/gone" + now + "+++ b/gone" + absent + "@@ -1,2 +0,0 @@\n-a\n-b\n--- a/made" +
              absent + "+++ b/made" + now + "@@ -0,0 +1 @@\n+x\n--- a/emptied" + now +
              "+++ b/emptied" + now + "@@ -1 +0,0 @@\n-a\n");
    EXPECT_FALSE(memory.files.contains("gone"));
    EXPECT_EQ(memory.files["made"].bytes, "x\n");
    EXPECT_EQ(memory.files["emptied"].bytes, "");
}

TEST_F(UnifiedPlan, S159_AHunkForAnEmptyFileFitsNoOther) {
    memory.files = {{"a", {"1\n"}}, {"empty", {""}}};
    EXPECT_EQ(error_of("--- a/a\n+++ b/a\n@@ -0,0 +1 @@\n+x\n"),
              "Patch failed for a: Hunk #1 (line 0) is for an empty file (line 3 of the patch)");
    carry_out("--- a/empty\n+++ b/empty\n@@ -0,0 +1 @@\n+x\n");
    EXPECT_EQ(memory.files["empty"].bytes, "x\n");
}

TEST_F(UnifiedPlan, RenamesCopiesAndModes) {
    memory.files = {{"x", {"1\n2\n", 0755}}, {"m", {"m\n"}}};
    carry_out(
        "diff --git a/x b/z\ncopy from x\ncopy to z\n"
        "diff --git a/x b/y\nrename from x\nrename to y\n--- a/x\n+++ b/y\n"
        "@@ -1,2 +1,2 @@\n 1\n-2\n+3\n"
        "diff --git a/m b/m\nold mode 100644\nnew mode 100755\n");
    EXPECT_FALSE(memory.files.contains("x"));
    EXPECT_EQ(memory.files["y"], (MemoryFile{"1\n3\n", 0755}));
    EXPECT_EQ(memory.files["z"], (MemoryFile{"1\n2\n", 0755}));
    EXPECT_EQ(memory.files["m"], (MemoryFile{"m\n", 0755}));
}

TEST_F(UnifiedPlan, EmptyFilesAreCreatedAndDeleted) {
    memory.files = {{"old", {""}}};
    carry_out(
        "diff --git a/new b/new\nnew file mode 100644\n"
        "diff --git a/old b/old\ndeleted file mode 100644\n");
    EXPECT_EQ(memory.files.size(), 1U);
    EXPECT_TRUE(memory.files.contains("new"));
}

TEST_F(UnifiedPlan, S159_NothingIsPlannedWhenOneFileFails) {
    memory.files = {{"a", {"1\n2\n"}}, {"b", {"b\n"}}};
    EXPECT_EQ(error_of(std::string(kChangeA) + "--- a/b\n+++ b/b\n@@ -1 +1 @@\n-z\n+y\n"),
              "Patch failed for b: Hunk #1 (line 1) does not match (line 8 of the patch)");
}

TEST_F(UnifiedPlan, WhatDoesNotFitTheTreeIsRefused) {
    memory.files = {{"a", {"1\n2\n"}}};
    memory.directories = {"dir"};
    EXPECT_EQ(error_of("--- /dev/null\n+++ b/a\n@@ -0,0 +1 @@\n+n\n"),
              "Patch failed for a: File already exists");
    EXPECT_EQ(error_of("--- a/none\n+++ b/none\n@@ -1 +1 @@\n-a\n+b\n"),
              "Patch failed for none: File does not exist");
    EXPECT_EQ(error_of("diff --git a/n b/y\nrename from n\nrename to y\n"),
              "Patch failed for n: File does not exist");
    EXPECT_EQ(
        error_of("--- a/a\n+++ /dev/null\n@@ -1 +0,0 @@\n-1\n"),
        "Patch failed for a: The patch empties the file but leaves lines in it (line 3 of the "
        "patch)");
    EXPECT_EQ(error_of("--- a/dir\n+++ b/dir\n@@ -1 +1 @@\n-a\n+b\n"),
              "Patch failed for dir: Path is a directory");
    EXPECT_EQ(error_of("x"),
              "Patch failed for <patch>: No file in the patch (line 1 of the patch)");
}

TEST_F(UnifiedPlan, S142_NamesMustLeadDown) {
    for (const char* path : {"../x", "x/../../y", "/etc/x", "x//y", "./x", "x/.", "x/"}) {
        const std::string name = path;
        EXPECT_EQ(error_of("--- /dev/null\n+++ b/" + name + "\n@@ -0,0 +1 @@\n+n\n"),
                  "Patch failed for " + name + ": Invalid path");
        EXPECT_EQ(error_of("diff --git a/a b/b\nrename from " + name + "\nrename to ok\n"),
                  "Patch failed for " + name + ": Invalid path");
    }
}

TEST_F(UnifiedPlan, PatchesOfTheSameFileBuildOnEachOther) {
    memory.files = {{"a", {"1\n2\n"}}};
    const auto made = plan(std::string(kChangeA) + "--- a/a\n+++ b/a\n@@ -2 +2 @@\n-x\n+y\n");
    ASSERT_TRUE(made);
    ASSERT_EQ(made->files.size(), 1U);
    EXPECT_EQ(made->files[0].after, "1\ny\n");
}

TEST_F(UnifiedPlan, S160_ChangedLinesMustHaveBeenSeen) {
    memory.files = {{"a", {"0\n1\n2\n3\n"}}};
    std::vector<std::vector<std::uint64_t>> asked;
    const SeenCheck seen = [&](const FileState&, const std::vector<std::uint64_t>& lines) {
        asked.push_back(lines);
        return Result<>{};
    };
    ASSERT_TRUE(plan(kChangeA, seen));
    EXPECT_THAT(asked, ElementsAre(IsEmpty(), ElementsAre(3U)));
    asked.clear();
    ASSERT_TRUE(plan("diff --git a/a b/y\nrename from a\nrename to y\n", seen));
    EXPECT_THAT(asked, ElementsAre(IsEmpty()));
}

// What unified_diff() makes of two trees, plan_unified() carries out.
TEST_F(UnifiedPlan, DiffsOfTreesAreCarriedOut) {
    Random random(8);
    SCOPED_TRACE(random.trace());
    const std::vector<std::string> names = {"a", "b c", "d/\xc3\xa4", "e\nf"};
    for (int i = 0; i < 1500; ++i) {
        std::map<std::string, MemoryFile> older;
        std::map<std::string, MemoryFile> newer;
        std::string patch;
        for (const std::string& name : names) {
            const auto make = [&](auto& tree) {
                if (!random.chance(4))
                    tree[name] = {random.text(8, {"\n", "\r\n"}), random.chance(2) ? 0755U : 0644U};
            };
            make(older);
            make(newer);
            const auto side = [&](const auto& tree) {
                const auto found = tree.find(name);
                if (found == tree.end()) return DiffText{name};
                return DiffText{name, found->second.bytes, found->second.mode == 0755U};
            };
            patch += *unified_diff(side(older), side(newer));
        }
        memory.files = older;
        if (patch.empty()) continue;
        const auto made = plan(patch);
        ASSERT_TRUE(made) << made.error().message() << "\n" << patch;
        memory.carry_out(*made);
        ASSERT_EQ(memory.files, newer) << patch;
    }
}

}  // namespace
}  // namespace unwrite::edit
