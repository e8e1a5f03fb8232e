// A directory's own modification time changes on some filesystems (xfs) when it is moved: here what
// they would do is done to it by hand, in the attic.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "tests/overlay/looking.h"

namespace unwrite::tests {
namespace {

class MovedTimes : public Looking {
 protected:
    void SetUp() override {
        before("old/file", "text");
        std::filesystem::create_directories(raw() / "empty");
        begin();
    }
    /// As if the moves into the attic had done it.
    void touch_displaced() const {
        unsigned directories = 0;
        for (const auto& entry : std::filesystem::directory_iterator(raw() / ".unwrite/attic")) {
            if (!entry.is_directory()) continue;
            std::filesystem::last_write_time(entry, std::filesystem::file_time_type::clock::now());
            ++directories;
        }
        EXPECT_EQ(directories, 1U);
    }
    void go(const std::string& node) {
        ASSERT_OK(operations().rollback(World::asker(), node, false, overlay::Consent::kAll));
    }
    Snapshot look() const { return world_->look(); }
};

TEST_F(MovedTimes, ARemovedDirectoryComesBackWithItsTimeS73) {
    const Snapshot then = look();
    ASSERT_EQ(actor().rmdir("empty"), 0);
    touch_displaced();
    go("root");
    EXPECT_EQ(difference(then, look()), "");
}

TEST_F(MovedTimes, ACreatedDirectoryComesBackWithItsTimeS73) {
    ASSERT_EQ(actor().mkdir("new", 0755), 0);
    make("new/file", "text");
    const std::string made = checkpoint("made");
    const Snapshot then = look();
    go("root");
    touch_displaced();
    go(made);
    EXPECT_EQ(difference(then, look()), "");
}

TEST_F(MovedTimes, AMovedDirectoryGoesBackWithItsTimeS73) {
    const Snapshot then = look();
    ASSERT_EQ(actor().rename("empty", "old/empty", 0), 0);
    const std::string moved = checkpoint("moved");
    std::filesystem::last_write_time(raw() / "old/empty",
                                     std::filesystem::file_time_type::clock::now());
    const Snapshot there = look();
    go("root");
    EXPECT_EQ(difference(then, look()), "");
    std::filesystem::last_write_time(raw() / "empty",
                                     std::filesystem::file_time_type::clock::now());
    go(moved);
    EXPECT_EQ(difference(there, look()), "");
}

}  // namespace
}  // namespace unwrite::tests
