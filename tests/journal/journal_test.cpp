#include "journal/journal.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "tests/base/scratch.h"

namespace unwrite::journal {
namespace {

using tests::Scratch;

class JournalTest : public ::testing::Test {
 protected:
    void SetUp() override {
        auto opened = Journal::open(scratch_.fd(), {.create = true});
        ASSERT_TRUE(opened.ok()) << opened.error().message();
        journal_ = *std::move(opened);
    }
    ObjectKey make_file(const std::string& name) const {
        scratch_.write(name, "text");
        const auto sx = sys::statx_at(scratch_.fd(), name);
        EXPECT_TRUE(sx.ok());
        return {sx->st.st_ino, sx->birth};
    }
    int deltas() { return journal_->state_dir().deltas(); }
    /// The only problem that check() finds; "" for none.
    std::string problem() {
        const auto report = journal_->check();
        EXPECT_TRUE(report.ok());
        EXPECT_LE(report->problems.size(), 1U) << report->problems.back();
        return report->problems.empty() ? "" : report->problems.front();
    }
    ObjectKey root_key() const {
        const auto root = sys::statx_at(scratch_.fd(), "");
        return root ? ObjectKey{root->st.st_ino, root->birth} : ObjectKey{};
    }
    Scratch scratch_;
    std::unique_ptr<Journal> journal_;
};

TEST_F(JournalTest, AFreshOneIsSound) {
    ASSERT_ASSIGN(const CheckReport report, journal_->check());
    EXPECT_TRUE(report.problems.empty());
    EXPECT_EQ(report.deltas, 1U);
    EXPECT_EQ(report.records, 0U);
    EXPECT_EQ(report.attic_objects, 0U);
}

TEST_F(JournalTest, HasOneWriterAndAnyNumberOfReaders) {
    EXPECT_KIND(ErrorKind::kConflict, Journal::open(scratch_.fd(), {}));
    ASSERT_ASSIGN(const auto reader, Journal::open(scratch_.fd(), {.lock = false}));
    ASSERT_OK(reader->check());
    journal_.reset();
    ASSERT_OK(Journal::open(scratch_.fd(), {}));
}

// A file that is mapped, and that others can cut short, would end the daemon with SIGBUS.
TEST_F(JournalTest, NothingIsMappedThatOthersCanCut) {
    const auto state = scratch_.path() / ".unwrite";
    EXPECT_TRUE(std::filesystem::exists(state / "journal.db-wal"));
    EXPECT_FALSE(std::filesystem::exists(state / "journal.db-shm"));
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);)
        EXPECT_EQ(line.find(state.string()), std::string::npos) << line;
    journal_.reset();
    // What an older program left, or somebody put there, is in nobody's way.
    std::filesystem::create_directory(state / "journal.db-shm");
    ASSERT_ASSIGN(journal_, Journal::open(scratch_.fd(), {}));
    ASSERT_ASSIGN(const CheckReport report, journal_->check());
    EXPECT_TRUE(report.problems.empty());
}

TEST_F(JournalTest, OpensWithDurabilityForPowerCuts) {
    journal_.reset();
    ASSERT_ASSIGN(journal_, Journal::open(scratch_.fd(), {.durable = true}));
    DeltaWriter writer(deltas(), 1);
    ASSERT_OK(writer.sync()) << "nothing to sync";
    ASSERT_OK(writer.name({{root_key(), "a"}, std::nullopt, 0}, 1));
    ASSERT_OK(writer.sync());
    ASSERT_OK(journal_->store().apply({.take_delta_number = true}));
    EXPECT_EQ(problem(), "");
}

TEST_F(JournalTest, KnowsWhatItsDeltasMention) {
    const ObjectKey one{11, 1};
    const ObjectKey two{12, 1};
    const ObjectKey gone{13, 1};
    const auto say = [&](DeltaNumber number, const ObjectKey& key) {
        return DeltaWriter(deltas(), number).name({{root_key(), "n"}, key, S_IFREG}, 1);
    };
    ASSERT_OK(say(1, one));
    ASSERT_OK(say(2, two));
    ASSERT_OK(say(3, gone));
    Store::Change change;
    change.add_nodes = {{.parent = 1, .delta = 1}};
    change.pending = std::optional(Pending{.inverse = 2});
    ASSERT_OK(journal_->store().apply(change));
    ASSERT_ASSIGN(const auto keys, journal_->mentioned_by_all_deltas());
    EXPECT_EQ(keys, (std::set<ObjectKey>{one, two, root_key()}));
    ASSERT_OK(journal_->remove_unreferenced_deltas());
    ASSERT_ASSIGN(const auto left, list_deltas(deltas()));
    EXPECT_EQ(left, (std::vector<DeltaNumber>{1, 2}));
}

