// What of a decision belongs into a git commit, and whose configuration git would obey (S76).
#include "cli/git_scope.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

namespace unwrite::cli {
namespace {

using overlay::Change;
using overlay::ChangeKind;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

Change change(ChangeKind kind, const std::string& path, std::uint32_t type = S_IFREG,
              const std::string& old_path = {}) {
    Change made;
    made.kind = kind;
    made.path = path;
    made.old_path = old_path;
    made.type = type;
    return made;
}

TEST(GitScope, S76_ADirectorysAttributesBringNothingOfWhatLiesInIt) {
    const auto scope = scope_of_all({change(ChangeKind::kAttributes, "src", S_IFDIR),
                                     change(ChangeKind::kAttributes, "tool"),
                                     change(ChangeKind::kCreated, "new", S_IFDIR),
                                     change(ChangeKind::kRenamed, "b", S_IFREG, "a")});
    EXPECT_THAT(scope.paths, ElementsAre("a", "b", "new", "tool"));
    EXPECT_THAT(scope.except, IsEmpty());
}

TEST(GitScope, S76_ADirectoryThatIsOnlyNeededDoesNotBringTheRest) {
    overlay::Decided decided;
    decided.kept = {change(ChangeKind::kCreated, "new", S_IFDIR)};
    decided.needed = {{"new", "new/in/a lies in it"}, {"new/in", "new/in/a lies in it"}};
    const auto scope = scope_of_part(decided, {"new/in/a", "new/whole"}, decided.kept);
    for (const char* path : {"new/in/a", "new/whole/x"})
        EXPECT_TRUE(scope.covers(path)) << path;
    for (const char* path : {"new/b", "new/in/b", "elsewhere"})
        EXPECT_FALSE(scope.covers(path)) << path;
    // Named itself it is meant wholly.
    decided.needed.clear();
    EXPECT_TRUE(scope_of_part(decided, {"new"}, decided.kept).covers("new/b"));
}

TEST(GitScope, S76_WhatStaysOpenBelowARenamedDirectoryIsNotInItUnderAnyName) {
    overlay::Decided decided;
    decided.kept = {change(ChangeKind::kRenamed, "to", S_IFDIR, "from"),
                    change(ChangeKind::kModified, "to/a")};
    decided.needed = {{"to", "to/a lies in it"}, {"from", "to is the same object"}};
    auto open = decided.kept;
    open.push_back(change(ChangeKind::kModified, "to/b"));
    open.push_back(change(ChangeKind::kCreated, "to/new", S_IFDIR));
    const auto scope = scope_of_part(decided, {"to/a"}, open);
    for (const char* path : {"to/a", "from/a", "to/c", "from/c"})
        EXPECT_TRUE(scope.covers(path)) << path;
    for (const char* path : {"to/b", "from/b", "to/new/x"})
        EXPECT_FALSE(scope.covers(path)) << path;
}

TEST(GitScope, S76_WhatGitObeys) {
    for (const char* path :
         {".git", ".git/config", ".git/config.worktree", ".git/hooks/pre-commit", ".git/commondir",
          "sub/.git", ".git/modules/sub/config", ".git/modules/sub/hooks/pre-push"}) {
        EXPECT_EQ(what_git_obeys({change(ChangeKind::kModified, path)}), path);
    }
    EXPECT_EQ(what_git_obeys({change(ChangeKind::kRenamed, "x", S_IFDIR, ".git")}), "x");
    EXPECT_TRUE(what_git_obeys({change(ChangeKind::kCreated, ".git/modules/s", S_IFDIR)}));
    for (const char* path : {"config", "hooks/x", ".git/index", ".git/HEAD",
                             ".git/refs/heads/config", ".git/logs/refs/heads/hooks/x", ".gitx"}) {
        EXPECT_FALSE(what_git_obeys({change(ChangeKind::kModified, path)})) << path;
    }
    EXPECT_FALSE(what_git_obeys({change(ChangeKind::kAttributes, ".git", S_IFDIR)}));
}

overlay::Origin origin(overlay::OriginNumber number, bool agent) {
    overlay::Origin made;
    made.number = number;
    made.agent = agent;
    return made;
}

Change by(Change made, overlay::OriginNumber number) {
    made.origins = {number};
    return made;
}

TEST(GitScope, S76_WhoChangedIt) {
    overlay::Log log;
    log.origins = {origin(1, false), origin(2, true)};
    log.current = 7;
    log.open_changes = {by(change(ChangeKind::kModified, ".git/config"), 1)};
    EXPECT_FALSE(agent_changed_what_git_obeys(log));
    log.open_changes[0].origins.push_back(2);
    EXPECT_TRUE(agent_changed_what_git_obeys(log));
    log.open_changes = {by(change(ChangeKind::kModified, "a"), 2)};
    EXPECT_FALSE(agent_changed_what_git_obeys(log));
}

TEST(GitScope, S76_AfterARunAPersonsChangeMayBeAnAgentsToo) {
    overlay::Log log;
    log.origins = {origin(1, false)};
    log.entries.resize(2);
    log.entries[0].on_trunk = true;
    log.entries[0].node.number = 5;
    log.entries[0].node.parent = 4;
    log.entries[0].changes = {by(change(ChangeKind::kCreated, ".git", S_IFDIR), 1)};
    log.entries[1].on_trunk = true;
    log.entries[1].node.number = 4;
    log.entries[1].node.kind = overlay::NodeKind::kCheckpoint;
    EXPECT_FALSE(agent_changed_what_git_obeys(log));
    log.entries[1].node.kind = overlay::NodeKind::kBegin;
    log.entries[1].node.tags["session"] = "run-4";
    EXPECT_TRUE(agent_changed_what_git_obeys(log));
    log.entries[1].node.number = 6;  // later
    EXPECT_FALSE(agent_changed_what_git_obeys(log));
}

}  // namespace
}  // namespace unwrite::cli
