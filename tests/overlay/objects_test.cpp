// The table of objects: one object of the tree has one id at a time.
#include "overlay/objects.h"

#include <gtest/gtest.h>

#include "tests/support/scratch.h"

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

}  // namespace
}  // namespace unwrite::tests