TEST_F(JournalTest, CheckCounts) {
    const ObjectKey key = make_file("f");
    ASSERT_OK(journal_->attic().anchor(scratch_.fd(), "f", key));
    DeltaWriter writer(deltas(), 1);
    ASSERT_OK(writer.size(key, 4, 1));
    ASSERT_OK(writer.content(key, scratch_.open("f", O_RDONLY).get(), 0, 4));
    ASSERT_ASSIGN(const CheckReport report, journal_->check());
    EXPECT_TRUE(report.problems.empty());
    EXPECT_EQ(report.records, 2U);
    EXPECT_EQ(report.attic_objects, 1U);
    EXPECT_GT(report.bytes, 4U);
}

TEST_F(JournalTest, CheckMissesObjects) {
    const ObjectKey key = make_file("f");
    DeltaWriter writer(deltas(), 1);
    ASSERT_OK(writer.name({{root_key(), "f"}, key, S_IFREG}, 1));
    EXPECT_EQ(problem(), "object " + Attic::file_name(key) +
                             " is in the journal, but neither in the attic nor in places.log");
    ASSERT_OK(journal_->places().set(key, {root_key(), "f"}));
    EXPECT_EQ(problem(), "");
}

TEST_F(JournalTest, CheckKnowsTheWorkspaceItself) {
    ASSERT_ASSIGN(const sys::StatX root, sys::statx_at(scratch_.fd(), ""));
    DeltaWriter writer(deltas(), 1);
    ASSERT_OK(writer.attributes({root.st.st_ino, root.birth}, {.mode = S_IFDIR | 0700}, 1));
    EXPECT_EQ(problem(), "");
}

TEST_F(JournalTest, CheckSeesDamagedDeltas) {
    {
        DeltaWriter writer(deltas(), 1);
        ASSERT_OK(writer.name({{root_key(), "a"}, std::nullopt, 0}, 1));
        ASSERT_OK(writer.name({{root_key(), "b"}, std::nullopt, 0}, 1));
    }
    std::string text = scratch_.read(".unwrite/deltas/1.log");
    text[40] = static_cast<char>(text[40] ^ 1);
    scratch_.write(".unwrite/deltas/1.log", text);
    EXPECT_EQ(problem(), "read delta 1: a damaged record at byte 28");
}

TEST_F(JournalTest, CheckSeesMissingData) {
    const ObjectKey key = make_file("f");
    ASSERT_OK(journal_->attic().anchor(scratch_.fd(), "f", key));
    DeltaWriter writer(deltas(), 1);
    ASSERT_OK(writer.size(key, 4, 1));
    ASSERT_OK(writer.content(key, scratch_.open("f", O_RDONLY).get(), 0, 4));
    scratch_.write(".unwrite/deltas/1.dat", "tex");
    EXPECT_NE(problem().find("beyond the end of the data file"), std::string::npos);
}

TEST_F(JournalTest, CheckSeesNodesThatLeadNowhere) {
    ASSERT_OK(journal_->store().apply({.add_nodes = {{.number = 5, .parent = 4, .delta = 1}}}));
    EXPECT_EQ(problem(), "node n5 does not lead to the root");
    ASSERT_OK(journal_->store().apply({.update_nodes = {{.number = 5, .parent = 5, .delta = 1}}}));
    EXPECT_EQ(problem(), "node n5 does not lead to the root");
    ASSERT_OK(journal_->store().apply({.update_nodes = {{.number = 5, .parent = 1}}}));
    EXPECT_EQ(problem(), "node n5 has no delta");
}

TEST_F(JournalTest, CheckSeesAHeadThatPointsNowhere) {
    Head head;
    head.root = 1;
    head.current = 9;
    head.open_delta = 1;
    ASSERT_OK(journal_->store().apply({.head = head}));
    EXPECT_EQ(problem(), "the current node is n9, which does not exist");
}

TEST_F(JournalTest, CheckSeesStrangersInTheAttic) {
    const ObjectKey key = make_file("f");
    ASSERT_OK(journal_->attic().anchor(scratch_.fd(), "f", key));
    std::filesystem::remove(scratch_.path() / ".unwrite/attic" / Attic::file_name(key));
    EXPECT_EQ(problem(), "attic: object " + Attic::file_name(key) + " is gone");
    scratch_.write(".unwrite/attic/" + Attic::file_name(key), "");
    EXPECT_NE(problem().find("another object"), std::string::npos);
}

TEST_F(JournalTest, OpeningFinishesInterruptedRemovals) {
    ASSERT_OK(sys::make_directory(journal_->attic().directory(), "x-3", 0700));
    journal_.reset();
    ASSERT_ASSIGN(journal_, Journal::open(scratch_.fd(), {}));
    EXPECT_TRUE(std::filesystem::is_empty(scratch_.path() / ".unwrite/attic"));
}

}  // namespace
}  // namespace unwrite::journal
