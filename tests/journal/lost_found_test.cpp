// After an unclean end nothing is removed that is not proved unwanted, and a database that is not
// the right one is refused.
#include "journal/lost_found.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "journal/journal.h"
#include "journal/sqlite.h"
#include "tests/base/scratch.h"

namespace unwrite::journal {
namespace {

using tests::Scratch;

class LostFoundTest : public ::testing::Test {
 protected:
    void SetUp() override { open(); }
    void open() {
        auto opened = Journal::open(scratch_.fd(), {.create = true});
        ASSERT_TRUE(opened.ok()) << opened.error().message();
        journal_ = *std::move(opened);
    }
    ObjectKey key_of(const std::string& name) const {
        const auto sx = sys::statx_at(scratch_.fd(), name);
        EXPECT_TRUE(sx.ok());
        return {sx->st.st_ino, sx->birth};
    }
    /// Displaces a new file.
    ObjectKey delete_file(const std::string& name, const std::string& text) {
        scratch_.write(name, text);
        const ObjectKey key = key_of(name);
        EXPECT_TRUE(journal_->attic().displace(scratch_.fd(), name, key, false).ok());
        return key;
    }
    void power_cut() {
        journal_.reset();
        scratch_.write(".unwrite/boot", "another boot\n");
    }
    std::string found(const std::string& name) const {
        return scratch_.read(".unwrite/lost+found/1/" + name);
    }
    Lost lost() { return *count_lost(journal_->state_dir().fd()); }

