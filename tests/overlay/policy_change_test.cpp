// Rules that change while they are in force: replaced, and with single paths allowed for a while.
#include <gtest/gtest.h>

#include "base/clock.h"
#include "overlay/rulebook.h"
#include "tests/overlay/looking.h"

namespace unwrite::tests {
namespace {

using overlay::Action;
using overlay::Allowance;
using overlay::Rulebook;
using overlay::Subjects;

std::shared_ptr<const overlay::Policy> compiled(std::vector<overlay::Rule> rules) {
    auto policy = overlay::Policy::compile(std::move(rules));
    EXPECT_TRUE(policy.ok()) << policy.error().message();
    return policy ? *policy : nullptr;
}

overlay::Rule rule(const std::string& pattern, Action action,
                   Subjects subjects = Subjects::kEveryone) {
    overlay::Rule made;
    made.pattern = pattern;
    made.action = action;
    made.subjects = subjects;
    made.source = "test";
    return made;
}

bool may_write(Rulebook& book, const std::string& path, bool agent) {
    return book.now().judge(path, S_IFREG, agent).may_write;
}

TEST(Rulebooks, AnAllowanceIsForThatPathAlone) {
    Rulebook book(compiled({rule("*.key", Action::kDeny)}));
    ASSERT_OK(book.allow({"a/[x]*.key", false, 0}));
    EXPECT_TRUE(may_write(book, "a/[x]*.key", false));
    EXPECT_FALSE(may_write(book, "a/[x]*.key", true)) << "agents were not named";
    EXPECT_FALSE(may_write(book, "a/x1.key", false)) << "the path was taken for a pattern";
    EXPECT_FALSE(may_write(book, "b/a/[x]*.key", false));
    ASSERT_OK(book.allow({"b.key", true, 0}));
    EXPECT_TRUE(may_write(book, "b.key", true));
    EXPECT_TRUE(may_write(book, "a/[x]*.key", false));
}

TEST(Rulebooks, AnAllowanceEnds) {
    Rulebook book(compiled({rule("*.key", Action::kDeny)}));
    ASSERT_OK(book.allow({"a.key", false, wall_clock_ns() + 3600'000'000'000}));
    EXPECT_TRUE(may_write(book, "a.key", false));
    const unsigned generation = book.generation();
    ASSERT_OK(book.allow({"a.key", false, 1}));
    EXPECT_FALSE(may_write(book, "a.key", false));
    EXPECT_GT(book.generation(), generation);
    EXPECT_TRUE(book.allowances().empty());
}

TEST(Rulebooks, AReplacementKeepsAllowances) {
    Rulebook book(compiled({rule("*.key", Action::kDeny)}));
    const overlay::Policy& before = book.now();
    ASSERT_OK(book.allow({"a.key", false, 0}));
    ASSERT_OK(book.replace(compiled({rule("*.key", Action::kDeny), rule("x", Action::kDeny)})));
    EXPECT_TRUE(may_write(book, "a.key", false));
    EXPECT_FALSE(may_write(book, "x", false));
    EXPECT_FALSE(before.judge("a.key", S_IFREG, false).may_write) << "what was given out stays";
}

class Changing : public Looking {
 protected:
    void SetUp() override {
        before(".env", "SECRET=1\n");
        before("dir/plan", "p\n");
        std::filesystem::create_hard_link(raw() / ".env", raw() / "alias");
        overlay::SessionOptions options;
        options.policy = compiled(overlay::default_rules(Subjects::kEveryone));
        world_.emplace(raw().string(), options);
        begin_run();
        as_user();
    }
    overlay::Oversight& oversight() { return world_->session().oversight(); }
    void replace_rules(std::vector<overlay::Rule> rules) {
        ASSERT_OK(world_->session().replace_policy(World::asker(), compiled(std::move(rules))));
    }
    Lines events() {
        Lines lines;
        const auto trail = oversight().audit(100);
        EXPECT_TRUE(trail.ok());
        if (trail) {
            for (const auto& entry : trail->entries)
                lines.push_back(entry.event + " " + entry.path + " " + entry.detail);
        }
        return lines;
    }
};

TEST_F(Changing, WhatTheUserAllowsIsWrittenAndSeenInTheLogS44) {
    EXPECT_EQ(actor().write(".env", 0, "x"), EACCES);
    ASSERT_OK(oversight().allow(World::asker(), ".env", false, 0));
    EXPECT_EQ(actor().write(".env", 0, "s"), 0);
    EXPECT_EQ(actor().stat(".env")->st_mode & 0777U, 0644U);
    as_agent();
    EXPECT_EQ(actor().write(".env", 0, "x"), EACCES) << "allowed to the user alone";
    EXPECT_EQ(actor().read(".env").error().number(), EACCES);
    const Lines lines = events();
    ASSERT_GE(lines.size(), 2U);
    EXPECT_EQ(lines[1], "allowed .env to the user until the unmount");
}

TEST_F(Changing, ALinkThatWasAllowedIsNoWayRoundAfterwards) {
    ASSERT_OK(oversight().allow(World::asker(), ".env", false, 0));
    ASSERT_EQ(actor().link(".env", "mine"), 0);
    EXPECT_EQ(actor().write("mine", 0, "s"), 0);
    as_agent();
    EXPECT_EQ(actor().read("mine").error().number(), EACCES);
    world_->reopen();  // the allowance ends
    begin_run();
    as_user();
    EXPECT_EQ(actor().write("mine", 0, "x"), EACCES) << "it is .env still";
}

TEST_F(Changing, AnAllowanceWithAgentsIsForThemToo) {
    ASSERT_OK(oversight().allow(World::asker(), ".env", true, 3600));
    as_agent();
    EXPECT_EQ(actor().read(".env").value_or(""), "SECRET=1\n");
    EXPECT_EQ(actor().write(".env", 0, "s"), 0);
    EXPECT_EQ(actor().create("new.key", 0600), EACCES);
    EXPECT_EQ(events().at(0), "allowed .env to everyone for 3600 s");
}

TEST_F(Changing, TheWholeWorkspaceIsNotAllowed) {
    EXPECT_EQ(oversight().allow(World::asker(), "", false, 0).error().kind(), ErrorKind::kUsage);
    EXPECT_EQ(actor().write(".env", 0, "x"), EACCES);
}

TEST_F(Changing, OtherRulesAreInForceAtOnceS44S165) {
    EXPECT_EQ(actor().write(".env", 0, "x"), EACCES);
    EXPECT_EQ(actor().write("dir/plan", 0, "P"), 0);
    replace_rules({rule("dir/*", Action::kDenyWrite)});
    EXPECT_EQ(actor().write("dir/plan", 0, "x"), EACCES);
    EXPECT_EQ(actor().create("dir/new", 0644), EACCES) << "a directory that nothing was about";
    EXPECT_EQ(actor().write(".env", 0, "s"), 0);
    EXPECT_EQ(actor().write("alias", 0, "S"), 0);
    replace_rules(overlay::default_rules(Subjects::kEveryone));
    EXPECT_EQ(actor().write(".env", 0, "x"), EACCES);
    EXPECT_EQ(actor().write("alias", 0, "x"), EACCES) << "the same file by its other name";
    EXPECT_EQ(actor().write("dir/plan", 0, "p"), 0);
}

// A process that stands in the directory asks for names in it without looking it up again.
TEST_F(Changing, ADirectoryThatIsHeldIsJudgedByOtherRulesToo) {
    const overlay::Caller user{0, 0, ::getpid(), 0022};
    ASSERT_ASSIGN(const overlay::Entry dir, world_->tree().lookup(user, overlay::kRootId, "dir"));
    replace_rules({rule("dir/*", Action::kDenyWrite)});
    EXPECT_EQ(world_->tree().mkdir(user, dir.id, "new", 0755).error().number(), EACCES);
    world_->tree().forget(dir.id, 1);
}

TEST_F(Changing, TheRulesAreShownAndExplained) {
    ASSERT_OK(oversight().allow(World::asker(), "a.key", false, 60));
    ASSERT_ASSIGN(const auto rules, oversight().rules());
    EXPECT_EQ(rules.size(), overlay::default_rules(Subjects::kEveryone).size() + 1);
    EXPECT_EQ(rules.back().pattern, "/a.key");
    EXPECT_EQ(rules.back().action, "allow");
    EXPECT_EQ(rules.back().subjects, "user");
    EXPECT_NE(rules.back().until_ns, 0);
    ASSERT_ASSIGN(const auto env, oversight().explain(".env"));
    EXPECT_TRUE(env.user.may_read);
    EXPECT_FALSE(env.user.may_write);
    EXPECT_FALSE(env.agent.may_read);
    EXPECT_EQ(env.agent.reading, "*.env (profile default): it may hold a secret");
    ASSERT_ASSIGN(const auto other, oversight().explain("dir/plan"));
    EXPECT_TRUE(other.agent.may_write);
    EXPECT_EQ(other.agent.writing, "");
}

}  // namespace
}  // namespace unwrite::tests
