// Reverting an agent's commits in a local repository.
#include <gtest/gtest.h>

#include "tests/git/world.h"

namespace unwrite::git::tests {
namespace {

using Names = std::vector<std::string>;

TEST(GitUndo, S107_S122_S112_AFileThatTheAgentMadeIsGone) {
    const World world;
    world.commit("start", {{"kept", "kept\n"}});
    const std::string agent = world.agent_commit(7, {{"made.txt", "by the agent\n"}});
    ASSERT_ASSIGN(const UndoReport report, world.undo(7));
    EXPECT_EQ(report.end, UndoEnd::kDone);
    EXPECT_FALSE(world.exists("made.txt"));
    EXPECT_EQ(world.read("kept"), "kept\n");
    EXPECT_TRUE(world.is_clean());
    EXPECT_EQ(report.revert_commit, world.head());
    EXPECT_EQ(markdown(report), "## 🔙 Undo complete\n\n**Reverted 1 commit(s):**\n- `" +
                                    agent.substr(0, 7) +
                                    "` gitclaw: work on issue #7\n\n**Files restored:**\n- "
                                    "`made.txt`\n\nRevert commit: `" +
                                    world.head().substr(0, 7) + "`\n");
    EXPECT_EQ(world.git({"log", "-1", "--format=%B"}),
              "Revert \"gitclaw: work on issue #7\"\n\nThis reverts commit " + agent + ".\n");
}

TEST(GitUndo, S123_AnEditedFileHasItsBytesBack) {
    const World world;
    const std::string before("line\r\nno newline at the end, \0 and \xff", 35);
    world.commit("start", {{"edited", before}});
    world.agent_commit(7, {{"edited", "other\n"}});
    ASSERT_ASSIGN(const UndoReport report, world.undo(7));
    EXPECT_EQ(report.files, Names{"edited"});
    EXPECT_EQ(world.read("edited"), before);
}

TEST(GitUndo, S108_S115_S124_TwoTurnsNewestFirst) {
    const World world;
    world.commit("start", {{"a", "0\n"}});
    const std::string one = world.agent_commit(7, {{"a", "1\n"}});
    const std::string two = world.agent_commit(7, {{"a", "2\n"}, {"b", "b\n"}});
    const std::string three = world.agent_commit(7, {{"a", "3\n"}});
    ASSERT_ASSIGN(const UndoReport report, world.undo(7, 2));
    EXPECT_EQ(world.read("a"), "1\n");
    EXPECT_FALSE(world.exists("b"));
    ASSERT_EQ(report.reverted.size(), 2u);
    EXPECT_EQ(report.reverted[0].id, three);
    EXPECT_EQ(report.reverted[1].id, two);
    EXPECT_EQ(report.files, (Names{"a", "b"}));
    // The next undo goes on where this one ended: what was reverted is not found again.
    ASSERT_ASSIGN(const UndoReport next, world.undo(7));
    ASSERT_EQ(next.reverted.size(), 1u);
    EXPECT_EQ(next.reverted[0].id, one);
    EXPECT_EQ(world.read("a"), "0\n");
    ASSERT_ASSIGN(const UndoReport last, world.undo(7));
    EXPECT_EQ(last.end, UndoEnd::kNothing);
    EXPECT_EQ(last.errors, Names{"The agent's commits for this issue were undone already."});
}

TEST(GitUndo, S128_ARevertThatWasRevertedDoesNotCount) {
    const World world;
    world.commit("start", {{"a", "0\n"}});
    const std::string agent = world.agent_commit(7, {{"a", "1\n"}});
    ASSERT_OK(world.undo(7));
    world.git({"revert", "--no-edit", "HEAD"});
    EXPECT_EQ(world.read("a"), "1\n");
    ASSERT_ASSIGN(const UndoReport again, world.undo(7));
    ASSERT_EQ(again.reverted.size(), 1u);
    EXPECT_EQ(again.reverted[0].id, agent);
    EXPECT_EQ(world.read("a"), "0\n");
}

TEST(GitUndo, S108_MoreThanThereIs) {
    const World world;
    world.commit("start", {{"a", "0\n"}});
    world.agent_commit(7, {{"a", "1\n"}});
    ASSERT_ASSIGN(const UndoReport report, world.undo(7, 3));
    EXPECT_EQ(report.end, UndoEnd::kDone);
    EXPECT_EQ(report.errors, Names{"Only 1 of the 3 commits asked for were there to undo."});
    EXPECT_NE(markdown(report).find("**Warnings:**\n- Only 1 of the 3"), std::string::npos);
}

TEST(GitUndo, S108_ZeroIsNoNumberOfCommitsOrIssue) {
    const World world;
    EXPECT_KIND(ErrorKind::kUsage, world.undo(7, 0));
    EXPECT_KIND(ErrorKind::kUsage, world.undo(0, 1));
}

TEST(GitUndo, S117_S120_S125_NothingToUndo) {
    const World world;
    world.commit("start", {{"a", "0\n"}});
    ASSERT_ASSIGN(const UndoReport none, world.undo(7));
    EXPECT_EQ(none.end, UndoEnd::kNothing);
    EXPECT_EQ(none.errors, Names{"No agent commits found for this issue to undo."});
    world.agent_commit(7, {{".GITCLAW/state/session.jsonl", "{}\n"}});
    const std::string head = world.head();
    ASSERT_ASSIGN(const UndoReport answered, world.undo(7));
    EXPECT_EQ(answered.end, UndoEnd::kNothing);
    EXPECT_EQ(answered.errors, Names{"The agent's recent commits for this issue only updated "
                                     "session state (no file changes to undo)."});
    EXPECT_EQ(markdown(answered),
              "## ⚠️ Nothing to undo\n\nI haven't made any file changes on this issue yet. My "
              "previous responses were conversation-only (no code edits).\n");
    EXPECT_EQ(world.head(), head);
}

TEST(GitUndo, S117_EmptyCommitsAreNoState) {
    const World world;
    world.agent_commit(7, {});
    ASSERT_ASSIGN(const UndoReport report, world.undo(7));
    EXPECT_EQ(report.errors,
              Names{"The agent's commits for this issue are empty (no file changes to undo)."});
}

TEST(GitUndo, S117_ARepositoryWithoutCommits) {
    const World world;
    ASSERT_ASSIGN(const UndoReport report, world.undo(7));
    EXPECT_EQ(report.end, UndoEnd::kNothing);
}

TEST(GitUndo, S114_StateOnlyCommitsAreSkippedBeforeCounting) {
    const World world;
    world.commit("start", {{"a", "0\n"}});
    world.agent_commit(7, {{"a", "1\n"}});
    for (int i = 0; i < 8; ++i) {
        world.commit("gitclaw: state update for issue #7",
                     {{".GITCLAW/state", std::to_string(i) + "\n"}});
    }
    ASSERT_ASSIGN(const UndoReport report, world.undo(7));
    EXPECT_EQ(report.end, UndoEnd::kDone);
    EXPECT_EQ(world.read("a"), "0\n");
    EXPECT_EQ(world.read(".GITCLAW/state"), "7\n");
}

TEST(GitUndo, S115_StateInsideAMixedCommitStays) {
    const World world;
    world.commit("start", {{"a", "0\n"}, {".GITCLAW/old", "old\n"}});
    world.agent_commit(7, {{"a", "1\n"}, {".GITCLAW/log", "turn 1\n"}, {".GITCLAW/old", ""}});
    // Reverting the whole commit would conflict here: the log has grown since.
    world.commit("gitclaw: state update for issue #7", {{".GITCLAW/log", "turn 1\nturn 2\n"}});
    ASSERT_ASSIGN(const UndoReport report, world.undo(7));
    EXPECT_EQ(report.end, UndoEnd::kDone);
    EXPECT_EQ(report.files, Names{"a"});
    EXPECT_EQ(world.read("a"), "0\n");
    EXPECT_EQ(world.read(".GITCLAW/log"), "turn 1\nturn 2\n");
    EXPECT_FALSE(world.exists(".GITCLAW/old"));
    EXPECT_TRUE(world.is_clean());
    EXPECT_EQ(world.git({"ls-tree", "-r", "--name-only", "HEAD", ".GITCLAW/"}), ".GITCLAW/log");
}

TEST(GitUndo, S115_UncommittedStateIsInNobodysWay) {
    const World world;
    world.commit("start", {{"a", "0\n"}, {".GITCLAW/log", "turn 0\n"}});
    world.agent_commit(7, {{"a", "1\n"}, {".GITCLAW/log", "turn 1\n"}});
    world.write(".GITCLAW/log", "turn 2, not committed\n");
    ASSERT_ASSIGN(const UndoReport report, world.undo(7));
    EXPECT_EQ(report.end, UndoEnd::kDone);
    EXPECT_EQ(world.read("a"), "0\n");
    EXPECT_EQ(world.read(".GITCLAW/log"), "turn 2, not committed\n");
    EXPECT_EQ(world.git({"status", "--porcelain"}), " M .GITCLAW/log");
}

TEST(GitUndo, S115_TheFirstCommitOfAHistory) {
    const World world;
    world.agent_commit(7, {{"a", "1\n"}, {".GITCLAW/log", "turn 1\n"}});
    ASSERT_ASSIGN(const UndoReport report, world.undo(7));
    EXPECT_EQ(report.end, UndoEnd::kDone);
    EXPECT_FALSE(world.exists("a"));
    EXPECT_TRUE(world.exists(".GITCLAW/log"));
}

TEST(GitUndo, S115_S120_S127_AConflictLeavesEverythingAsItWas) {
    const World world;
    world.commit("start", {{"a", "0\n"}});
    const std::string agent = world.agent_commit(7, {{"a", "1\n"}});
    world.commit("by a person", {{"a", "2\n"}});
    const std::string head = world.head();
    ASSERT_ASSIGN(const UndoReport report, world.undo(7));
    EXPECT_EQ(report.end, UndoEnd::kConflict);
    EXPECT_EQ(report.in_the_way, Names{"a"});
    const std::string id = agent.substr(0, 7);
    EXPECT_EQ(report.errors,
              Names{"Could not cleanly revert commit " + id +
                    ". The changes may have been modified by subsequent commits. Manual "
                    "intervention may be needed."});
    EXPECT_EQ(markdown(report),
              "## ⚠️ Could not cleanly undo\n\nThe changes from commit `" + id +
                  "` have been modified by subsequent commits and can't be automatically "
                  "reverted.\n\n**What you can do:**\n- Manually revert specific files: `git "
                  "checkout " +
                  id + "^ -- a`\n- View the original changes: `git show " + id +
                  "`\n- Ask me to re-apply the changes differently\n");
    EXPECT_EQ(world.head(), head);
    EXPECT_EQ(world.read("a"), "2\n");
    EXPECT_TRUE(world.is_clean());
}

TEST(GitUndo, S115_S127_AConflictKeepsEarlierReverts) {
    const World world;
    world.commit("start", {{"a", "0\n"}, {"b", "0\n"}});
    const std::string older = world.agent_commit(7, {{"a", "1\n"}});
    world.agent_commit(7, {{"b", "1\n"}});
    world.commit("by a person", {{"a", "2\n"}});
    ASSERT_ASSIGN(const UndoReport report, world.undo(7, 2));
    EXPECT_EQ(report.end, UndoEnd::kPartly);
    EXPECT_EQ(world.read("a"), "2\n");
    EXPECT_EQ(world.read("b"), "0\n");
    EXPECT_TRUE(world.is_clean());
    const std::string text = markdown(report);
    EXPECT_TRUE(text.starts_with("## 🔙 Undo complete\n\n**Reverted 1 commit(s):**\n")) << text;
    EXPECT_NE(text.find("**Warnings:**\n- Could not cleanly revert commit " + older.substr(0, 7)),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("**What you can do:**\n- Manually revert specific files: `git checkout " +
                        older.substr(0, 7) + "^ -- a`"),
              std::string::npos)
        << text;
    EXPECT_TRUE(text.ends_with("Revert commit: `" + world.head().substr(0, 7) + "`\n")) << text;
}

TEST(GitUndo, S115_AnUntrackedFileInTheWayIsKept) {
    const World world;
    world.commit("start", {{"a", "0\n"}, {"gone", "gone\n"}});
    world.agent_commit(7, {{"gone", ""}});
    world.write("gone", "precious, never committed\n");
    const Result<UndoReport> report = world.undo(7);
    EXPECT_KIND(ErrorKind::kConflict, report);
    EXPECT_NE(failure_of(report).find("gone"), std::string::npos) << failure_of(report);
    EXPECT_EQ(world.read("gone"), "precious, never committed\n");
    EXPECT_EQ(world.git({"status", "--porcelain"}), "?? gone");
}

TEST(GitUndo, S115_AnIgnoredFileInTheWayIsKept) {
    // The usual way to stop tracking a file with secrets in it. git itself would overwrite it.
    const World world;
    world.commit("start", {{"a", "0\n"}, {".env", "an example\n"}, {"build", "a file\n"}});
    world.agent_commit(7, {{".env", ""}, {".gitignore", ".env\nbuild/\n"}});
    world.write(".env", "precious, never committed\n");
    Result<UndoReport> report = world.undo(7);
    EXPECT_KIND(ErrorKind::kConflict, report);
    EXPECT_NE(failure_of(report).find("in the way: .env"), std::string::npos);
    EXPECT_EQ(world.read(".env"), "precious, never committed\n");
    EXPECT_TRUE(world.is_clean());
    // It removes even a whole directory of them where a file comes back ...
    world.agent_commit(7, {{"build", ""}});
    world.write("build/out/deep", "precious as well\n");
    report = world.undo(7);
    EXPECT_KIND(ErrorKind::kConflict, report);
    EXPECT_NE(failure_of(report).find("in the way: build/out/deep"), std::string::npos);
    EXPECT_EQ(world.read("build/out/deep"), "precious as well\n");
    // ... but an empty one holds nothing.
    std::filesystem::remove_all(world.work() + "/build/out");
    ASSERT_OK(world.undo(7));
    EXPECT_EQ(world.read("build"), "a file\n");
    EXPECT_EQ(world.read(".env"), "precious, never committed\n");
}

TEST(GitUndo, S115_AnIgnoredFileInThePlaceOfADirectoryIsKept) {
    const World world;
    world.commit("start", {{"dir/sub/file", "0\n"}, {"a", "0\n"}});
    world.agent_commit(7, {{"dir/sub/file", ""}});
    world.commit("ignore it", {{".gitignore", "dir\n"}});
    std::filesystem::remove_all(world.work() + "/dir");
    world.write("dir", "precious\n");
    EXPECT_KIND(ErrorKind::kConflict, world.undo(7));
    EXPECT_EQ(world.read("dir"), "precious\n");
}

TEST(GitUndo, S115_WhatIsGoneAlreadyDoesNotCount) {
    const World world;
    world.commit("start", {{"a", "0\n"}, {"b", "0\n"}});
    world.agent_commit(7, {{"b", "1\n"}});
    world.agent_commit(7, {{"a", "1\n"}});
    world.commit("a person put it back", {{"a", "0\n"}});
    ASSERT_ASSIGN(const UndoReport report, world.undo(7));
    EXPECT_EQ(report.end, UndoEnd::kDone);
    EXPECT_EQ(world.read("b"), "0\n");
    EXPECT_TRUE(world.is_clean());
    ASSERT_EQ(report.reverted.size(), 1u);
    EXPECT_EQ(report.files, Names{"b"});
}

TEST(GitUndo, S115_WhereAllIsGoneAlreadyNothingIsLeftUnderway) {
    const World world;
    world.commit("start", {{"a", "0\n"}});
    world.agent_commit(7, {{"a", "1\n"}});
    world.commit("a person put it back", {{"a", "0\n"}});
    const std::string head = world.head();
    ASSERT_ASSIGN(const UndoReport report, world.undo(7));
    EXPECT_EQ(report.end, UndoEnd::kNothing);
    EXPECT_EQ(world.head(), head);
    EXPECT_TRUE(world.is_clean());
}

TEST(GitUndo, S107_ADryRunChangesNothing) {
    const World world;
    world.commit("start", {{"a", "0\n"}});
    world.agent_commit(7, {{"a", "1\n"}});
    const std::string head = world.head();
    UndoOptions options = world.options(7);
    options.dry_run = true;
    options.memory = world.path("memory.log");
    options.before_change = []() -> Result<> {
        ADD_FAILURE() << "nothing is to be changed";
        return {};
    };
    ASSERT_ASSIGN(const UndoReport report, world.undo(options));
    EXPECT_EQ(report.end, UndoEnd::kPlanned);
    EXPECT_EQ(world.head(), head);
    EXPECT_EQ(world.read("a"), "1\n");
    EXPECT_FALSE(std::filesystem::exists(options.memory));
    EXPECT_NE(markdown(report).find("**Would revert 1 commit(s):**"), std::string::npos);
}

TEST(GitUndo, S107_TheCallerIsToldOnceBeforeTheFirstChange) {
    const World world;
    world.commit("start", {{"a", "0\n"}});
    world.agent_commit(7, {{"a", "1\n"}});
    world.agent_commit(7, {{"a", "2\n"}});
    UndoOptions options = world.options(7, 2);
    int calls = 0;
    options.before_change = [&]() -> Result<> {
        ++calls;
        EXPECT_EQ(world.read("a"), "2\n");
        return {};
    };
    ASSERT_OK(world.undo(options));
    EXPECT_EQ(calls, 1);
    // And it may say no.
    world.agent_commit(7, {{"a", "3\n"}});
    options.before_change = []() -> Result<> { return Error(ENOSPC); };
    EXPECT_NUMBER(ENOSPC, world.undo(options));
    EXPECT_EQ(world.read("a"), "3\n");
}

TEST(GitUndo, S115_AnInterruptionStopsBetweenTwoCommits) {
    const World world;
    world.commit("start", {{"a", "0\n"}});
    world.agent_commit(7, {{"a", "1\n"}});
    world.agent_commit(7, {{"a", "2\n"}});
    UndoOptions options = world.options(7, 2);
    bool committed = false;
    WatchedPrograms programs([&](const ProcessRequest& request) {
        committed = committed || has_word(request, "commit");
        return std::nullopt;
    });
    options.attendant.interruptions = [&] { return committed ? 1 : 0; };
    ASSERT_ASSIGN(const UndoReport report, git::undo(programs, world.work(), options));
    EXPECT_EQ(report.end, UndoEnd::kPartly);
    EXPECT_EQ(report.errors, Names{"Interrupted: the rest was not undone."});
    EXPECT_EQ(world.read("a"), "1\n");
    EXPECT_TRUE(world.is_clean());
}

}  // namespace
}  // namespace unwrite::git::tests
