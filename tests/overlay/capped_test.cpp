// What a person is asked about besides the user's own rules: files of which much would have to be
// copied to take a change back, and databases that were there before.
#include <gtest/gtest.h>
#include <linux/falloc.h>

#include "tests/overlay/asking.h"

namespace unwrite::tests {
namespace {

using overlay::Subjects;

constexpr std::uint64_t kCap = std::uint64_t{1} << 20;

class Capped : public Asking {
 protected:
    void SetUp() override {
        before("big", std::string(4 * kCap, 'b'));
        before("small", std::string(kCap / 2, 's'));
        before("old.db", "database\n");
        before("old.db-wal", "log\n");
        before("sub/OLD.SQLITE3", "database\n");
        begin_with(Subjects::kAgents, Subjects::kAgents);
    }
    void begin_with(Subjects cap, Subjects databases) {
        world_.reset();
        overlay::SessionOptions options;
        auto policy = overlay::Policy::compile(overlay::database_rules(databases));
        ASSERT_TRUE(policy.ok()) << policy.error().message();
        options.policy = *policy;
        options.size_cap = {kCap, cap};
        begin_asking(options);
        whole_ = world_->look();
    }
    void approve(overlay::QuestionNumber number) {
        const auto answered = world_->session().oversight().answer({}, number, true, false);
        EXPECT_TRUE(answered.ok()) << answered.error().message();
    }
    void expect_untouched() {
        EXPECT_EQ(difference(whole_, world_->look()), "");
        ASSERT_ASSIGN(const auto checked, operations().check(false));
        EXPECT_EQ(checked.records, 0U);
    }
    Snapshot whole_;
};

TEST_F(Capped, OverwritingMuchAsksS72S84) {
    for (const auto& [call, number] : std::vector<std::pair<const char*, int>>{
             {"truncate", actor().truncate("big", 0)},
             {"punch",
              actor().fallocate("big", FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE, 0, 3 * kCap)},
             {"write", actor().write("big", 0, std::string(2 * kCap, 'x'))}}) {
        EXPECT_EQ(number, EDQUOT) << call;
    }
    EXPECT_NE(question(), 0U);
    expect_untouched();
}

TEST_F(Capped, OnlyWhatIsCopiedCountsS72) {
    EXPECT_EQ(actor().write("big", 3 * kCap, std::string(4096, 'x')), 0);
    EXPECT_EQ(actor().append("big", std::string(3 * kCap, 'a')), 0) << "what is appended";
    EXPECT_EQ(actor().truncate("small", 0), 0);
    EXPECT_EQ(actor().create("new", 0644), 0);
    EXPECT_EQ(actor().write("new", 0, std::string(3 * kCap, 'n')), 0) << "what is created";
    EXPECT_EQ(actor().truncate("new", 0), 0);
    EXPECT_EQ(actor().write("big", 3 * kCap, std::string(4096, 'y')), 0);
    EXPECT_EQ(actor().unlink("big"), 0) << "what is displaced as it is";
    EXPECT_EQ(question(), 0U);
}

TEST_F(Capped, PiecesAddUpAndAnAnswerLetsThemGoOnS84) {
    std::uint64_t at = 0;
    int number = 0;
    for (; number == 0 && at < 4 * kCap; at += 65536)
        number = actor().write("big", at, std::string(65536, 'x'));
    EXPECT_EQ(number, EDQUOT);
    EXPECT_EQ(at, kCap + 65536) << "the cap itself is allowed";
    EXPECT_EQ(actor().write("big", 0, std::string(65536, 'y')), 0) << "that is captured already";
    approve(question());
    EXPECT_EQ(actor().write("big", kCap, std::string(3 * kCap, 'z')), 0);
    EXPECT_EQ(question(), 0U);
}

TEST_F(Capped, WithNobodyThereTheLogNamesTheKeyS72) {
    world_->session().waiting().close();
    EXPECT_EQ(actor().truncate("big", 0), EDQUOT);
    EXPECT_EQ(question(), 0U);
    expect_untouched();
    const auto trail = world_->session().oversight().audit(10);
    ASSERT_TRUE(trail.ok());
    ASSERT_EQ(trail->entries.size(), 1U);
    EXPECT_EQ(trail->entries[0].event, "refused");
    EXPECT_NE(trail->entries[0].detail.find("policy.size_cap"), std::string::npos);
    EXPECT_NE(trail->entries[0].detail.find("4 MiB"), std::string::npos);
}

TEST_F(Capped, HolesAreNotCopiedS72) {
    ASSERT_EQ(actor().create("sparse", 0644), 0);
    ASSERT_EQ(actor().truncate("sparse", 1024 * kCap), 0);
    ASSERT_EQ(actor().write("sparse", 512 * kCap, "x"), 0);
    checkpoint("sparse");
    EXPECT_EQ(actor().truncate("sparse", 0), 0);
    EXPECT_EQ(question(), 0U);
}

TEST_F(Capped, ForWhomItHolds) {
    user();
    EXPECT_EQ(actor().truncate("big", kCap), 0) << "an agent's cap";
    EXPECT_EQ(actor().write("old.db", 0, "x"), 0);
    begin_with(Subjects::kEveryone, Subjects::kEveryone);
    user();
    EXPECT_EQ(actor().write("old.db", 0, "x"), EACCES);
    EXPECT_NE(question(), 0U);
    ASSERT_EQ(actor().append("big", std::string(3 * kCap, 'a')), 0);
    checkpoint("bigger");
    EXPECT_EQ(actor().truncate("big", 0), EDQUOT);
    EXPECT_NE(question(), 0U);
}

TEST_F(Capped, DatabasesThatWereThereAskS71) {
    for (const char* path : {"old.db", "old.db-wal", "sub/OLD.SQLITE3"}) {
        for (const int number : {actor().write(path, 0, "x"), actor().truncate(path, 0),
                                 actor().unlink(path), actor().rename(path, "moved", 0),
                                 actor().rename("small", path, 0), actor().chmod(path, 0600)}) {
            EXPECT_EQ(number, EACCES) << path;
        }
        EXPECT_NE(question(), 0U) << path;
    }
    expect_untouched();
    EXPECT_TRUE(actor().read("old.db").value_or("") == "database\n");
    actor().write("old.db", 0, "x");
    approve(question());
    EXPECT_EQ(actor().write("old.db", 0, "x"), 0);
    EXPECT_EQ(actor().write("old.db-wal", 0, "x"), 0) << "one answer for all of the database";
    EXPECT_EQ(actor().create("old.db-shm", 0644), 0);
    EXPECT_EQ(actor().write("sub/OLD.SQLITE3", 0, "x"), EACCES);
}

// A row in a new log beside it would be in the database.
TEST_F(Capped, TheFilesBesideADatabaseWereThereWithItS71) {
    later();
    for (const char* path : {"old.db-shm", "old.db-journal", "sub/OLD.SQLITE3-wal"}) {
        EXPECT_EQ(actor().create(path, 0644), EACCES) << path;
        EXPECT_EQ(actor().rename("small", path, 0), EACCES) << path;
        EXPECT_EQ(actor().link("small", path), EACCES) << path;
        EXPECT_EQ(actor().symlink(path, "small"), EACCES) << path;
        EXPECT_NE(question(), 0U) << path;
    }
    expect_untouched();
    user();
    ASSERT_EQ(actor().create("old.db-shm", 0644), 0);
    agent();
    EXPECT_EQ(actor().write("old.db-shm", 0, "x"), EACCES) << "whoever made it";
    EXPECT_EQ(actor().unlink("old.db-shm"), EACCES);
    EXPECT_EQ(actor().create("new.db-wal", 0644), 0) << "there is no such database";
}

TEST_F(Capped, DatabasesThatWereMadeSinceAreFreeS71) {
    later();
    for (const char* path : {"new.db", "new.db-wal", "sub/x.sqlite"}) {
        EXPECT_EQ(actor().create(path, 0644), 0) << path;
        EXPECT_EQ(actor().write(path, 0, "x"), 0) << path;
        EXPECT_EQ(actor().unlink(path), 0) << path;
    }
    ASSERT_EQ(actor().create("new.db", 0644), 0);
    EXPECT_EQ(actor().rename("new.db", "old.db", 0), EACCES) << "over one that was there";
    EXPECT_NE(question(), 0U);
    ASSERT_TRUE(operations().commit(World::asker(), "", false).ok());
    EXPECT_EQ(actor().write("new.db", 0, "x"), EACCES) << "another task has begun";
    EXPECT_NE(question(), 0U);
}

TEST_F(Capped, ADatabaseIsRestoredAsOneS71) {
    user();
    const auto work = [&] {
        ASSERT_EQ(actor().write("old.db", 0, "DATA"), 0);
        ASSERT_EQ(actor().write("old.db-wal", 0, "LOG"), 0);
        ASSERT_EQ(actor().create("old.db-shm", 0644), 0);
        ASSERT_EQ(actor().write("small", 0, "x"), 0);
    };
    for (const char* named : {"old.db", "old.db-wal"}) {
        work();
        const auto moved = operations().restore_paths(World::asker(), {named}, "", false);
        ASSERT_TRUE(moved.ok()) << moved.error().message();
        EXPECT_EQ(changes(), Lines({"modified small"})) << named;
    }
    EXPECT_EQ(operations().restore_paths(World::asker(), {"none.db"}, "", false).error().kind(),
              ErrorKind::kNotFound);
    EXPECT_EQ(operations().restore_paths(World::asker(), {"small-wal"}, "", false).error().kind(),
              ErrorKind::kNotFound);
}

TEST_F(Capped, ADatabaseIsKeptAsOneS71) {
    user();
    ASSERT_EQ(actor().write("sub/OLD.SQLITE3", 0, "DATA"), 0);
    ASSERT_EQ(actor().create("sub/OLD.SQLITE3-wal", 0644), 0);
    ASSERT_EQ(actor().write("old.db", 0, "DATA"), 0);
    overlay::Decision decision{.keep = {"sub/OLD.SQLITE3"}};
    ASSERT_ASSIGN(const auto kept, operations().decide(World::asker(), decision, false));
    ASSERT_EQ(kept.needed.size(), 1U);
    EXPECT_EQ(kept.needed[0].path, "sub/OLD.SQLITE3-wal");
    EXPECT_EQ(kept.needed[0].reason, "it is a part of the same database");
    EXPECT_EQ(changes(), Lines({"modified old.db"}));
    ASSERT_EQ(actor().write("old.db-wal", 0, "LOG"), 0);
    decision = {.keep = {"old.db"}, .take_back = {"old.db-wal"}};
    EXPECT_EQ(operations().decide(World::asker(), decision, false).error().kind(),
              ErrorKind::kConflict);
}

}  // namespace
}  // namespace unwrite::tests
