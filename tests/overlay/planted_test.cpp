// What an agent plants for later: files by which other programs execute something. An agent is
// asked about them, and only where they bring something that was not there.
#include <gtest/gtest.h>
#include <linux/falloc.h>

#include "tests/overlay/asking.h"

namespace unwrite::tests {
namespace {

constexpr const char* kPlain = "[core]\n\tbare = false\n";
constexpr const char* kOwn = "[core]\n\tbare = false\n\teditor = mine\n";
constexpr const char* kPlanted = "[core]\n\tbare = false\n\teditor = mine\n\tfsmonitor = ./x\n";

class Planted : public Asking {
 protected:
    void SetUp() override {
        before(".git/config", kOwn);
        before(".git/HEAD", "ref: refs/heads/main\n");
        before("sub/.git/config", kPlain);
        before(".envrc", "export A=1\n");
        before(".husky/pre-commit", "npm test\n");
        before(".husky/_/pre-commit", "wrapper\n");
        before("old/data/app.db", "db\n");
        before("old/data/.envrc", "export B=1\n");
        overlay::SessionOptions options;
        auto rules = overlay::default_rules();
        for (const auto& rule : overlay::database_rules(overlay::Subjects::kAgents))
            rules.push_back(rule);
        auto policy = overlay::Policy::compile(std::move(rules));
        ASSERT_TRUE(policy.ok()) << policy.error().message();
        options.policy = *policy;
        begin_asking(options);
        later();
    }
    std::string text(const std::string& path) { return actor().read(path).value_or("(none)"); }
    /// The last call failed with `error` because a person is asked.
    void expect_asked(int error, const std::string& what) {
        EXPECT_EQ(error, EACCES) << what;
        EXPECT_NE(question(), 0U) << what;
    }
    std::string last_reason() {
        overlay::Watcher watcher;
        const auto asked = world_->session().oversight().questions(watcher);
        return asked && !asked->questions.empty() ? asked->questions.back().reason : "";
    }
    void answer(bool approve) {
        ASSERT_OK(world_->session().oversight().answer(World::asker(), number_, approve, false));
    }
    void expect_asked_and_remember(int error) {
        EXPECT_EQ(error, EACCES);
        number_ = question();
        EXPECT_NE(number_, 0U);
    }
    /// As git does it.
    int lock_and_rename(const std::string& path, const std::string& content) {
        make(path + ".lock", content);
        const int error = actor().rename(path + ".lock", path, 0);
        if (error != 0) actor().unlink(path + ".lock");
        return error;
    }
    overlay::QuestionNumber number_ = 0;
};

TEST_F(Planted, SettingsOfEveryDayPassS44) {
    const std::string more = std::string(kOwn) + "[remote \"o\"]\n\turl = https://x/y\n";
    EXPECT_EQ(lock_and_rename(".git/config", more), 0);
    EXPECT_EQ(text(".git/config"), more);
    EXPECT_EQ(actor().append(".git/config", "[user]\n\tname = a\n"), 0);
    EXPECT_EQ(actor().chmod(".git/config", 0600), 0);
    EXPECT_EQ(actor().truncate(".git/config", 0), 0);
    EXPECT_EQ(actor().write(".git/config", 0, kOwn), 0) << "what it said before is not new";
    EXPECT_EQ(actor().unlink(".git/config"), 0);
    EXPECT_EQ(lock_and_rename(".git/config", kOwn), 0) << "what it said when the task began";
    EXPECT_EQ(actor().rename("sub/.git", "elsewhere", 0), 0) << "it executes nothing";
    EXPECT_EQ(actor().rename("elsewhere", "sub/.git", 0), 0);
}

TEST_F(Planted, WhatGitWouldExecuteAsksByWhateverWayS44) {
    expect_asked(lock_and_rename(".git/config", kPlanted), "rename");
    EXPECT_NE(last_reason().find("core.fsmonitor = ./x"), std::string::npos) << last_reason();
    EXPECT_EQ(text(".git/config"), kOwn);
    expect_asked(actor().append(".git/config", "[core]\nfsmonitor = ./x\n"), "append");
    ASSERT_EQ(actor().append(".git/config", "[core]\nfsm"), 0);
    expect_asked(actor().append(".git/config", "onitor = ./x\n"), "in two parts");
    make("x", kPlanted);
    expect_asked(actor().copy("x", 0, ".git/config", 0, std::string(kPlanted).size()), "copy");
    expect_asked(actor().rename("x", ".git/config", RENAME_EXCHANGE), "exchange");
    expect_asked(actor().rename(".git/config", "x", RENAME_EXCHANGE), "exchange back");
    expect_asked(actor().fallocate(".git/config", FALLOC_FL_COLLAPSE_RANGE, 0, 4096), "collapse");
    ASSERT_EQ(actor().unlink(".git/config"), 0);
    expect_asked(actor().link("x", ".git/config"), "link");
    expect_asked(actor().symlink(".git/config", "../x"), "symlink");
    ASSERT_EQ(actor().create(".git/config", 0644), 0);
    expect_asked(actor().write(".git/config", 0, kPlanted), "created anew");
    expect_asked(lock_and_rename("sub/.git/config.worktree", kPlanted), "of a worktree");
    user();
    EXPECT_EQ(actor().write(".git/config", 0, kPlanted), 0);
}

TEST_F(Planted, AnAnswerIsForTheseSettingsS71) {
    expect_asked_and_remember(lock_and_rename(".git/config", kPlanted));
    answer(true);
    EXPECT_EQ(lock_and_rename(".git/config", kPlanted), 0);
    EXPECT_EQ(text(".git/config"), kPlanted);
    EXPECT_EQ(actor().append(".git/config", "# more\n"), 0) << "it is there now";
    expect_asked(actor().append(".git/config", "[core]\nfsmonitor = ./y\n"), "another value");
}

TEST_F(Planted, ANestedRepositoryIsFineAsLongAsItExecutesNothingS44) {
    ASSERT_EQ(actor().mkdir("made", 0755), 0);
    ASSERT_EQ(actor().mkdir("made/.git", 0755), 0);
    EXPECT_EQ(lock_and_rename("made/.git/config", kPlain), 0);
    expect_asked(lock_and_rename("made/.git/config", kOwn), "a setting that executes");
    EXPECT_EQ(actor().symlink("made/.git/tAbC123", "testing"), 0) << "how git looks for links";
    expect_asked(actor().rename("made/.git/tAbC123", "made/.git/hooks", 0), "a link");
    EXPECT_EQ(actor().unlink("made/.git/tAbC123"), 0);
    ASSERT_EQ(actor().mkdir("evil", 0755), 0);
    make("evil/config", kPlanted);
    expect_asked(actor().symlink("made/.git/hooks", "../../evil"), "a link to hooks");
    ASSERT_EQ(actor().mkdir("sub2", 0755), 0);
    expect_asked(actor().symlink("sub2/.git", "../evil"), "a link as a repository");
    expect_asked(actor().rename("evil", "sub2/.git", 0), "a directory that becomes a repository");
    make("file", "gitdir: ../evil\n");
    expect_asked(actor().rename("file", "sub2/.git", 0), "one that lies elsewhere");
    make("link", "gitdir: ../.git/worktrees/sub2\n");
    EXPECT_EQ(actor().rename("link", "sub2/.git", 0), 0) << "as git makes it";
    ASSERT_EQ(actor().mkdir(".git/worktrees", 0755), 0);
    ASSERT_EQ(actor().mkdir(".git/worktrees/sub2", 0755), 0);
    make(".git/worktrees/sub2/commondir", "../..\n");
    expect_asked(actor().write(".git/worktrees/sub2/commondir", 0, "../../../evil"), "commondir");
    ASSERT_EQ(actor().create(".git/commondir", 0644), 0);
    expect_asked(actor().write(".git/commondir", 0, "../evil"), "commondir of a repository");
    expect_asked(actor().mkdir("made/.unwrite", 0700), "a state directory");
}

TEST_F(Planted, HooksOfSubmodulesAreHooksS44) {
    for (const char* directory : {".git/modules", ".git/modules/a", ".git/modules/a/b",
                                  ".git/modules/a/b/hooks", ".git/modules/hooks"})
        ASSERT_EQ(actor().mkdir(directory, 0755), 0) << directory;
    for (const char* hook :
         {".git/modules/a/b/hooks/pre-commit", ".git/modules/a/b/hooks/update"}) {
        as_agent();  // nobody can be asked
        ASSERT_EQ(actor().create(hook, 0755), 0) << hook;
        agent();
        EXPECT_EQ(actor().stat(hook)->st_mode & 0111U, 0U) << hook;
        expect_asked(actor().chmod(hook, 0755), hook);
    }
    EXPECT_EQ(actor().create(".git/modules/a/b/hooks/pre-push.sample", 0755), 0);
    make(".git/modules/hooks/HEAD", "ref: refs/heads/main\n");
    make(".git/modules/hooks/packed-refs", "#\n");
}

TEST_F(Planted, FilesThatOtherProgramsRunAskS44) {
    const std::string own = "export A=1\n";
    expect_asked(actor().write(".envrc", 0, "x"), "write");
    expect_asked(actor().truncate(".envrc", 0), "truncate");
    expect_asked(actor().unlink(".envrc"), "unlink");
    expect_asked(actor().rename(".envrc", "away", 0), "rename");
    expect_asked(lock_and_rename(".envrc", "x"), "rename over");
    expect_asked(actor().create("old/.envrc", 0644), "create");
    expect_asked(actor().create(".husky/post-merge", 0755), "a hook of husky");
    expect_asked(actor().write(".husky/pre-commit", 0, "x"), "a hook of husky that was there");
    expect_asked(actor().rename(".husky", "husky", 0), "all of them");
    EXPECT_EQ(text(".envrc"), own);
    EXPECT_EQ(lock_and_rename(".envrc", own), 0) << "the same bytes";
    EXPECT_EQ(actor().chmod(".envrc", 0600), 0);
    EXPECT_EQ(actor().truncate(".husky/_/pre-commit", 0), 0) << "husky makes it anew";
    expect_asked(actor().write(".husky/_/pre-commit", 0, "evil\n"), "with other bytes");
    EXPECT_EQ(actor().write(".husky/_/pre-commit", 0, "wrapper\n"), 0);
    ASSERT_EQ(actor().mkdir("node_modules", 0755), 0);
    make("node_modules/.envrc", "x");
}

TEST_F(Planted, WhatComesWithANewDirectoryIsFreeS44) {
    ASSERT_EQ(actor().mkdir("clone", 0755), 0);
    make("clone/.envrc", "x");
    ASSERT_EQ(actor().mkdir("clone/.husky", 0755), 0);
    make("clone/.husky/pre-commit", "x");
    EXPECT_EQ(actor().unlink("clone/.envrc"), 0);
    expect_asked(actor().rename("clone/.husky", "old/.husky", 0), "in an old directory");
    make("clone/.envrc", "x");
    ASSERT_EQ(actor().rename("old/data", "moved", 0), 0);
    expect_asked(actor().rename("clone", "old/data", 0), "the old directory gave way to it");
    ASSERT_EQ(actor().mkdir("old/data", 0755), 0);
    expect_asked(actor().create("old/data/.envrc", 0644), "the same, made anew");
}

// As a sandbox does that mounts something over the name.
TEST_F(Planted, AnEmptyPlaceUnderASecretNameHarmsNothingS44) {
    ASSERT_EQ(actor().mkdir(".aws", 0755), 0);
    EXPECT_TRUE(actor().stat(".aws").ok());
    EXPECT_EQ(actor().create(".aws/credentials", 0644), EACCES);
    EXPECT_EQ(actor().chmod(".aws", 0700), EACCES);
    EXPECT_EQ(actor().mkdir(".aws", 0755), EACCES) << "it is there";
    EXPECT_EQ(actor().rmdir(".aws"), 0);
    ASSERT_EQ(actor().create(".env", 0444), 0);
    EXPECT_TRUE(actor().stat(".env").ok());
    EXPECT_EQ(actor().write(".env", 0, "x"), EACCES);
    EXPECT_EQ(actor().truncate(".env", 9), EACCES);
    EXPECT_EQ(actor().chmod(".env", 0644), EACCES);
    EXPECT_EQ(actor().unlink(".env"), 0);
    EXPECT_EQ(actor().create(".env", 0644), EACCES) << "somebody wants to fill it";
    make("file", "");
    EXPECT_EQ(actor().rename("file", ".env", 0), EACCES);
    EXPECT_EQ(actor().symlink(".aws", "x"), EACCES);
    user();
    make(".env", "A=1\n");
    ASSERT_EQ(actor().mkdir(".ssh", 0700), 0);
    make(".ssh/config", "x\n");
    agent();
    EXPECT_EQ(actor().unlink(".env"), EACCES) << "it holds something";
    EXPECT_EQ(actor().rmdir(".ssh"), EACCES);
    EXPECT_EQ(actor().stat(".ssh").error().number(), EACCES);
}

TEST_F(Planted, ADatabaseIsKnownWhereItsDirectoryWasReplacedS71) {
    ASSERT_EQ(actor().mkdir("new", 0755), 0);
    make("new/app.db", "new");
    EXPECT_EQ(actor().write("new/app.db", 0, "N"), 0);
    ASSERT_EQ(actor().rename("old", "away", 0), 0);
    expect_asked(actor().write("away/data/app.db", 0, "x"), "the database itself");
    ASSERT_EQ(actor().mkdir("old", 0755), 0);
    expect_asked(actor().rename("new", "old/data", 0), "a directory with one in its place");
    ASSERT_EQ(actor().mkdir("old/data", 0755), 0);
    expect_asked(actor().create("old/data/app.db", 0644), "another one in its place");
    expect_asked(actor().create("old/data/app.db-wal", 0644), "or what is beside it");
    EXPECT_EQ(actor().create("old/data/other.db", 0644), 0);
    expect_asked(actor().rename("new/app.db", "old/data/app.db", 0), "one that is moved there");
    ASSERT_OK(operations().checkpoint(World::asker(), overlay::NodeKind::kCheckpoint, "", ""));
    expect_asked(actor().create("old/data/app.db-journal", 0644), "after a checkpoint, too");
}

}  // namespace
}  // namespace unwrite::tests
