// Captured bytes that are compressed behind the back of everybody: nothing that is asked for comes
// out otherwise.
#include "overlay/compressor.h"

#include <gtest/gtest.h>

#include <fstream>
#include <thread>

#include "base/reflink.h"
#include "tests/overlay/looking.h"
#include "tests/support/packing.h"

namespace unwrite::tests {
namespace {

std::string words(std::size_t size, char letter) {
    std::string text;
    for (std::size_t i = 0; text.size() < size; ++i)
        text += letter + std::to_string(i * i % 7919) + (i % 11 == 0 ? '\n' : ' ');
    text.resize(size);
    return text;
}

class CompressorTest : public Looking {
 protected:
    void SetUp() override {
        before("one", words(700'000, 'a'));
        before("two", words(300'000, 'b'));
        before("d/three", words(900'000, 'c'));
    }
    void begin_compressing() {
        overlay::SessionOptions options;
        options.compress_after = std::chrono::milliseconds(0);
        world_.emplace(raw().string(), options);
    }
    std::filesystem::path file(const std::string& name) const {
        return raw() / ".unwrite/deltas" / name;
    }
    /// Where blocks are shared, a delta has none for itself until what was changed is written back.
    bool may_wait() const { return sys::can_share_blocks(scratch_.fd()); }
    /// Until there are so many compressed files and no raw one.
    bool are_compressed(std::size_t many) const {
        for (int tries = 0; tries < 3000; ++tries) {
            std::size_t raw_ones = 0;
            std::size_t packed = 0;
            for (const auto& entry : std::filesystem::directory_iterator(file(""))) {
                const std::string name = entry.path().filename();
                raw_ones += name.ends_with(".dat") ? 1U : 0U;
                packed += name.ends_with(".zst") ? 1U : 0U;
            }
            if (raw_ones == 0 && packed == many) return true;
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
        return false;
    }
    void change_all(char letter) {
        EXPECT_EQ(actor().write("one", 1000, words(600'000, letter)), 0);
        EXPECT_EQ(actor().truncate("two", 5), 0);
        EXPECT_EQ(actor().write("d/three", 0, words(850'000, letter)), 0);
    }
    journal::NodeNumber checkpoint() {
        const auto node =
            operations().checkpoint(World::asker(), journal::NodeKind::kCheckpoint, "", "");
        EXPECT_TRUE(node.ok());
        return node ? node->number : 0;
    }
};

TEST_F(CompressorTest, WhatIsSealedIsCompressedAndComesBack) {
    if (may_wait()) GTEST_SKIP() << "it is compressed some time later";
    begin_compressing();
    const Snapshot first = world_->look();
    change_all('x');
    const Snapshot second = world_->look();
    const auto one = checkpoint();
    EXPECT_TRUE(are_compressed(1));
    ASSERT_ASSIGN(const auto checked, operations().check(false));
    EXPECT_EQ(checked.problems, std::vector<std::string>());
    EXPECT_LT(checked.bytes, 900'000U) << "of 1.7 million";
    EXPECT_GT(checked.bytes, 100'000U);

    EXPECT_EQ(actor().write("one", 0, words(500'000, 'y')), 0);
    checkpoint();
    EXPECT_TRUE(are_compressed(2));
    const Snapshot third = world_->look();
    ASSERT_TRUE(operations().undo(World::asker(), 1, overlay::Consent::kAll).ok());
    EXPECT_EQ(difference(second, world_->look()), "");
    EXPECT_TRUE(are_compressed(2)) << "the way forward";
    ASSERT_TRUE(operations().redo(World::asker(), 1, overlay::Consent::kAll).ok());
    EXPECT_EQ(difference(third, world_->look()), "");
    ASSERT_TRUE(operations().discard(World::asker(), false, overlay::Consent::kAll).ok());
    EXPECT_EQ(difference(first, world_->look()), "");
    EXPECT_TRUE(are_compressed(2));
    ASSERT_TRUE(
        operations()
            .rollback(World::asker(), "n" + std::to_string(one), false, overlay::Consent::kAll)
            .ok());
    EXPECT_EQ(difference(second, world_->look()), "");
}

TEST_F(CompressorTest, AnEarlierLifeIsCompressedToo) {
    if (may_wait()) GTEST_SKIP() << "it is compressed some time later";
    begin();
    const Snapshot first = world_->look();
    change_all('x');
    checkpoint();
    world_.reset();
    EXPECT_TRUE(std::filesystem::exists(file("1.dat")));
    begin_compressing();
    EXPECT_TRUE(are_compressed(1));
    ASSERT_TRUE(operations().discard(World::asker(), false, overlay::Consent::kAll).ok());
    EXPECT_EQ(difference(first, world_->look()), "");
}

// So that tests meet it everywhere; pack_delta_data() itself leaves that little alone.
TEST_F(CompressorTest, AtOnceIsAlsoWhatIsNotWorthIt) {
    if (may_wait()) GTEST_SKIP() << "it is compressed some time later";
    begin_compressing();
    const Snapshot first = world_->look();
    EXPECT_EQ(actor().write("two", 0, "x"), 0);
    checkpoint();
    EXPECT_TRUE(are_compressed(1));
    ASSERT_TRUE(operations().undo(World::asker(), 1, overlay::Consent::kAll).ok());
    EXPECT_EQ(difference(first, world_->look()), "");
}

TEST_F(CompressorTest, TheOpenIntervalIsLeftAlone) {
    if (may_wait()) GTEST_SKIP() << "it is compressed some time later";
    begin_compressing();
    change_all('x');
    checkpoint();
    EXPECT_TRUE(are_compressed(1));
    const Snapshot middle = world_->look();
    EXPECT_EQ(actor().write("one", 0, words(500'000, 'y')), 0);
    EXPECT_FALSE(std::filesystem::exists(file("2.dat.zst")));
    world_.reset();
    EXPECT_TRUE(std::filesystem::exists(file("2.dat"))) << "it is sealed by the next one";
    begin_compressing();
    EXPECT_TRUE(are_compressed(2));
    ASSERT_TRUE(operations().undo(World::asker(), 1, overlay::Consent::kAll).ok());
    EXPECT_EQ(difference(middle, world_->look()), "");
}

TEST_F(CompressorTest, PartsAreKeptAndTakenBack) {
    if (may_wait()) GTEST_SKIP() << "it is compressed some time later";
    begin_compressing();
    const Snapshot first = world_->look();
    change_all('x');
    checkpoint();
    EXPECT_TRUE(are_compressed(1));
    const Snapshot second = world_->look();
    ASSERT_ASSIGN(const auto shown, operations().diff("n1", "", {}, true));
    EXPECT_EQ(shown.size(), 3U);
    ASSERT_TRUE(operations().restore_paths(World::asker(), {"two"}, "n1", false).ok());
    EXPECT_EQ(difference(first, world_->look(), Times::kIgnore) == "", false);
    EXPECT_EQ(std::filesystem::file_size(raw() / "two"), 300'000U);
    ASSERT_TRUE(
        operations().decide(World::asker(), {.keep = {"one"}, .take_back = {"d"}}, false).ok());
    EXPECT_EQ(world_->look().at("one"), second.at("one"));
    EXPECT_EQ(world_->look().at("d/three"), first.at("d/three"));
    ASSERT_ASSIGN(const auto checked, operations().check(false));
    EXPECT_EQ(checked.problems, std::vector<std::string>());
    world_.reset();
    begin();  // one at a time packs
    pack_all(raw().string());
    ASSERT_TRUE(operations().redo(World::asker(), 1, overlay::Consent::kAll).ok());
    EXPECT_EQ(world_->look().at("d/three"), second.at("d/three"));
    ASSERT_TRUE(operations().discard(World::asker(), false, overlay::Consent::kAll).ok());
    EXPECT_EQ(world_->look().at("one"), second.at("one"));
    EXPECT_EQ(world_->look().at("d/three"), first.at("d/three"));
    EXPECT_EQ(world_->look().at("two"), first.at("two"));
}

// A status line keeps what it read open: the space must come back all the same.
TEST_F(CompressorTest, TheNumberForThePromptStaysRight) {
    begin();
    change_all('x');
    EXPECT_EQ(world_->compare_counts(), "");
    checkpoint();
    EXPECT_EQ(world_->compare_counts(), "");
    pack_all(raw().string());
    EXPECT_EQ(actor().write("one", 5, "again"), 0);
    EXPECT_EQ(world_->compare_counts(), "");
    std::string still_open;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
        std::error_code error;
        const std::string target = std::filesystem::read_symlink(entry.path(), error);
        if (target.find("1.dat (deleted)") != std::string::npos) still_open = target;
    }
    EXPECT_EQ(still_open, "");
}

TEST_F(CompressorTest, ADamagedBlockIsNamedAndNothingElseIsLost) {
    begin();
    const Snapshot first = world_->look();
    EXPECT_EQ(actor().write("one", 0, words(700'000, 'x')), 0);
    checkpoint();
    EXPECT_EQ(actor().write("two", 0, words(300'000, 'x')), 0);
    checkpoint();
    const Snapshot last = world_->look();
    pack_all(raw().string());
    {
        std::fstream out(file("1.dat.zst"), std::ios::in | std::ios::out | std::ios::binary);
        out.seekp(5000);
        out << "no zstd";
    }
    ASSERT_ASSIGN(const auto checked, operations().check(false));
    ASSERT_EQ(checked.problems.size(), 1U);
    EXPECT_EQ(checked.problems[0],
              "read deltas/1.dat.zst: the block for bytes 0 to 131072 is damaged");
    const auto moved = operations().discard(World::asker(), false, overlay::Consent::kAll);
    ASSERT_FALSE(moved.ok());
    EXPECT_NE(moved.error().message().find("deltas/1.dat.zst"), std::string::npos)
        << moved.error().message();
    EXPECT_EQ(difference(last, world_->look()), "") << "it went back to where it was";
    ASSERT_TRUE(operations().undo(World::asker(), 1, overlay::Consent::kAll).ok());
    EXPECT_EQ(world_->look().at("two"), first.at("two"));
    ASSERT_TRUE(operations().redo(World::asker(), 1, overlay::Consent::kAll).ok());
    EXPECT_EQ(difference(last, world_->look()), "");
}

}  // namespace
}  // namespace unwrite::tests
