// Objects that somebody holds while their names come and go.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "tests/support/scratch.h"
#include "tests/support/world.h"

namespace unwrite::tests {
namespace {

class Held : public testing::Test {
 protected:
    std::size_t attic_entries() const {
        const std::filesystem::directory_iterator attic(path(".unwrite/attic"));
        return static_cast<std::size_t>(std::distance(begin(attic), end(attic)));
    }
    std::filesystem::path path(const std::string& name) const { return scratch_.path() / name; }
    void step() {
        ASSERT_OK(world_.operations().checkpoint(World::asker(), journal::NodeKind::kStep, "", ""));
    }
    void discard() {
        ASSERT_OK(world_.operations().discard(World::asker(), false, overlay::Consent::kAll));
    }

    const Scratch scratch_;
    World world_{scratch_.path()};
    TreeActor& actor() { return world_.actor(); }
    const Snapshot empty_ = world_.look();
};

TEST_F(Held, ACreatedFileWithoutANameNeedsNoPlaceInTheAtticS49) {
    ASSERT_EQ(actor().create("new", 0600), 0);
    ASSERT_EQ(actor().hold(0, "new"), 0);
    ASSERT_EQ(actor().unlink("new"), 0);
    EXPECT_EQ(attic_entries(), 0U);
    EXPECT_EQ(actor().write_held(0, 0, "nobody's"), 0);
    step();
    EXPECT_EQ(actor().write_held(0, 4, "still nobody's"), 0);
    EXPECT_EQ(actor().truncate_held(0, 1), 0);
    EXPECT_EQ(actor().chmod_held(0, 0400), 0);
    EXPECT_EQ(attic_entries(), 0U);
    actor().drop(0);
    ASSERT_EQ(actor().create("new", 0600), 0);
    discard();
    EXPECT_EQ(difference(empty_, world_.look()), "");
}

TEST_F(Held, AReplacedCreatedFileNeedsNoPlaceInTheAtticS49) {
    ASSERT_EQ(actor().create("file", 0600), 0);
    ASSERT_EQ(actor().create("better", 0600), 0);
    ASSERT_EQ(actor().hold(0, "file"), 0);
    ASSERT_EQ(actor().rename("better", "file", 0), 0);
    EXPECT_EQ(attic_entries(), 0U);
    EXPECT_EQ(actor().write_held(0, 0, "the old one"), 0);
    EXPECT_EQ(std::filesystem::file_size(path("file")), 0U);
    discard();
    EXPECT_EQ(difference(empty_, world_.look()), "");
}

TEST_F(Held, AnotherNameKeepsACreatedFileCapturedS49) {
    ASSERT_EQ(actor().create("one", 0600), 0);
    ASSERT_EQ(actor().link("one", "two"), 0);
    ASSERT_EQ(actor().hold(0, "one"), 0);
    ASSERT_EQ(actor().unlink("one"), 0);
    ASSERT_EQ(actor().write_held(0, 0, "before"), 0);
    step();
    const Snapshot then = world_.look();
    ASSERT_EQ(actor().write_held(0, 0, "after "), 0);
    ASSERT_NE(difference(then, world_.look()), "");
    ASSERT_OK(world_.operations().undo(World::asker(), 1, overlay::Consent::kAll));
    EXPECT_EQ(difference(then, world_.look()), "");
}

TEST_F(Held, NothingIsMadeInACreatedDirectoryThatIsGoneS49) {
    ASSERT_EQ(actor().mkdir("d", 0700), 0);
    ASSERT_EQ(actor().hold(0, "d"), 0);
    ASSERT_EQ(actor().rmdir("d"), 0);
    EXPECT_EQ(attic_entries(), 0U);
    EXPECT_EQ(actor().create_below_held(0, "x"), ENOENT);
    step();
    EXPECT_EQ(actor().create_below_held(0, "x"), ENOENT);
    EXPECT_EQ(actor().chmod_held(0, 0500), 0);
    ASSERT_EQ(actor().mkdir("d", 0700), 0);
    ASSERT_EQ(actor().mkdir("e", 0700), 0);
    ASSERT_EQ(actor().hold(1, "d"), 0);
    ASSERT_EQ(actor().rename("e", "d", 0), 0);
    EXPECT_EQ(actor().create_below_held(1, "x"), ENOENT);
    discard();
    EXPECT_EQ(difference(empty_, world_.look()), "");
}

TEST_F(Held, ASocketInItsPlaceDoesNotHideAFileS49) {
    ASSERT_EQ(actor().create("file", 0600), 0);
    step();
    ASSERT_EQ(actor().hold(0, "file"), 0);
    ASSERT_EQ(actor().chmod_held(0, 0644), 0);  // captured, so the attic knows it
    world_.reopen();
    ASSERT_EQ(actor().hold(0, "file"), 0);
    // Behind the mount, before the file was opened for writing.
    std::filesystem::rename(path("file"), path("moved"));
    ASSERT_EQ(::mknod(path("file").c_str(), S_IFSOCK | 0600, 0), 0);
    EXPECT_EQ(actor().truncate_held(0, 3), 0);
    EXPECT_EQ(std::filesystem::file_size(path("moved")), 3U);
}

}  // namespace
}  // namespace unwrite::tests
