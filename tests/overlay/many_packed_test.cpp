// Many states of the same file whose captured bytes are compressed while they are looked at and
// gone through: every state comes out as it was, with few files open.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "tests/overlay/many_states.h"
#include "tests/support/packing.h"

namespace unwrite::tests {
namespace {

using overlay::Consent;

class ManyPacked : public ManyStates {
 protected:
    /// Compresses what is sealed, again and again, until it goes.
    class Packer {
     public:
        explicit Packer(const std::string& directory)
            : thread_([this, directory] {
                  while (!end_)
                      pack_all(directory);
              }) {}
        Packer(const Packer&) = delete;
        Packer& operator=(const Packer&) = delete;
        ~Packer() {
            end_ = true;
            thread_.join();
        }

     private:
        std::atomic<bool> end_ = false;
        std::thread thread_;
    };

    std::size_t stored(const std::string& ending) const {
        std::size_t count = 0;
        for (const auto& entry : std::filesystem::directory_iterator(raw() / ".unwrite/deltas"))
            count += entry.path().filename().string().ends_with(ending) ? 1U : 0U;
        return count;
    }
    void expect_state(int state) const {
        EXPECT_TRUE(same() == text_at(state)) << state;
        EXPECT_EQ(scratch_.read("work/other"), std::to_string(state) + (state < 10 ? "\n" : ""));
    }
    /// All that the log says of a file's states, and the bytes of some of them.
    Lines looked_at() {
        Lines lines;
        const auto log = operations().log("same", false, true);
        EXPECT_TRUE(log.ok()) << log.error().message();
        if (!log) return lines;
        for (const auto& entry : log->entries) {
            lines.push_back(std::to_string(entry.node.number));
            for (const auto& line : lines_of(entry.changes))
                lines.push_back(line);
        }
        for (int state = 1; state <= kStates; state += 23)
            lines.push_back(patch("root", node(state), {"same"}));
        return lines;
    }
};

TEST_F(ManyPacked, S30_S49_what_is_looked_at_is_the_same_while_it_is_compressed) {
    const Lines before = looked_at();
    ASSERT_GE(before.size(), static_cast<std::size_t>(2 * kStates));
    ASSERT_ASSIGN(const auto counted, operations().count());
    {
        const Packer packer(raw().string());
        while (stored(".dat.zst") < kStates) {
            EXPECT_TRUE(looked_at() == before);
            ASSERT_EQ(actor().write("other", 0, "400"), 0);
            ASSERT_ASSIGN(const auto again, operations().count());
            EXPECT_EQ(again.files, counted.files);
        }
    }
    EXPECT_TRUE(looked_at() == before);
    ASSERT_ASSIGN(const auto again, operations().count());
    EXPECT_EQ(again.files, counted.files);
    expect_no_problem();
}

TEST_F(ManyPacked, S30_S49_every_state_comes_back_while_it_is_compressed) {
    {
        const Packer packer(raw().string());
        for (int state = kStates - 1; state > 0; --state) {
            ASSERT_OK(operations().rollback(World::asker(), node(state), false, Consent::kAll));
            expect_state(state);
        }
    }
    pack_all(raw().string());
    EXPECT_EQ(stored(".dat"), 0U);
    EXPECT_GE(stored(".dat.zst"), static_cast<std::size_t>(kStates));
    for (int state = 2; state <= kStates; ++state) {
        ASSERT_OK(operations().redo(World::asker(), 1, Consent::kAll));
        expect_state(state);
    }
    ASSERT_OK(discard_all());
    EXPECT_TRUE(same() == text_at(0));
    expect_no_problem();
}

TEST_F(ManyPacked, S30_S49_parts_are_kept_and_collected_out_of_what_is_compressed) {
    ASSERT_OK(operations().restore_paths(World::asker(), {"same"}, node(7), false));
    pack_all(raw().string());
    EXPECT_TRUE(same() == text_at(7));
    for (const int state : {399, 200, 64, 1}) {
        ASSERT_OK(operations().restore_paths(World::asker(), {"same"}, node(state), false));
        EXPECT_TRUE(same() == text_at(state)) << state;
    }
    overlay::Decision keep;
    keep.keep = {"other"};
    {
        const Packer packer(raw().string());
        ASSERT_OK(operations().decide(World::asker(), keep, false));
    }
    ASSERT_OK(operations().rollback(World::asker(), node(300), false, Consent::kAll));
    EXPECT_TRUE(same() == text_at(300));
    EXPECT_EQ(scratch_.read("work/other"), std::to_string(kStates));
    pack_all(raw().string());
    ASSERT_OK(operations().rollback(World::asker(), node(100), false, Consent::kAll));
    EXPECT_TRUE(same() == text_at(100));
    {
        const Packer packer(raw().string());
        ASSERT_ASSIGN(const auto some, operations().gc({.max_abandoned = 150}));
        EXPECT_GE(some.nodes, 150U);
    }
    ASSERT_OK(operations().rollback(World::asker(), node(150), false, Consent::kAll));
    EXPECT_TRUE(same() == text_at(150));
    expect_no_problem();
    ASSERT_OK(discard_all());
    EXPECT_TRUE(same() == text_at(0));
}

TEST_F(ManyPacked, S48_S49_a_file_that_is_open_all_the_time_is_taken_back_through_all) {
    const overlay::Caller user{0, 0, ::getpid(), 0022};
    ASSERT_ASSIGN(const auto entry, world_->tree().lookup(user, overlay::kRootId, "same"));
    ASSERT_OK(world_->tree().begin_unseen(user, entry.id));
    {
        const Packer packer(raw().string());
        for (const int state : {3, kStates, 150, 1}) {
            ASSERT_OK(operations().rollback(World::asker(), node(state), false, Consent::kAll));
            EXPECT_TRUE(same() == text_at(state)) << state;
        }
    }
    pack_all(raw().string());
    for (const int state : {kStates, 99, 100}) {
        ASSERT_OK(operations().rollback(World::asker(), node(state), false, Consent::kAll));
        EXPECT_TRUE(same() == text_at(state)) << state;
    }
    world_->tree().end_unseen(entry.id, false);
    ASSERT_OK(discard_all());
    EXPECT_TRUE(same() == text_at(0));
    expect_no_problem();
}

}  // namespace
}  // namespace unwrite::tests
