// Which commits are the agent's, in long histories and under odd subjects.
#include "git/commits.h"

#include <gtest/gtest.h>

#include "tests/git/world.h"

namespace unwrite::git::tests {
namespace {

/// A history for `git fast-import`.
class History {
 public:
    void add(const std::string& subject, const std::string& file, const std::string& text) {
        ++count_;
        stream_ += "commit refs/heads/main\nmark :" + std::to_string(count_) +
                   "\ncommitter tester <tester@example.invalid> " +
                   std::to_string(1'700'000'000 + count_) + " +0000\n" + data(subject);
        if (count_ > 1) stream_ += "from :" + std::to_string(count_ - 1) + "\n";
        stream_ += "M 100644 inline " + file + "\n" + data(text) + "\n";
    }
    void import(const World& world) const {
        world.git({"fast-import", "--quiet"}, stream_);
        world.git({"reset", "--hard", "--quiet", "main"});
    }

 private:
    static std::string data(const std::string& text) {
        return "data " + std::to_string(text.size()) + "\n" + text + "\n";
    }
    std::string stream_;
    int count_ = 0;
};

Result<Found> find(const World& world, std::uint64_t issue, std::size_t wanted,
                   const Conventions& conventions = {}) {
    InstalledPrograms programs;
    TRY_ASSIGN(const Repository repository, Repository::open(programs, world.work()));
    return find_agent_commits(repository, "HEAD", issue, conventions, wanted);
}

std::string number(std::uint64_t value) {
    return std::to_string(value);
}

/// 500 commits for the issues 1, 10 and 100 in turns; every third of an issue is state alone.
World& long_history(World& world) {
    History history;
    for (std::uint64_t i = 0; i < 500; ++i) {
        const std::uint64_t issue = i % 3 == 0 ? 1 : i % 3 == 1 ? 10 : 100;
        const bool state = i / 3 % 3 == 2;
        history.add("gitclaw: work on issue #" + number(issue),
                    state ? ".GITCLAW/log" : "file-" + number(issue), number(i % 7) + number(i));
    }
    history.import(world);
    return world;
}

TEST(GitCommits, S114_S128_IssuesOneTenAndAHundredInOneHistory) {
    World world;
    long_history(world);
    for (const std::uint64_t issue : {1u, 10u, 100u}) {
        ASSERT_ASSIGN(const Found found, find(world, issue, 1000));
        EXPECT_EQ(found.code.size() + found.state_only, issue == 100 ? 166u : 167u);
        EXPECT_NEAR(static_cast<double>(found.state_only), 55, 1);
        std::string before = "9";
        for (const AgentCommit& commit : found.code) {
            EXPECT_EQ(commit.subject, "gitclaw: work on issue #" + number(issue));
            EXPECT_EQ(code_files(commit, {}), std::vector{"file-" + number(issue)});
            EXPECT_LE(commit.time, before);
            before = commit.time;
        }
    }
    ASSERT_ASSIGN(const Found other, find(world, 1000, 10));
    EXPECT_FALSE(other.any());
}

TEST(GitCommits, S107_S114_S124_S128_UndoInALongHistoryTouchesOneIssue) {
    World world;
    long_history(world);
    const std::string ten = world.read("file-10");
    const std::string hundred = world.read("file-100");
    const std::string log = world.read(".GITCLAW/log");
    ASSERT_ASSIGN(const Found found, find(world, 1, 4));
    ASSERT_ASSIGN(const UndoReport report, world.undo(1, 3));
    ASSERT_EQ(report.reverted.size(), 3u);
    for (std::size_t i = 0; i < 3; ++i)
        EXPECT_EQ(report.reverted[i].id, found.code[i].id);
    EXPECT_EQ(world.read("file-1"), world.git({"show", found.code[3].id + ":file-1"}));
    EXPECT_EQ(world.read("file-10"), ten);
    EXPECT_EQ(world.read("file-100"), hundred);
    EXPECT_EQ(world.read(".GITCLAW/log"), log);
}

TEST(GitCommits, S114_TheSubjectMustBeEqual) {
    const World world;
    world.commit("gitclaw: work on issue #12", {{"a", "1"}});
    world.commit("gitclaw: work on issue #1 and more", {{"a", "2"}});
    world.commit("Re: gitclaw: work on issue #1", {{"a", "3"}});
    world.commit("gitclaw: Work on issue #1", {{"a", "4"}});
    world.commit("about it\n\ngitclaw: work on issue #1\n", {{"a", "5"}});
    world.commit("gitclaw: work on issue #1\nin two lines\n", {{"a", "6"}});
    ASSERT_ASSIGN(const Found none, find(world, 1, 10));
    EXPECT_FALSE(none.any());
    std::vector<std::string> expected;
    for (const char* subject :
         {"gitclaw: work on issue #1", "gitclaw: changes for issue #1\n\nwith a body\n",
          "gitclaw: state update for issue #1", "gitclaw: review PR #1\n"})
        expected.insert(expected.begin(), world.commit(subject, {{"a", subject}}));
    ASSERT_ASSIGN(const Found found, find(world, 1, 10));
    std::vector<std::string> ids;
    for (const AgentCommit& commit : found.code)
        ids.push_back(commit.id);
    EXPECT_EQ(ids, expected);
}

TEST(GitCommits, S114_PatternsOfOnesOwnWithOddBytes) {
    for (const std::string& pattern : std::vector<std::string>{
             "bot|agent: \"work\" on #{issue}|done", "it's #{issue}'s", ".* [#{issue}] \\d+ ^$",
             "t\xc3\xa4sk {issue} \xf0\x9f\x94\x99", "--grep=#{issue}"}) {
        const World world;
        Conventions conventions;
        conventions.subjects = {pattern};
        world.commit("start", {{"a", "0"}});
        world.commit(with_issue(pattern, 10), {{"a", "ten"}});
        world.commit(with_issue(pattern, 1), {{"b", "one"}});
        world.commit(with_issue(pattern, 1) + "|", {{"c", "other"}});
        UndoOptions options = world.options(1, 5);
        options.conventions = conventions;
        ASSERT_ASSIGN(const UndoReport report, world.undo(options));
        ASSERT_EQ(report.reverted.size(), 1u) << pattern;
        EXPECT_EQ(report.reverted[0].subject, with_issue(pattern, 1));
        EXPECT_FALSE(world.exists("b"));
        EXPECT_TRUE(world.exists("c"));
        EXPECT_EQ(world.read("a"), "ten");
        EXPECT_EQ(world.subjects()[0], "Revert \"" + with_issue(pattern, 1) + "\"");
    }
}

TEST(GitCommits, S114_ANeighboursOddSubjectDoesNoHarm) {
    const World world;
    world.commit("start", {{"a", "0"}});
    const std::string agent = world.agent_commit(1, {{"a", "1"}});
    world.commit("latin \xe4\xf6\xfc, a pipe | and \"quotes\"\n\nThis reverts commit 123.\n",
                 {{"b", "b"}});
    world.commit("two\nlines | and\n\na body\n\n", {{"c", "c"}});
    world.commit(" This reverts commit " + agent.substr(0, 39) + "\n", {{"d", "d"}});
    ASSERT_ASSIGN(const Found found, find(world, 1, 10));
    ASSERT_EQ(found.code.size(), 1u);
    EXPECT_EQ(found.code[0].id, agent);
}

TEST(GitCommits, S114_ASubjectThatIsNotUtf8) {
    const World world;
    History history;
    history.add("start", "a", "0");
    history.add("arbeit \xe4 #1", "a", "1");  // git itself would have made UTF-8 of it
    history.import(world);
    UndoOptions options = world.options(1);
    options.conventions.subjects = {"arbeit \xe4 #{issue}"};
    ASSERT_ASSIGN(const UndoReport report, world.undo(options));
    EXPECT_EQ(report.reverted.size(), 1u);
    EXPECT_EQ(world.read("a"), "0");
}

TEST(GitCommits, S114_ASubjectInAnotherEncoding) {
    const World world;
    world.commit("start", {{"a", "0"}});
    world.git({"config", "i18n.commitEncoding", "ISO-8859-1"});
    world.commit("arbeit \xe4 #1", {{"a", "1"}});
    world.git({"config", "--unset", "i18n.commitEncoding"});
    UndoOptions options = world.options(1);
    options.conventions.subjects = {"arbeit \xc3\xa4 #{issue}"};
    ASSERT_ASSIGN(const UndoReport report, world.undo(options));
    EXPECT_EQ(report.reverted.size(), 1u);
    EXPECT_EQ(world.read("a"), "0");
}

TEST(GitCommits, S114_FileNamesAreBytes) {
    const World world;
    world.commit("start", {{"a", "0"}});
    const std::string odd = "new\nline \xff \"q\" :(glob)* `tick`";
    const std::string state = ".GITCLAW/\xfe\t'\n";
    world.agent_commit(1, {{odd, "1"}, {state, "kept"}, {"-dash", "x"}});
    ASSERT_ASSIGN(const UndoReport report, world.undo(1));
    EXPECT_EQ(report.files, (std::vector<std::string>{"-dash", odd}));
    EXPECT_FALSE(world.exists(odd));
    EXPECT_FALSE(world.exists("-dash"));
    EXPECT_EQ(world.read(state), "kept");
    EXPECT_NE(markdown(report).find("`` new\\nline \xff \"q\" :(glob)* `tick` ``"),
              std::string::npos)
        << markdown(report);
}

TEST(GitCommits, S114_SubjectsWithoutAPlaceForTheIssueAreRefused) {
    const World world;
    for (const char* subject : {"agent: work", "two\nlines #{issue}"}) {
        UndoOptions options = world.options(1);
        options.conventions.subjects = {subject};
        EXPECT_KIND(ErrorKind::kUsage, world.undo(options));
    }
    UndoOptions options = world.options(1);
    options.conventions.state_paths = {"/absolute/"};
    EXPECT_KIND(ErrorKind::kUsage, world.undo(options));
}

TEST(GitCommits, S114_WhatIsState) {
    Conventions conventions;
    conventions.state_paths = {".agent/", "notes.md"};
    for (const char* path : {".agent/x", ".agent/x/y", "notes.md"})
        EXPECT_TRUE(conventions.is_state(path)) << path;
    for (const char* path : {".agent", ".agentx/y", "a/.agent/x", "notes.md/x", "notes.mdx", ""})
        EXPECT_FALSE(conventions.is_state(path)) << path;
}

TEST(GitCommits, S107_TheVariablesOfAHookMisleadNobody) {
    // As if started by a hook of another repository.
    const World world;
    world.commit("start", {{"a", "0"}});
    world.agent_commit(1, {{"a", "1"}});
    const World other;
    other.commit("start", {{"x", "x"}});
    ::setenv("GIT_DIR", (other.work() + "/.git").c_str(), 1);
    ::setenv("GIT_INDEX_FILE", (other.work() + "/.git/index").c_str(), 1);
    const Result<UndoReport> report = world.undo(1);
    ::unsetenv("GIT_DIR");
    ::unsetenv("GIT_INDEX_FILE");
    ASSERT_TRUE(report.ok()) << failure_of(report);
    EXPECT_EQ(world.read("a"), "0");
    EXPECT_TRUE(other.is_clean());
}

}  // namespace
}  // namespace unwrite::git::tests
