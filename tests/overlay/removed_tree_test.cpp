// A tree of many files that was removed: going back looks at what it needs as a whole, and is as
// careful as with few.
#include <gtest/gtest.h>

#include <fstream>

#include "tests/overlay/looking.h"

namespace unwrite::tests {
namespace {

constexpr int kFiles = 50;  // in each directory: more than are looked at one by one

class RemovedTree : public Looking {
 protected:
    void SetUp() override {
        for (const char* directory : {"tree/one/", "tree/two/"}) {
            for (int i = 0; i < kFiles; ++i)
                before(directory + std::to_string(i), directory + std::to_string(i));
        }
        begin();
        before_ = world_->look();
    }
    void remove_files(const std::string& directory) {
        for (int i = 0; i < kFiles; ++i)
            ASSERT_EQ(actor().unlink(directory + "/" + std::to_string(i)), 0);
    }
    void remove_tree() {
        for (const char* directory : {"tree/one", "tree/two"}) {
            remove_files(directory);
            ASSERT_EQ(actor().rmdir(directory), 0);
        }
        ASSERT_EQ(actor().rmdir("tree"), 0);
    }
    std::filesystem::path attic() const { return raw() / ".unwrite/attic"; }
    /// A file of the attic.
    std::filesystem::path displaced() const {
        std::filesystem::path found;
        for (const auto& entry : std::filesystem::directory_iterator(attic())) {
            if (entry.is_regular_file()) found = entry.path();
        }
        return found;
    }
    Result<overlay::Moved> discard() {
        return operations().discard(World::asker(), false, overlay::Consent::kAll);
    }
    Result<overlay::Moved> redo() {
        return operations().redo(World::asker(), 1, overlay::Consent::kAll);
    }
    void expect_refused() {
        const Snapshot removed = world_->look();
        EXPECT_KIND(ErrorKind::kCorrupt, discard());
        EXPECT_EQ(difference(removed, world_->look()), "");
    }

    Snapshot before_;
};

TEST_F(RemovedTree, ComesBackAndGoesAgain) {
    remove_tree();
    const Snapshot removed = world_->look();
    ASSERT_OK(discard());
    EXPECT_EQ(difference(before_, world_->look()), "");
    ASSERT_OK(redo());
    EXPECT_EQ(difference(removed, world_->look()), "");
    world_->reopen();
    ASSERT_OK(discard());
    EXPECT_EQ(difference(before_, world_->look()), "");
}

TEST_F(RemovedTree, WithoutOneOfItsFilesNothingIsMoved) {
    remove_tree();
    std::filesystem::remove(displaced());
    expect_refused();
}

TEST_F(RemovedTree, WithAnotherFileInThePlaceOfOneNothingIsMoved) {
    remove_tree();
    const auto file = displaced();
    std::ofstream(attic() / "new") << "not what was displaced";
    std::filesystem::rename(attic() / "new", file);
    expect_refused();
}

TEST_F(RemovedTree, WhatWasPutThereBehindTheMountIsKept) {
    remove_files("tree/one");
    std::ofstream(raw() / "tree/one/7") << "put there behind the mount";
    const Snapshot removed = world_->look();
    ASSERT_OK(discard());
    EXPECT_EQ(difference(before_, world_->look()), "");
    ASSERT_OK(redo());
    EXPECT_EQ(difference(removed, world_->look()), "");
}

TEST_F(RemovedTree, KilledInTheMiddleItComesBack) {
    for (const char* point :
         {"restore.invert.name:70", "restore.fill.before:1", "restore.fill.after:1",
          "restore.fill.after:60", "restore.fill.after:103", "cross.arrive.before:1"}) {
        remove_tree();
        ASSERT_TRUE(is_killed_at(point, [this] { return discard(); })) << point;
        begin();
        EXPECT_EQ(difference(before_, world_->look()), "") << point;
    }
}

}  // namespace
}  // namespace unwrite::tests
