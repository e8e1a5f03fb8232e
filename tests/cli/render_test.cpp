#include "cli/render.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <ctime>

#include "cli/log_lines.h"
#include "overlay/changes.h"

namespace unwrite::cli {
namespace {

using overlay::Change;
using overlay::ChangeKind;

Change change(ChangeKind kind, const std::string& path, std::uint32_t type = S_IFREG,
              std::uint64_t below = 0) {
    Change one;
    one.kind = kind;
    one.path = path;
    one.type = type;
    one.below = below;
    return one;
}

std::vector<Change> several(ChangeKind kind, int count) {
    std::vector<Change> changes;
    for (int i = 0; i < count; ++i)
        changes.push_back(change(kind, "f" + std::to_string(i)));
    return changes;
}

template <class... More>
std::vector<Change> together(std::vector<Change> first, const More&... more) {
    (first.insert(first.end(), more.begin(), more.end()), ...);
    return first;
}

TEST(Render, S54_SummarySentence) {
    EXPECT_EQ(
        summary_words(together(several(ChangeKind::kModified, 12), several(ChangeKind::kCreated, 3),
                               several(ChangeKind::kDeleted, 1))),
        "Modified 12 files, created 3, deleted 1");
    EXPECT_EQ(summary_words(several(ChangeKind::kCreated, 1)), "Created 1 file");
    EXPECT_EQ(
        summary_words(together(several(ChangeKind::kDeleted, 2), several(ChangeKind::kRenamed, 1))),
        "Deleted 2 files, renamed 1");
    EXPECT_EQ(summary_words({}), "No changes");
    EXPECT_EQ(summary_words(
                  together(several(ChangeKind::kModified, 1), several(ChangeKind::kAttributes, 1))),
              "Modified 2 files");
}

TEST(Render, S61_LinesAcrossFiles) {
    EXPECT_EQ(line_words({142, 38}, 6, 0), "+142 -38 across 6 files");
    EXPECT_EQ(line_words({1, 0}, 1, 0), "+1 -0 across 1 file");
    EXPECT_EQ(line_words({1, 0}, 12, 11), "+1 -0 across 12 files (lines of 11 files not counted)");
}

TEST(Render, S64_StatusLine) {
    EXPECT_EQ(status_line(6), "[checkpoint: 6 files changed]");
    EXPECT_EQ(status_line(1), "[checkpoint: 1 file changed]");
    EXPECT_EQ(status_line(0), "[checkpoint: 0 files changed]");
}

TEST(Render, S61_EachKindHasALine) {
    Change renamed = change(ChangeKind::kRenamed, "new");
    renamed.old_path = "old";
    renamed.content = true;
    Change folded = change(ChangeKind::kCreated, "node_modules", S_IFDIR, 1234);
    folded.bytes = 5 << 20;
    EXPECT_EQ(change_lines({change(ChangeKind::kModified, "a"), change(ChangeKind::kDeleted, "b\n"),
                            renamed, folded, change(ChangeKind::kAttributes, "run.sh")},
                           0, Colour::kNo),
              "  M  a\n"
              "  D  \"b\\n\"\n"
              "  R  old -> new  (and modified)\n"
              "  A  node_modules/  (1,234 objects, 5.0 MiB)\n"
              "  m  run.sh  (attributes)\n");
}

TEST(Render, S61_WhichAttributesIsSaid) {
    Change mode = change(ChangeKind::kAttributes, "run.sh");
    mode.aspects = overlay::kAspectMode;
    Change xattrs = change(ChangeKind::kAttributes, "x");
    xattrs.aspects = overlay::kAspectXattrs;
    Change several = change(ChangeKind::kAttributes, "s");
    several.aspects = overlay::kAspectOwner | overlay::kAspectAcl | overlay::kAspectTime;
    Change both = change(ChangeKind::kModified, "b");
    both.aspects = overlay::kAspectMode;
    Change renamed = change(ChangeKind::kRenamed, "new");
    renamed.old_path = "old";
    renamed.content = true;
    renamed.aspects = overlay::kAspectXattrs;
    const std::vector<Change> changes = {mode, xattrs, xattrs, several, both, renamed};
    EXPECT_EQ(change_lines(changes, 0, Colour::kNo),
              "  m  run.sh  (mode)\n"
              "  m  x  (extended attributes)\n"
              "  m  x  (extended attributes)\n"
              "  m  s  (owner, access list, time)\n"
              "  M  b  (and mode)\n"
              "  R  old -> new  (and modified, extended attributes)\n");
    EXPECT_EQ(
        summary_words(changes),
        "Modified 5 files (1 attributes only, 2 extended attributes only, 1 mode only), renamed 1");
    EXPECT_EQ(diff_lines({.change = xattrs, .text = "", .lines = {}}, false, Colour::kNo),
              "# x: extended attributes\n");
}

TEST(Render, S61_FoldedDirectoriesCountTheFilesTheyHold) {
    Change folded = change(ChangeKind::kCreated, "d", S_IFDIR, 1234);
    folded.files = 1200;
    folded.ignored = 1100;
    EXPECT_EQ(overlay::files_in(std::vector<Change>{folded, change(ChangeKind::kModified, "a")}),
              1201u);
    EXPECT_EQ(summary_words({folded, change(ChangeKind::kModified, "a")}),
              "Modified 1 file, created 1200 (1100 in .git or ignored by git)");
    EXPECT_EQ(overlay::files_in(change(ChangeKind::kCreated, "empty", S_IFDIR, 0)), 1u);
    overlay::FileDiff left_out{.change = folded, .text = "", .lines = {}};
    overlay::FileDiff one{
        .change = change(ChangeKind::kModified, "a"), .text = "", .lines = {2, 1}};
    EXPECT_EQ(stat_lines({left_out, one}),
              " d/ | 1200 files, lines not counted\n"
              " a  | 3 ++-\n"
              "+2 -1 across 1201 files (lines of 1200 files not counted)\n");
    Change renamed = change(ChangeKind::kRenamed, "lib", S_IFDIR);
    renamed.old_path = "src";
    renamed.files = 40;
    EXPECT_EQ(summary_words({renamed}), "Renamed 40 files");
    EXPECT_EQ(change_words(renamed), "src/ -> lib/  (40 files)");
}

TEST(Render, LongListsAreCut) {
    const std::string text = change_lines(several(ChangeKind::kModified, 30), 10, Colour::kNo);
    EXPECT_NE(text.find("  ...  and 20 more\n"), std::string::npos);
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 11);
}

overlay::Origin origin(const std::string& session, const std::string& executable,
                       std::int64_t pid) {
    overlay::Origin one;
    one.session = session;
    one.executable = executable;
    one.pid = pid;
    return one;
}

TEST(Render, WhoseWork) {
    EXPECT_EQ(origins_words({origin("user", "/usr/bin/vim", 7)}), "you (vim)");
    EXPECT_EQ(origins_words({origin("run-5", "/usr/bin/make", 8), origin("run-5", "/bin/sh", 9),
                             origin("user", "", 0), origin("run-5", "/usr/bin/make", 10)}),
              "run-5 (make, sh) and you");
    EXPECT_EQ(origins_words({origin("a\n", "", 0)}), "\"a\\n\"");
    EXPECT_EQ(origins_words({origin("a", "", 0), origin("b", "", 0), origin("c", "", 0)}),
              "a, b and c");
}

TEST(Render, S61_WhoChangedHowMuch) {
    overlay::Origin run;
    run.number = 1;
    run.session = "run-5";
    run.executable = "/usr/bin/make";
    run.agent = true;
    overlay::Origin user;
    user.number = 2;
    user.session = "user";
    user.executable = "/usr/bin/vim";
    auto mine = change(ChangeKind::kModified, "a");
    mine.origins = {2};
    auto its = change(ChangeKind::kModified, "b");
    its.origins = {1};
    auto both = change(ChangeKind::kModified, "c");
    both.origins = {1, 2};
    auto nobodys = change(ChangeKind::kModified, "d");
    nobodys.origins = {9};
    EXPECT_EQ(who_lines({mine, its, its, both, nobodys}, {run, user}),
              "  2 files by run-5 (make)\n"
              "  1 file by run-5 (make) and you (vim)\n"
              "  1 file by you (vim)\n");
    EXPECT_EQ(who_lines({nobodys}, {run, user}), "");
}

TEST(Render, LogShowsTheTree) {
    ::setenv("TZ", "UTC", 1);
    ::tzset();
    overlay::Log log;
    log.current = 3;
    log.open_changes = {change(ChangeKind::kModified, "a")};
    log.entries.resize(3);
    log.entries[0].node.number = 3;
    log.entries[0].node.kind = overlay::NodeKind::kCheckpoint;
    log.entries[0].node.name = "before";
    log.entries[0].node.text = "why";
    log.entries[0].node.parent = 1;
    log.entries[0].on_trunk = true;
    log.entries[1].node.number = 2;
    log.entries[1].node.parent = 1;
    log.entries[1].node.kind = overlay::NodeKind::kRun;
    log.entries[2].node.number = 1;
    log.entries[2].node.kind = overlay::NodeKind::kRoot;
    log.entries[2].on_trunk = true;
    log.entries[1].node.text = "make";
    log.entries[1].undone = true;
    EXPECT_EQ(log_lines(log, false, Colour::kNo),
              "now: 1 file since n3, by you\n"
              "@ n3   1970-01-01 00:00:00  checkpoint  before  why  no files\n"
              "x n2   1970-01-01 00:00:00  run  make  no files  (abandoned, from n1)  (undone)\n"
              "* n1   1970-01-01 00:00:00  start of the task\n");
}

TEST(Render, LogSaysWhoChangedWhat) {
    overlay::Log log;
    log.origins = {origin("run-5", "/usr/bin/make", 8)};
    log.origins[0].number = 4;
    log.entries.resize(1);
    log.entries[0].changes = {change(ChangeKind::kModified, "a")};
    log.entries[0].changes[0].origins = {4, 9};
    log.entries[0].node.parent = 1;
    EXPECT_EQ(step_title(log.entries[0], log), "changes by run-5 (make)");
    EXPECT_NE(log_lines(log, true, Colour::kNo)
                  .find("by run-5 (make)  1 file  (abandoned, from n1)\n  M  a\n"),
              std::string::npos);
    log.entries[0].node.kind = overlay::NodeKind::kRun;
    log.entries[0].node.text = "make test";
    EXPECT_NE(log_lines(log, false, Colour::kNo).find("run  make test  1 file by run-5 (make)"),
              std::string::npos);
}

overlay::FileDiff file_diff(const std::string& path, const std::string& text,
                            overlay::LineCounts lines = {}) {
    overlay::FileDiff diff;
    diff.change = change(ChangeKind::kModified, path);
    diff.text = text;
    diff.lines = lines;
    return diff;
}

TEST(Render, DiffsPassUnchangedIntoFiles) {
    const std::string text =
        "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-\x1b[31m\xff\n+b\r\n\\ No newline at end of file\n";
    EXPECT_EQ(diff_lines(file_diff("x", text), false, Colour::kNo), text);
}

TEST(Render, DiffsOnATerminalHaveColourAndNoControls) {
    const std::string text = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-\x1b[31m\n+--- b\n c\n";
    EXPECT_EQ(diff_lines(file_diff("x", text), true, Colour::kNo),
              "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-^[[31m\n+--- b\n c\n");
    EXPECT_EQ(diff_lines(file_diff("x", text), true, Colour::kYes),
              "\x1b[1m--- a/x\x1b[m\n\x1b[1m+++ b/x\x1b[m\n\x1b[36m@@ -1 +1 @@\x1b[m\n"
              "\x1b[31m-^[[31m\x1b[m\n\x1b[32m+--- b\x1b[m\n c\n");
}

TEST(Render, Stat) {
    overlay::FileDiff binary = file_diff("image.png", "");
    binary.binary = true;
    EXPECT_EQ(stat_lines({file_diff("src/a.c", "", {3, 1}), binary, file_diff("b", "", {400, 0})}),
              " src/a.c   | 4 +-\n"
              " image.png | binary\n"
              " b         | 400 ++++++++++++++++++++++++++++++++++++++++\n"
              "+403 -1 across 3 files\n");
}

}  // namespace
}  // namespace unwrite::cli
