// The table of objects: one object of the tree has one id at a time.
#include "overlay/objects.h"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <thread>
#include <unordered_set>
#include <vector>

#include "tests/support/scratch.h"
#include "tests/support/thorough.h"

namespace unwrite::tests {
namespace {

class ObjectsTest : public testing::Test {
 protected:
    static ObjectKey make_key(std::uint64_t ino) {
        ObjectKey key;
        key.ino = ino;
        return key;
    }
    overlay::ObjectPtr look_up(const ObjectKey& key, mode_t type = S_IFDIR) {
        return objects_->learn(key, type, objects_->root(), "name", 1);
    }
    void take_name(const overlay::ObjectPtr& object) {
        objects_->lost_name(*object, objects_->root()->key(), "name");
    }

    void SetUp() override {
        ASSERT_OK(sys::make_directory(scratch_.fd(), "attic", 0700));
        auto attic = journal::Attic::open(scratch_.open("attic", O_RDONLY | O_DIRECTORY));
        ASSERT_OK(attic);
        attic_ = *std::move(attic);
        objects_ =
            std::make_unique<overlay::Objects>(scratch_.open(".", O_PATH), make_key(1), *attic_);
    }

    const Scratch scratch_;
    std::unique_ptr<journal::Attic> attic_;
    std::unique_ptr<overlay::Objects> objects_;
};

TEST_F(ObjectsTest, ADirectoryThatCameBackKeepsItsIdWhenTheDeadOneIsForgotten) {
    const ObjectKey key = make_key(77);
    const auto dead = look_up(key);
    take_name(dead);
    const auto back = look_up(key);
    ASSERT_NE(back->id(), dead->id());
    EXPECT_EQ(look_up(key), back);
    EXPECT_EQ(objects_->forget(dead->id(), 1), dead);
    EXPECT_EQ(look_up(key), back);
    EXPECT_EQ(objects_->find(key), back);
    EXPECT_EQ(objects_->forget(back->id(), 3), back);
    EXPECT_EQ(objects_->find(key), nullptr);
    EXPECT_EQ(look_up(key)->id(), dead->id());  // nobody knows another
}

TEST_F(ObjectsTest, ADirectoryMayDieAndComeBackAgainAndAgain) {
    const ObjectKey key = make_key(77);
    std::vector<overlay::ObjectPtr> dead;
    for (int i = 0; i < 3; ++i) {
        dead.push_back(look_up(key));
        take_name(dead.back());
    }
    const auto back = look_up(key);
    for (const auto& object : dead) {
        EXPECT_NE(object->id(), back->id());
        EXPECT_EQ(objects_->forget(object->id(), 1), object);
        EXPECT_EQ(look_up(key), back);
        EXPECT_EQ(objects_->find(key), back);
    }
}

TEST_F(ObjectsTest, WhoeverHasTheNumberNowDoesNotTakeItFromWhoHadItBefore) {
    const ObjectKey old = make_key(77);
    ObjectKey young = old;
    young.birth += 1;
    const auto first = look_up(old, S_IFREG);
    const auto second = look_up(young, S_IFREG);
    ASSERT_NE(first->id(), second->id());
    EXPECT_EQ(objects_->forget(first->id(), 1), first);
    EXPECT_EQ(look_up(young, S_IFREG), second);
    EXPECT_EQ(objects_->find(young), second);
}

// Who looks up twice what was not removed in between has one object, whoever else looks up, removes
// and forgets it.
TEST_F(ObjectsTest, ADirectoryThatManyRemoveAndForgetIsOne) {
    constexpr int kThreads = 4;
    constexpr int kRounds = kSanitizer == Sanitizer::kNone ? 100'000 : 10'000;
    std::mutex mutex;
    std::unordered_set<overlay::ObjectPtr> taken;  // guarded by mutex
    const auto is_taken = [&](const overlay::ObjectPtr& object) {
        const std::lock_guard lock(mutex);
        return taken.contains(object);
    };
    std::atomic<int> twins = 0;
    const auto live = [&](int thread) {
        for (int i = 0; i < kRounds; ++i) {
            const ObjectKey key = make_key(77U + static_cast<unsigned>(i) % 2);
            const auto first = look_up(key);
            const auto second = look_up(key);
            if (first != second && !is_taken(first)) ++twins;
            if ((i + thread) % 3 == 0) {
                const std::lock_guard lock(mutex);
                taken.insert(second);
                take_name(second);
            }
            objects_->forget(first->id(), 1);
            objects_->forget(second->id(), 1);
        }
    };
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i)
        threads.emplace_back(live, i);
    for (std::thread& thread : threads)
        thread.join();
    EXPECT_EQ(twins, 0);
    EXPECT_EQ(objects_->ids(), std::vector<overlay::NodeId>{overlay::kRootId});
}

}  // namespace
}  // namespace unwrite::tests
