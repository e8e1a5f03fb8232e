// What the audit log says of refusals and of watched files, and how little a loop of them writes.
#include <gtest/gtest.h>

#include <fstream>

#include "base/clock.h"
#include "overlay/auditor.h"
#include "overlay/refused.h"
#include "tests/overlay/looking.h"

namespace unwrite::tests {
namespace {

using overlay::Action;
using overlay::AuditEntry;
using overlay::AuditTrail;
using overlay::Subjects;

class Audited : public Looking {
 protected:
    void SetUp() override {
        before(".env", "SECRET=1\n");
        before("watched", "w\n");
        before("free", "free\n");
        auto rules = overlay::default_rules(Subjects::kEveryone);
        overlay::Rule watch;
        watch.pattern = "watched";
        watch.action = Action::kWatch;
        watch.subjects = Subjects::kAgents;
        rules.push_back(watch);
        overlay::SessionOptions options;
        auto policy = overlay::Policy::compile(std::move(rules));
        ASSERT_TRUE(policy.ok()) << policy.error().message();
        options.policy = *policy;
        world_.emplace(raw().string(), options);
        begin_run();
        as_user();
    }
    AuditTrail trail() {
        auto read = world_->session().oversight().audit(1000);
        EXPECT_TRUE(read.ok()) << read.error().message();
        return read ? *std::move(read) : AuditTrail();
    }
    Lines said() {
        Lines lines;
        for (const AuditEntry& entry : trail().entries) {
            lines.push_back(entry.event + " " + entry.operation + " " + entry.path + " " +
                            (entry.agent ? entry.session : "user") +
                            (entry.count > 1 ? " x" + std::to_string(entry.count) : ""));
        }
        return lines;
    }
    std::filesystem::path log() const { return raw() / ".unwrite/audit.log"; }
};

TEST_F(Audited, ARefusalIsWrittenDownWithItsRuleS44S82) {
    EXPECT_EQ(actor().write(".env", 0, "x"), EACCES);
    EXPECT_EQ(actor().unlink(".env"), EACCES);
    EXPECT_EQ(actor().rename("free", "new.pem", 0), EACCES);
    as_agent();
    EXPECT_EQ(actor().read(".env").error().number(), EACCES);
    EXPECT_EQ(said(), (Lines{"refused write .env user", "refused unlink .env user",
                             "refused rename new.pem user", "refused look up .env agent"}));
    const AuditTrail found = trail();
    ASSERT_EQ(found.entries.size(), 4U);
    EXPECT_EQ(found.entries[0].pid, ::getpid());
    EXPECT_NE(found.entries[0].executable, "");
    EXPECT_EQ(found.entries[0].detail, "*.env (profile default): it may hold a secret");
    EXPECT_EQ(found.problems, Lines());
}

TEST_F(Audited, WhatIsAllowedIsNotWrittenDownS45) {
    EXPECT_EQ(actor().write("free", 0, "F"), 0);
    EXPECT_EQ(actor().read(".env").value_or(""), "SECRET=1\n");
    EXPECT_EQ(actor().read("watched").value_or(""), "w\n");
    as_agent();
    EXPECT_EQ(actor().write("free", 0, "f"), 0);
    EXPECT_EQ(said(), Lines());
}

TEST_F(Audited, AnAgentsLookAtAWatchedFileIsWrittenDownS45) {
    as_agent();
    EXPECT_EQ(actor().read("watched").value_or(""), "w\n");
    EXPECT_EQ(actor().write("watched", 0, "W"), 0) << "it is watched, not protected";
    const Lines lines = said();
    ASSERT_FALSE(lines.empty());
    EXPECT_EQ(lines[0], "read look up watched agent");
}

TEST_F(Audited, WhatADirectoryListsIsNobodysWish) {
    overlay::Caller caller{0, 0, kAgent, 0022};
    caller.listing = true;
    EXPECT_FALSE(world_->tree().lookup(caller, overlay::kRootId, ".env").ok());
    EXPECT_TRUE(world_->tree().lookup(caller, overlay::kRootId, "watched").ok());
    EXPECT_EQ(said(), Lines());
}

TEST_F(Audited, WhatWasRefusedIsGatheredS44) {
    EXPECT_EQ(actor().write(".env", 0, "x"), EACCES);
    as_agent();
    for (int i = 0; i < 3; ++i)
        EXPECT_EQ(actor().create("new.key", 0600), EACCES);
    EXPECT_FALSE(actor().read(".env").ok());
    auto& oversight = world_->session().oversight();
    overlay::Asker agent = World::asker();
    agent.pid = kAgent;
    oversight.note_refusal(agent, "commit");
    ASSERT_ASSIGN(const auto all, overlay::refused_in(oversight, operations(), 0, ""));
    EXPECT_EQ(all.writes, 4U);
    EXPECT_EQ(all.reads, 1U);
    EXPECT_EQ(all.commands, 1U);
    ASSERT_EQ(all.entries.size(), 4U);
    EXPECT_EQ(all.entries.back().path, ".env");
    EXPECT_EQ(all.entries.back().session, "");
    ASSERT_ASSIGN(const auto session, overlay::refused_in(oversight, operations(), 0, "agent"));
    EXPECT_EQ(session.writes, 3U);
    EXPECT_EQ(session.entries.size(), 3U);
    ASSERT_ASSIGN(const auto later,
                  overlay::refused_in(oversight, operations(), wall_clock_ns(), ""));
    EXPECT_EQ(later.entries.size(), 0U);
    ASSERT_OK(operations().commit(World::asker(), "", true));
    ASSERT_ASSIGN(const auto next, overlay::refused_in(oversight, operations(), 0, ""));
    EXPECT_EQ(next.writes + next.reads + next.commands, 0U) << "another task has begun";
}

TEST_F(Audited, ALoopOfRefusalsCostsTwoLines) {
    for (int i = 0; i < 1000; ++i)
        EXPECT_EQ(actor().write(".env", 0, "x"), EACCES);
    EXPECT_EQ(said(), (Lines{"refused write .env user", "refused write .env user x999"}));
}

TEST_F(Audited, ALoopOverNamesIsBounded) {
    constexpr int kMany = 1000;
    for (int i = 0; i < kMany; ++i)
        EXPECT_EQ(actor().create("k" + std::to_string(i) + ".key", 0600), EACCES);
    const AuditTrail found = trail();
    EXPECT_EQ(found.entries.size(), overlay::Auditor::kMostDifferent + 1);
    EXPECT_EQ(found.entries.back().count, kMany - overlay::Auditor::kMostDifferent);
    EXPECT_EQ(found.entries.back().path, "");
}

TEST_F(Audited, WhatWasOnlyCountedIsThereAfterTheEnd) {
    for (int i = 0; i < 3; ++i)
        EXPECT_EQ(actor().write(".env", 0, "x"), EACCES);
    world_->reopen();
    EXPECT_EQ(said(), (Lines{"refused write .env user", "refused write .env user x2"}));
}

TEST_F(Audited, AChangedLogIsFoundByCheckAndPutAway) {
    EXPECT_EQ(actor().write(".env", 0, "x"), EACCES);
    EXPECT_EQ(actor().unlink(".env"), EACCES);
    std::string text;
    {
        std::ifstream in(log());
        text.assign(std::istreambuf_iterator<char>(in), {});
    }
    text.replace(text.find(" write "), 7, " wrote ");
    std::ofstream(log()) << text;
    ASSERT_ASSIGN(const auto checked, operations().check(false));
    EXPECT_EQ(checked.problems,
              Lines{"audit.log: line 1 was changed, or one before it was taken out"});
    ASSERT_OK(operations().check(true));
    ASSERT_ASSIGN(const auto again, operations().check(false));
    EXPECT_EQ(again.problems, Lines());
    EXPECT_TRUE(std::filesystem::exists(raw() / ".unwrite/audit.log.broken"));
}

// With no time to wait in between, each refusal is one that ended a while.
TEST(Auditor, AfterAWhileTheSameIsWrittenAgain) {
    const Scratch scratch;
    ASSERT_ASSIGN(const auto journal, journal::Journal::open(scratch.fd(), {true, false, true}));
    ASSERT_ASSIGN(const auto origins, overlay::Origins::open(*journal));
    const int state = journal->state_dir().fd();
    ASSERT_ASSIGN(const auto log, journal::AuditLog::open(state, false));
    overlay::Auditor auditor(*log, *origins, std::chrono::seconds(0));
    for (int i = 0; i < 3; ++i)
        auditor.note(0, 0, {"refused", "write", "a", ""});
    ASSERT_ASSIGN(const AuditTrail found, journal::read_audit(state));
    EXPECT_EQ(found.entries.size(), 3U);
}

}  // namespace
}  // namespace unwrite::tests