    Scratch scratch_;
    std::unique_ptr<Journal> journal_;
};

TEST_F(LostFoundTest, WhatNothingClaimsAfterAPowerCutIsKeptS67) {
    const ObjectKey key = delete_file("gone", "the only copy");
    power_cut();
    open();
    EXPECT_FALSE(journal_->attic().contains(key));
    EXPECT_EQ(found(Attic::file_name(key)), "the only copy");
    EXPECT_EQ(found("listing"), Attic::file_name(key) + "\tfile\t13\t?\n");
    EXPECT_EQ(lost().objects, 1U);
    EXPECT_EQ(journal_->lost().objects, 1U);
    journal_.reset();
    open();
    EXPECT_EQ(journal_->lost().objects, 0U) << "it was found once";
}

TEST_F(LostFoundTest, WhatIsClaimedStaysS67) {
    const ObjectKey key = delete_file("gone", "g");
    ASSERT_OK(DeltaWriter(journal_->state_dir().deltas(), 1)
                  .name({{key_of("."), "gone"}, key, S_IFREG}, 1));
    power_cut();
    open();
    EXPECT_TRUE(journal_->attic().contains(key));
    EXPECT_EQ(lost().objects, 0U);
}

TEST_F(LostFoundTest, ASecondNameOfALiveFileIsNotLostS67) {
    scratch_.write("live", "l");
    const ObjectKey key = key_of("live");
    ASSERT_OK(journal_->attic().anchor(scratch_.fd(), "live", key));
    power_cut();
    open();
    EXPECT_EQ(lost().objects, 0U);
}

TEST_F(LostFoundTest, PartsOfTheHistoryThatTheDatabaseForgotAreKeptAndGiveNamesS67) {
    const ObjectKey key = delete_file("gone", "g");
    ASSERT_OK(sys::make_directory(scratch_.fd(), "d", 0700));
    const ObjectKey directory = key_of("d");
    ASSERT_OK(journal_->places().set(directory, {key_of("."), "d"}));
    ASSERT_OK(DeltaWriter(journal_->state_dir().deltas(), 7)
                  .name({{directory, "na\tme"}, key, S_IFREG}, 1));
    power_cut();
    open();
    ASSERT_ASSIGN(const auto left, list_deltas(journal_->state_dir().deltas()));
    EXPECT_TRUE(left.empty());
    EXPECT_EQ(lost().deltas, 1U);
    EXPECT_FALSE(found("deltas/7.log").empty());
    EXPECT_EQ(found("listing"), Attic::file_name(key) + "\tfile\t1\td/na\\tme\n");
}

TEST_F(LostFoundTest, WhatWasBeingRemovedAtAPowerCutIsKeptS67) {
    ASSERT_OK(sys::make_directory(scratch_.fd(), ".unwrite/attic/x-1", 0700));
    scratch_.write(".unwrite/attic/x-1/f", "f");
    power_cut();
    open();
    EXPECT_EQ(found("x-1/f"), "f");
}

TEST_F(LostFoundTest, AfterAKillItIsRemovedAsBefore) {
    ASSERT_OK(sys::make_directory(scratch_.fd(), ".unwrite/attic/x-1", 0700));
    journal_.reset();
    open();
    EXPECT_NUMBER(ENOENT, sys::stat_at(scratch_.fd(), ".unwrite/attic/x-1"));
    EXPECT_EQ(lost().objects, 0U);
}

TEST_F(LostFoundTest, EachUncleanEndHasADirectoryOfItsOwn) {
    const ObjectKey one = delete_file("one", "1");
    power_cut();
    open();
    const ObjectKey two = delete_file("two", "2");
    power_cut();
    open();
    EXPECT_EQ(found(Attic::file_name(one)), "1");
    EXPECT_EQ(scratch_.read(".unwrite/lost+found/2/" + Attic::file_name(two)), "2");
    EXPECT_EQ(lost().objects, 2U);
}

TEST_F(LostFoundTest, DroppingItRemovesAllOfIt) {
    delete_file("one", "1");
    ASSERT_OK(sys::make_directory(scratch_.fd(), ".unwrite/attic/x-1", 0700));
    ASSERT_OK(sys::make_directory(scratch_.fd(), ".unwrite/attic/x-1/deep", 0));
    ASSERT_OK(DeltaWriter(journal_->state_dir().deltas(), 7).touch_object({1, 1}, 1));
    power_cut();
    open();
    ASSERT_ASSIGN(const Lost dropped, drop_lost(journal_->state_dir().fd(), journal_->attic()));
    EXPECT_EQ(dropped.objects, 2U);
    EXPECT_EQ(dropped.deltas, 1U);
    EXPECT_NUMBER(ENOENT, sys::stat_at(scratch_.fd(), ".unwrite/lost+found"));
    ASSERT_ASSIGN(const auto leftovers, journal_->attic().leftovers());
    EXPECT_TRUE(leftovers.empty());
    ASSERT_OK(drop_lost(journal_->state_dir().fd(), journal_->attic()));
}

TEST_F(LostFoundTest, WithADamagedDeltaNothingIsProvedAndNothingRemoved) {
    const ObjectKey key = delete_file("gone", "g");
    {
        DeltaWriter writer(journal_->state_dir().deltas(), 1);
        ASSERT_OK(writer.touch_object({1, 1}, 1));
        ASSERT_OK(writer.touch_object({2, 1}, 1));
        ASSERT_OK(writer.touch_object({3, 1}, 1));
    }
    std::string log = scratch_.read(".unwrite/deltas/1.log");
    log[50] ^= 1;
    scratch_.write(".unwrite/deltas/1.log", log);
    power_cut();
    open();
    EXPECT_TRUE(journal_->is_unproved());
    EXPECT_TRUE(journal_->attic().contains(key));
    EXPECT_EQ(scratch_.read(".unwrite/boot"), "another boot\n");
}

class WrongDatabase : public LostFoundTest {
 protected:
    void SetUp() override {
        LostFoundTest::SetUp();
        key_ = delete_file("gone", "the only copy");
        ASSERT_OK(journal_->store().apply({.open_delta_is_new = true}));
        ASSERT_OK(DeltaWriter(journal_->state_dir().deltas(), 2).touch_object({1, 1}, 1));
        journal_.reset();
    }
    void expect_refused() {
        EXPECT_KIND(ErrorKind::kRecovery, Journal::open(scratch_.fd(), {.create = true}));
        EXPECT_KIND(ErrorKind::kRecovery, Journal::open(scratch_.fd(), {.lock = false}));
        expect_nothing_lost();
    }
    void expect_nothing_lost() {
        EXPECT_EQ(scratch_.read(".unwrite/attic/" + Attic::file_name(key_)), "the only copy");
        EXPECT_FALSE(scratch_.read(".unwrite/deltas/2.log").empty());
    }
    std::filesystem::path database() { return scratch_.path() / ".unwrite/journal.db"; }
    ObjectKey key_;
};

TEST_F(WrongDatabase, MissingIsRefusedAndNothingGoesS67) {
    std::filesystem::remove(database());
    expect_refused();
}

TEST_F(WrongDatabase, EmptyIsRefusedAndNothingGoesS67) {
    std::filesystem::resize_file(database(), 0);
    expect_refused();
}

TEST_F(WrongDatabase, WithoutTablesIsRefusedAndNothingGoesS67) {
    const Scratch other;
    {
        ASSERT_ASSIGN(auto opened, Database::open(other.fd(), "journal.db"));
        ASSERT_OK(opened.query_text("PRAGMA journal_mode = WAL"));
    }
    std::filesystem::copy_file(other.path() / "journal.db", database(),
                               std::filesystem::copy_options::overwrite_existing);
    EXPECT_KIND(ErrorKind::kCorrupt, Journal::open(scratch_.fd(), {.create = true}));
    expect_nothing_lost();
}

TEST_F(WrongDatabase, OfAnotherWorkspaceIsRefusedAndNothingGoesS67) {
    const Scratch other;
    ASSERT_OK(Journal::open(other.fd(), {.create = true}));
    std::filesystem::copy_file(other.path() / ".unwrite/journal.db", database(),
                               std::filesystem::copy_options::overwrite_existing);
    expect_refused();
}

TEST_F(WrongDatabase, AnOlderCopyIsRefusedAndNothingGoesS67) {
    std::filesystem::copy_file(database(), scratch_.path() / "older");
    open();
    ASSERT_OK(journal_->store().apply({.open_delta_is_new = true}));
    ASSERT_OK(DeltaWriter(journal_->state_dir().deltas(), 3).touch_object({1, 1}, 1));
    journal_.reset();
    std::filesystem::rename(scratch_.path() / "older", database());
    EXPECT_KIND(ErrorKind::kRecovery, Journal::open(scratch_.fd(), {.create = true}));
    EXPECT_FALSE(scratch_.read(".unwrite/deltas/3.log").empty());
}

TEST_F(WrongDatabase, OneOfBeforeThereWereIdentitiesGetsOne) {
    std::filesystem::remove(scratch_.path() / ".unwrite/identity");
    {
        ASSERT_ASSIGN(const auto store,
                      Store::open(scratch_.open(".unwrite", O_RDONLY | O_DIRECTORY).get(), false));
        ASSERT_OK(store->set_identity(0));
    }
    open();
    EXPECT_FALSE(scratch_.read(".unwrite/identity").empty());
    ASSERT_ASSIGN(const auto identity, journal_->store().identity());
    EXPECT_NE(identity, 0U);
}

}  // namespace
}  // namespace unwrite::journal
