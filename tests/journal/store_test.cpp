#include "journal/store.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "journal/sqlite.h"
#include "tests/base/small_disk.h"

namespace unwrite::journal {
namespace {

using tests::Scratch;

class StoreTest : public ::testing::Test {
 protected:
    void SetUp() override { reopen(); }
    void reopen() {
        store_.reset();
        auto opened = Store::open(scratch_.fd(), false);
        ASSERT_TRUE(opened.ok()) << opened.error().message();
        store_ = *std::move(opened);
    }
    Head head() {
        auto head = store_->head();
        EXPECT_TRUE(head.ok());
        return *std::move(head);
    }
    Scratch scratch_;
    std::unique_ptr<Store> store_;
};

TEST_F(StoreTest, AFreshOneHasARootAndAnOpenDelta) {
    EXPECT_EQ(head().root, 1U);
    EXPECT_EQ(head().current, 1U);
    EXPECT_EQ(head().open_delta, 1U);
    EXPECT_EQ(head().redo_tip, 0U);
    ASSERT_ASSIGN(const auto nodes, store_->nodes());
    ASSERT_EQ(nodes.size(), 1U);
    EXPECT_EQ(nodes[0].kind, NodeKind::kRoot);
    EXPECT_EQ(nodes[0].parent, 0U);
    EXPECT_GT(nodes[0].time_ns, 1'600'000'000'000'000'000);
    ASSERT_ASSIGN(const auto pending, store_->pending());
    EXPECT_FALSE(pending);
    ASSERT_ASSIGN(const auto problems, store_->integrity_problems());
    EXPECT_TRUE(problems.empty());
}

TEST_F(StoreTest, ACheckpointIsOneChange) {
    Store::Change change;
    change.add_nodes = {{.parent = 1,
                         .kind = NodeKind::kCheckpoint,
                         .name = std::string("name\0\xff", 6),
                         .text = "text",
                         .time_ns = 5,
                         .origin = 3,
                         .delta = 1,
                         .tags = {{"k", "v"}, {"", std::string("\0", 1)}}}};
    change.take_delta_number = change.open_delta_is_new = change.current_is_added_node = true;
    ASSERT_ASSIGN(const auto changed, store_->apply(change));
    EXPECT_EQ(changed.nodes, std::vector<NodeNumber>{2});
    EXPECT_EQ(changed.delta, 2U);
    reopen();
    EXPECT_EQ(head().current, 2U);
    EXPECT_EQ(head().open_delta, 2U);
    ASSERT_ASSIGN(const auto node, store_->node(2));
    ASSERT_TRUE(node);
    EXPECT_EQ(node->name, std::string("name\0\xff", 6));
    EXPECT_EQ(node->kind, NodeKind::kCheckpoint);
    EXPECT_EQ(node->parent, 1U);
    EXPECT_EQ(node->delta, 1U);
    EXPECT_EQ(node->origin, 3U);
    EXPECT_EQ(node->tags, change.add_nodes[0].tags);
    EXPECT_TRUE(node->open);
    EXPECT_FALSE(node->down);
}

TEST_F(StoreTest, NodesAreUpdatedAndRemoved) {
    ASSERT_OK(store_->apply({.add_nodes = {{.parent = 1}, {.parent = 2}}}));
    ASSERT_ASSIGN(auto node, store_->node(2));
    node->down = true;
    node->delta = 9;
    node->tags = {{"new", "tag"}};
    ASSERT_OK(store_->apply({.update_nodes = {*node}, .remove_nodes = {3}}));
    ASSERT_ASSIGN(const auto nodes, store_->nodes());
    ASSERT_EQ(nodes.size(), 2U);
    EXPECT_TRUE(nodes[1].down);
    EXPECT_EQ(nodes[1].delta, 9U);
    EXPECT_EQ(nodes[1].tags.at("new"), "tag");
}

TEST_F(StoreTest, NumbersAreNeverUsedAgain) {
    ASSERT_OK(store_->apply({.add_nodes = {{.parent = 1}}, .take_delta_number = true}));
    ASSERT_OK(store_->apply({.remove_nodes = {2}}));
    reopen();
    ASSERT_ASSIGN(const auto changed,
                  store_->apply({.add_nodes = {{.parent = 1}}, .take_delta_number = true}));
    EXPECT_EQ(changed.nodes.front(), 3U);
    EXPECT_EQ(changed.delta, 3U);
    ASSERT_OK(store_->apply({.add_nodes = {{.number = 40, .parent = 1}}}));
    ASSERT_ASSIGN(const auto next, store_->apply({.add_nodes = {{.parent = 1}}}));
    EXPECT_EQ(next.nodes.front(), 41U);
}

TEST_F(StoreTest, AFailedChangeChangesNothing) {
    Store::Change change;
    change.add_nodes = {{.parent = 1}};
    change.update_nodes = {{.number = 77, .parent = 1}};
    change.take_delta_number = change.current_is_added_node = true;
    EXPECT_KIND(ErrorKind::kNotFound, store_->apply(change));
    ASSERT_ASSIGN(const auto nodes, store_->nodes());
    EXPECT_EQ(nodes.size(), 1U);
    EXPECT_EQ(head().current, 1U);
    EXPECT_KIND(ErrorKind::kUsage, store_->apply({.current_is_added_node = true}));
    ASSERT_OK(store_->apply({.add_nodes = {{.parent = 1}}}));
    EXPECT_FALSE(store_->apply({.add_nodes = {{.number = 2, .parent = 1}}}).ok()) << "it is taken";
}

std::map<NodeNumber, Node> by_number(const std::vector<Node>& nodes) {
    std::map<NodeNumber, Node> rows;
    for (const Node& node : nodes)
        rows.emplace(node.number, node);
    return rows;
}

// What is kept in memory says what the database says, after every kind of change.
TEST_F(StoreTest, WhatTheWriterKnowsIsWhatTheDatabaseHolds) {
    const auto expect_same = [&] {
        ASSERT_ASSIGN(const Store::Known known, store_->known());
        ASSERT_ASSIGN(const auto nodes, store_->nodes());
        ASSERT_EQ(known.nodes.size(), nodes.size());
        for (const auto& [number, node] : by_number(nodes)) {
            const Node* const own = known.nodes.find(number);
            ASSERT_NE(own, nullptr) << number;
            EXPECT_EQ(std::tie(own->parent, own->kind, own->name, own->text, own->time_ns,
                               own->origin, own->delta, own->down, own->open, own->tags),
                      std::tie(node.parent, node.kind, node.name, node.text, node.time_ns,
                               node.origin, node.delta, node.down, node.open, node.tags))
                << number;
        }
        const Head here = head();
        EXPECT_EQ(std::tie(known.head.root, known.head.current, known.head.open_delta,
                           known.head.redo_tip, known.head.mode),
                  std::tie(here.root, here.current, here.open_delta, here.redo_tip, here.mode));
    };
    expect_same();
    Store::Change seal;
    seal.add_nodes = {{.parent = 1, .name = "one", .delta = 1, .tags = {{"k", "v"}}}};
    seal.take_delta_number = seal.current_is_added_node = seal.open_delta_is_new = true;
    ASSERT_OK(store_->apply(seal));
    expect_same();
    Store::Change divided;
    divided.add_nodes = {{.parent = 2, .delta = 2}, {.parent = 0, .delta = 3, .down = true}};
    divided.current_is_added_node = divided.redo_tip_is_added_node = true;
    ASSERT_OK(store_->apply(divided));
    expect_same();
    ASSERT_OK(store_->apply({.update_nodes = {{.number = 2, .parent = 1, .text = "other"}}}));
    expect_same();
    EXPECT_FALSE(
        store_->apply({.add_nodes = {{.parent = 1}}, .update_nodes = {{.number = 77}}}).ok());
    expect_same();
    ASSERT_OK(store_->apply({.remove_nodes = {4}, .head = Head{1, 3, 9, 0, "task"}}));
    expect_same();
    ASSERT_OK(store_->apply({.update_nodes = {{.number = 3, .kind = NodeKind::kRoot}},
                             .remove_other_nodes = true,
                             .head = Head{3, 3, 9, 0, ""}}));
    expect_same();
    ASSERT_ASSIGN(const auto nodes, store_->nodes());
    EXPECT_EQ(nodes.size(), 1U);
}

TEST_F(StoreTest, HeadAndPendingAreKept) {
    Head wanted{1, 1, 8, 4, "task"};
    Pending pending{Pending::Verb::kCommit, 3, 4, 5, true};
    Store::Change change;
    change.head = wanted;
    change.pending = std::optional(pending);
    ASSERT_OK(store_->apply(change));
    reopen();
    EXPECT_EQ(head().open_delta, 8U);
    EXPECT_EQ(head().redo_tip, 4U);
    EXPECT_EQ(head().mode, "task");
    ASSERT_ASSIGN(const auto found, store_->pending());
    ASSERT_TRUE(found);
    EXPECT_EQ(found->verb, Pending::Verb::kCommit);
    EXPECT_EQ(found->target, 3U);
    EXPECT_EQ(found->edge, 4U);
    EXPECT_EQ(found->inverse, 5U);
    EXPECT_TRUE(found->applying);
    ASSERT_OK(store_->apply({}));
    ASSERT_ASSIGN(const auto still, store_->pending());
    EXPECT_TRUE(still) << "a change that does not speak of it leaves it";
    Store::Change clear;
    clear.pending = std::optional<Pending>();
    ASSERT_OK(store_->apply(clear));
    ASSERT_ASSIGN(const auto gone, store_->pending());
    EXPECT_FALSE(gone);
}

TEST_F(StoreTest, OriginsAreKept) {
    const Origin origin{0, 1000, 4711, std::string("/bin/\xff", 6), "run-1", 2, true, 99};
    ASSERT_ASSIGN(const OriginNumber one, store_->add_origin(origin));
    ASSERT_ASSIGN(const OriginNumber two, store_->add_origin({}));
    EXPECT_EQ(one, 1U);
    EXPECT_EQ(two, 2U);
    reopen();
    ASSERT_ASSIGN(const auto origins, store_->origins());
    ASSERT_EQ(origins.size(), 2U);
    EXPECT_EQ(origins[0].uid, 1000U);
    EXPECT_EQ(origins[0].pid, 4711);
    EXPECT_EQ(origins[0].executable, origin.executable);
    EXPECT_EQ(origins[0].session, "run-1");
    EXPECT_EQ(origins[0].step, 2U);
    EXPECT_TRUE(origins[0].agent);
    EXPECT_EQ(origins[0].time_ns, 99);
}

TEST_F(StoreTest, AReaderReadsBesideTheWriter) {
    ASSERT_ASSIGN(const auto reader, Store::open(scratch_.fd(), false));
    ASSERT_OK(store_->apply({.add_nodes = {{.parent = 1}}}));
    ASSERT_ASSIGN(const auto nodes, reader->nodes());
    EXPECT_EQ(nodes.size(), 2U);
    ASSERT_OK(store_->apply({.add_nodes = {{.parent = 1}}}));
    ASSERT_ASSIGN(const auto more, reader->nodes());
    EXPECT_EQ(more.size(), 3U);
}

TEST_F(StoreTest, TheDirectoryMayBeRenamedAndHidden) {
    // The path goes through the descriptor, never through the directory's name.
    const std::filesystem::path old = scratch_.path() / "state";
    ASSERT_OK(sys::make_directory(scratch_.fd(), "state", 0700));
    const UniqueFd fd = scratch_.open("state", O_RDONLY | O_DIRECTORY);
    std::filesystem::rename(old, scratch_.path() / "moved");
    ASSERT_OK(sys::make_directory(scratch_.fd(), "state", 0700));
    {
        ASSERT_ASSIGN(const auto store, Store::open(fd.get(), true));
        ASSERT_OK(store->apply({.add_nodes = {{.parent = 1}}}));
    }
    EXPECT_TRUE(std::filesystem::exists(scratch_.path() / "moved" / "journal.db"));
    EXPECT_TRUE(std::filesystem::is_empty(old));
}

TEST_F(StoreTest, ANewerVersionIsLeftAlone) {
    store_.reset();
    {
        ASSERT_ASSIGN(Database database, Database::open(scratch_.fd(), "journal.db"));
        ASSERT_OK(database.execute("PRAGMA user_version = 5"));
    }
    const auto opened = Store::open(scratch_.fd(), false);
    EXPECT_KIND(ErrorKind::kRecovery, opened);
    EXPECT_NE(opened.error().text().find("version 5"), std::string::npos);
    EXPECT_NE(opened.error().text().find("version 3"), std::string::npos);
}

// A node of a run, or of an edit, was made when it began.
TEST_F(StoreTest, S76_version1IsMigrated) {
    Store::Change change;
    const std::string edit = R"(edit a {"begun":{"token":"1","files":[]}})";
    change.add_nodes = {
        {.parent = 1, .kind = NodeKind::kRun, .text = "make test", .tags = {{"session", "run-2"}}},
        {.parent = 2, .kind = NodeKind::kStep, .text = edit},
        {.parent = 3, .kind = NodeKind::kStep, .text = "mine"},
        {.parent = 4, .kind = NodeKind::kCheckpoint, .name = "c", .text = std::string("\xff", 1)}};
    ASSERT_OK(store_->apply(change));
    store_.reset();
    {
        ASSERT_ASSIGN(Database database, Database::open(scratch_.fd(), "journal.db"));
        ASSERT_OK(database.execute("PRAGMA user_version = 1"));
    }
    for (int i = 0; i < 2; ++i) {  // once, and not again
        reopen();
        ASSERT_ASSIGN(const auto nodes, store_->nodes());
        ASSERT_EQ(nodes.size(), 5U);
        EXPECT_EQ(nodes[1].kind, NodeKind::kStep);
        EXPECT_EQ(nodes[1].text, "before make test");
        EXPECT_EQ(nodes[1].tags.at("session"), "run-2");
        EXPECT_EQ(nodes[2].text, "before " + edit);
        EXPECT_EQ(nodes[3].text, "mine");
        EXPECT_EQ(nodes[4].kind, NodeKind::kCheckpoint);
        EXPECT_EQ(nodes[4].text, std::string("\xff", 1));
    }
}

TEST_F(StoreTest, SomeoneElsesDatabaseIsRefused) {
    store_.reset();
    std::filesystem::remove(scratch_.path() / "journal.db");
    {
        ASSERT_ASSIGN(Database database, Database::open(scratch_.fd(), "journal.db"));
        ASSERT_OK(database.execute("CREATE TABLE addresses(name)"));
    }
    EXPECT_KIND(ErrorKind::kCorrupt, Store::open(scratch_.fd(), false));
}

TEST_F(StoreTest, ASymlinkIsNotFollowed) {
    store_.reset();
    std::filesystem::remove(scratch_.path() / "journal.db");
    ASSERT_OK(sys::make_symlink(scratch_.fd(), "journal.db", "elsewhere"));
    EXPECT_FALSE(Store::open(scratch_.fd(), false).ok());
    EXPECT_FALSE(std::filesystem::exists(scratch_.path() / "elsewhere"));
}

// The log begins anew in the room that it has.
TEST(StoreOnAFullDisk, ItNeedsNoRoomToGoOnS165) {
    const tests::SmallDisk disk;
    if (!disk.mounted()) GTEST_SKIP() << "needs privileges";
    const UniqueFd state(*sys::open_at(AT_FDCWD, disk.path().string(), O_RDONLY | O_DIRECTORY));
    ASSERT_ASSIGN(const auto store, Store::open(state.get(), false));
    disk.fill(0);
    NodeNumber parent = 1;
    for (int i = 0; i < 200; ++i) {
        Store::Change change;
        change.add_nodes = {{.parent = parent, .kind = NodeKind::kCheckpoint, .text = "text"}};
        change.take_delta_number = true;
        const auto changed = store->apply(change);
        ASSERT_TRUE(changed) << i << ": " << changed.error().message();
        parent = changed->nodes.front();
        Store::Change gone;
        gone.remove_nodes = {parent};
        ASSERT_TRUE(store->apply(gone)) << i;
        parent = 1;
        ASSERT_TRUE(store->add_origin({.executable = "program"})) << i;
    }
}

}  // namespace
}  // namespace unwrite::journal
