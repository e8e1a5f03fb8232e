// What a killed edit left, taken back on the raw directory as a mount does it.
#include <fcntl.h>
#include <gtest/gtest.h>

#include "base/syscalls.h"
#include "overlay/editing_record.h"
#include "tests/control/fake_operations.h"
#include "tests/overlay/looking.h"

namespace unwrite::tests {
namespace {

using overlay::EditRecord;

class KilledEdit : public Looking {
 protected:
    void SetUp() override {
        before("one", "old");
        before("two", "old");
        begin();
    }
    overlay::Asker agent() const {
        overlay::Asker asker = World::asker();
        asker.pid = kAgent;
        return asker;
    }
    /// An edit of both files that got as far as the first one.
    void half_an_edit(const overlay::Asker& asker) {
        EditRecord record;
        record.token = "0123456789abcdef";
        for (const char* name : {"one", "two"})
            record.files.push_back({name, digest_of("new"), true});
        const auto begun = begin_edit(operations(), asker, "edit", record);
        ASSERT_TRUE(begun) << begun.error().message();
    }
    std::vector<std::string> finish() {
        auto root = sys::open_at(AT_FDCWD, raw().string(), O_RDONLY | O_DIRECTORY);
        auto files = overlay::EditFiles::open(*std::move(root), {});
        EXPECT_TRUE((*files)->lock());
        const auto done = finish_killed_edits(operations(), World::asker(), **files);
        EXPECT_TRUE(done) << done.error().message();
        return done ? *done : std::vector<std::string>();
    }
    std::string text(const std::string& path) const { return scratch_.read("work/" + path); }
};

TEST_F(KilledEdit, S15_is_taken_back_without_a_mount_and_once) {
    half_an_edit(World::asker());
    replace("one", "new");
    EXPECT_EQ(finish(), std::vector<std::string>{"one"});
    EXPECT_EQ(text("one"), "old");
    EXPECT_TRUE(finish().empty());
    replace("one", "new");
    EXPECT_TRUE(finish().empty());
    EXPECT_EQ(text("one"), "new");
}

TEST_F(KilledEdit, S23_what_was_changed_since_stays) {
    half_an_edit(World::asker());
    replace("one", "mine");
    EXPECT_TRUE(finish().empty());
    EXPECT_EQ(text("one"), "mine");
}

TEST_F(KilledEdit, S23_S27_an_agents_word_takes_nothing_of_the_users_back) {
    begin_run();
    half_an_edit(agent());
    replace("one", "new");  // by the user
    EXPECT_TRUE(finish().empty());
    EXPECT_EQ(text("one"), "new");
    half_an_edit(agent());
    as_agent();
    replace("two", "new");
    as_user();
    EXPECT_EQ(finish(), std::vector<std::string>{"two"});
    EXPECT_EQ(text("two"), "old");
}

TEST_F(KilledEdit, S49_a_path_below_a_created_directory_can_be_taken_back_alone) {
    const std::string node = checkpoint();
    ASSERT_EQ(actor().mkdir("new", 0755), 0);
    make("new/a", "a");
    make("new/b", "b");
    const auto moved = operations().restore_paths(World::asker(), {"new/a"}, node, false);
    ASSERT_TRUE(moved) << moved.error().message();
    EXPECT_FALSE(std::filesystem::exists(raw() / "new/a"));
    EXPECT_EQ(text("new/b"), "b");
    const auto back = operations().undo(World::asker(), 1, overlay::Consent::kAll);
    ASSERT_TRUE(back) << back.error().message();
    EXPECT_EQ(text("new/a"), "a");
}

TEST_F(KilledEdit, S15_only_the_newest_edit_is_looked_for) {
    half_an_edit(World::asker());
    for (int i = 0; i < 40; ++i)
        checkpoint();
    replace("one", "new");
    EXPECT_EQ(finish(), std::vector<std::string>{"one"});
    EXPECT_EQ(text("one"), "old");
}

/// A journal of many nodes that counts how many of them are read.
class ManyNodes final : public control::FakeOperations {
 public:
    explicit ManyNodes(std::string newest, overlay::NodeNumber at = 3)
        : newest_(std::move(newest)), at_(at) {}
    std::size_t read = 0;
    Result<std::vector<Node>> trunk(overlay::NodeNumber from, std::size_t most) override {
        std::vector<Node> nodes;
        for (auto number = from == 0 ? kCount : from; number > 0 && nodes.size() < most; --number) {
            Node& node = nodes.emplace_back();
            node.number = number;
            node.parent = number - 1;
            if (number == kCount - at_) node.text = newest_;
        }
        read += nodes.size();
        return nodes;
    }
    static constexpr overlay::NodeNumber kCount = 20'000;

 private:
    const std::string newest_;
    const overlay::NodeNumber at_;
};

TEST_F(KilledEdit, what_it_costs_does_not_grow_with_the_journal) {
    auto root = sys::open_at(AT_FDCWD, raw().string(), O_RDONLY | O_DIRECTORY);
    const auto files = overlay::EditFiles::open(*std::move(root), {});
    EditRecord one;
    one.token = "0123456789abcdef";
    one.files.push_back({"one", digest_of("new"), true});
    for (const std::string& text :
         {std::string("edited one [ended 0123456789abcdef]"), record_text("edit", one)}) {
        for (const overlay::NodeNumber behind : {0U, 3U}) {
            ManyNodes nodes(text, behind);
            const auto done = finish_killed_edits(nodes, World::asker(), **files);
            ASSERT_TRUE(done) << done.error().message();
            EXPECT_LT(nodes.read, 50U);
            EXPECT_TRUE(nodes.asked().empty()) << text;
        }
    }
    ManyNodes none("a checkpoint");
    ASSERT_TRUE(finish_killed_edits(none, World::asker(), **files));
    EXPECT_EQ(none.read, ManyNodes::kCount);
}

}  // namespace
}  // namespace unwrite::tests
