// The session's note, the memory's line, and the commit that holds them.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <nlohmann/json.hpp>
#include <regex>

#include "git/notes.h"
#include "tests/git/world.h"

namespace unwrite::git::tests {
namespace {

using Names = std::vector<std::string>;

// 2026-11-22 06:03:23.045 UTC
constexpr std::int64_t kThen = 1'795'327'403'045'000'000;

struct Traced : World {
    Traced() {
        commit("start", {{"a.txt", "0\n"}, {"b.txt", "0\n"}});
        agent_commit(7, {{"a.txt", "1\n"}, {"b.txt", "1\n"}});
    }
    UndoOptions tracing() const {
        UndoOptions tracing = options(7);
        tracing.session = work() + "/.GITCLAW/session.jsonl";
        tracing.memory = work() + "/.GITCLAW/memory.log";
        return tracing;
    }
};

TEST(GitTraces, S118_TheTwoLinesOfTheSession) {
    const UndoneWork work{7, {"a.txt", "b.txt"}, {"https://h/pull/3"}};
    EXPECT_EQ(
        session_lines(work, kThen),
        R"({"type":"message","timestamp":"2026-11-22T06:03:23.045Z","message":{"role":"user","content":[{"type":"text","text":"[System: The user invoked /undo. The following changes were reverted: a.txt, b.txt. PRs closed: https://h/pull/3. The agent should not re-apply these changes unless explicitly asked.]"}]}})"
        "\n"
        R"({"type":"message","timestamp":"2026-11-22T06:03:23.045Z","message":{"role":"assistant","content":[{"type":"text","text":"Understood. I've noted that the previous changes were undone. I won't re-apply them unless you ask."}]}})"
        "\n");
    const std::string without = session_lines({7, {"a.txt"}, {}}, kThen);
    EXPECT_NE(without.find("reverted: a.txt. The agent should not"), std::string::npos) << without;
}

TEST(GitTraces, S118_ANameThatIsNotUtf8IsStillALineOfJson) {
    const std::string lines = session_lines({7, {"\xff \"x\"\n"}, {}}, kThen);
    EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 2);
    const auto json = nlohmann::json::parse(lines.substr(0, lines.find('\n')), nullptr, false);
    EXPECT_FALSE(json.is_discarded());
}

TEST(GitTraces, S113_TheLineOfTheMemory) {
    EXPECT_EQ(memory_line({7, {"a.txt", "b.txt"}, {}}, kThen),
              "[2026-11-22 06:03] User undid agent changes on issue #7. Files reverted: a.txt, "
              "b.txt. PRs closed: 0.\n");
    EXPECT_EQ(memory_line({7, {}, {"u", "v"}}, kThen),
              "[2026-11-22 06:03] User undid agent changes on issue #7. Files reverted: none. PRs "
              "closed: 2.\n");
    const std::string odd = memory_line({7, {"x\n[2026-11-22 06:03] User"}, {}}, kThen);
    EXPECT_EQ(std::count(odd.begin(), odd.end(), '\n'), 1);
}

TEST(GitTraces, S110_S113_S118_S119_S122_BothAreAddedToAndCommitted) {
    const Traced world;
    world.commit("gitclaw: state update for issue #7",
                 {{".GITCLAW/session.jsonl", "{\"first\":1}\n"}, {".GITCLAW/memory.log", "old"}});
    ASSERT_ASSIGN(const UndoReport report, world.undo(world.tracing()));
    EXPECT_EQ(report.end, UndoEnd::kDone);
    EXPECT_TRUE(report.session_noted);
    EXPECT_TRUE(report.memory_noted);
    const std::string session = world.read(".GITCLAW/session.jsonl");
    EXPECT_TRUE(session.starts_with("{\"first\":1}\n{\"type\":\"message\"")) << session;
    EXPECT_EQ(std::count(session.begin(), session.end(), '\n'), 3);
    EXPECT_NE(session.find("reverted: a.txt, b.txt. The agent"), std::string::npos) << session;
    EXPECT_TRUE(std::regex_match(
        world.read(".GITCLAW/memory.log"),
        std::regex("old\n\\[\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d\\] User undid agent changes on "
                   "issue #7\\. Files reverted: a\\.txt, b\\.txt\\. PRs closed: 0\\.\n")))
        << world.read(".GITCLAW/memory.log");
    EXPECT_EQ(world.subjects()[0], "gitclaw: undo changes for issue #7");
    EXPECT_EQ(world.subjects()[1], "Revert \"gitclaw: work on issue #7\"");
    EXPECT_EQ(report.state_commit, world.head());
    EXPECT_EQ(report.revert_commit, world.git({"rev-parse", "HEAD~1"}));
    EXPECT_TRUE(world.is_clean());
}

TEST(GitTraces, S118_OnlyASessionThatIsThere) {
    const Traced world;
    UndoOptions options = world.tracing();
    options.memory = world.path("memory.log");
    ASSERT_ASSIGN(const UndoReport report, world.undo(options));
    EXPECT_FALSE(report.session_noted);
    EXPECT_FALSE(world.exists(".GITCLAW/session.jsonl"));
    EXPECT_TRUE(report.memory_noted);
    // What lies outside of the work tree is in no commit.
    EXPECT_EQ(report.state_commit, "");
    EXPECT_EQ(world.head(), report.revert_commit);
}

TEST(GitTraces, S119_IgnoredTracesAndOtherFilesAreNotCommitted) {
    const Traced world;
    world.commit("ignore", {{".gitignore", ".GITCLAW/\n"}});
    world.write(".GITCLAW/session.jsonl", "{}\n");
    world.write("untracked", "mine\n");
    ASSERT_ASSIGN(const UndoReport report, world.undo(world.tracing()));
    EXPECT_EQ(report.end, UndoEnd::kDone);
    EXPECT_EQ(report.errors, Names{});
    EXPECT_TRUE(report.session_noted);
    EXPECT_EQ(report.state_commit, "");
    EXPECT_EQ(world.git({"status", "--porcelain"}), "?? untracked");
}

TEST(GitTraces, S119_S126_WhenARequestIsClosedThePersonsIndexIsLeftAlone) {
    const Traced world;
    world.commit("gitclaw: state update for issue #7", {{".GITCLAW/session.jsonl", "{}\n"}});
    world.add_remote();
    world.gh_says("pr-list-open", R"([{"number":3,"url":"https://h/pull/3"}])");
    world.write("a.txt", "staged by a person\n");
    world.git({"add", "a.txt"});
    ASSERT_ASSIGN(const UndoReport report, world.undo(world.tracing()));
    EXPECT_EQ(report.end, UndoEnd::kDone);
    EXPECT_EQ(report.errors, Names{});
    EXPECT_EQ(world.git({"diff", "--cached", "--name-only"}), "a.txt");
    EXPECT_EQ(world.git({"show", "--format=", "--name-only", "HEAD"}),
              ".GITCLAW/memory.log\n.GITCLAW/session.jsonl");
    EXPECT_NE(world.read(".GITCLAW/session.jsonl").find("PRs closed: https://h/pull/3. "),
              std::string::npos);
}

TEST(GitTraces, S119_ATraceThatCannotBeCommittedIsNotLeftStaged) {
    const World world;
    world.commit("start", {{"a", "0\n"}});
    world.agent_commit(7, {{"a", "1\n"}});
    UndoOptions options = world.options(7);
    options.memory = world.work() + "/memory.log";
    WatchedPrograms programs([&](const ProcessRequest& request) {
        const bool fails = has_word(request, "commit") && has_word(request, "--only");
        return fails ? std::optional(Result<ProcessOutcome>(ProcessOutcome{1, "", "no"}))
                     : std::nullopt;
    });
    ASSERT_ASSIGN(const UndoReport report, git::undo(programs, world.work(), options));
    EXPECT_EQ(report.reverted.size(), 1u);
    EXPECT_EQ(report.errors.size(), 1u);
    EXPECT_EQ(world.git({"status", "--porcelain"}), "?? memory.log");
}

TEST(GitTraces, S119_S125_NothingUndoneNothingNoted) {
    const Traced world;
    world.write("b.txt", "2\n");
    world.git({"commit", "--quiet", "-a", "-m", "by a person"});
    world.write(".GITCLAW/session.jsonl", "{}\n");
    ASSERT_ASSIGN(const UndoReport conflict, world.undo(world.tracing()));
    EXPECT_EQ(conflict.end, UndoEnd::kConflict);
    UndoOptions other = world.tracing();
    other.issue = 8;
    ASSERT_ASSIGN(const UndoReport nothing, world.undo(other));
    EXPECT_EQ(nothing.end, UndoEnd::kNothing);
    EXPECT_EQ(world.read(".GITCLAW/session.jsonl"), "{}\n");
    EXPECT_FALSE(world.exists(".GITCLAW/memory.log"));
}

TEST(GitTraces, S110_ALinkInPlaceOfTheSessionIsNotFollowed) {
    const Traced world;
    world.write("victim", "untouched\n");
    std::filesystem::create_directories(world.work() + "/.GITCLAW");
    std::filesystem::create_symlink(world.work() + "/victim",
                                    world.work() + "/.GITCLAW/session.jsonl");
    const std::string head = world.head();
    const Result<UndoReport> report = world.undo(world.tracing());
    EXPECT_NE(failure_of(report).find("not a regular file"), std::string::npos);
    EXPECT_EQ(world.read("victim"), "untouched\n");
    EXPECT_EQ(world.head(), head);
}

TEST(GitTraces, S110_AppendingNeverWaitsAndNeverFollows) {
    const Scratch scratch;
    const std::string fifo = (scratch.path() / "fifo").string();
    ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
    EXPECT_FALSE(append_to(fifo, "x\n", true).ok());
    std::filesystem::create_symlink("target", scratch.path() / "link");
    EXPECT_FALSE(append_to((scratch.path() / "link").string(), "x\n", true).ok());
    EXPECT_FALSE(std::filesystem::exists(scratch.path() / "target"));
    const std::string file = (scratch.path() / "file").string();
    EXPECT_FALSE(append_to(file, "x\n", false).ok());
    ASSERT_OK(append_to(file, "one", true));
    ASSERT_OK(append_to(file, "two\n", true));
    ASSERT_OK(append_to(file, "three\n", false));
    EXPECT_EQ(scratch.read("file"), "one\ntwo\nthree\n");
}

}  // namespace
}  // namespace unwrite::git::tests
