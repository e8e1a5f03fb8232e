// The number for a shell's prompt is that of the status, whatever was changed since it was asked
// for the last time (S64). tests/model compares the two after every operation.
#include <gtest/gtest.h>

#include "tests/overlay/looking.h"

namespace unwrite::tests {
namespace {

class Count : public Looking {
 protected:
    void expect(std::uint64_t files) {
        const auto counted = operations().count();
        ASSERT_TRUE(counted.ok()) << counted.error().message();
        EXPECT_EQ(counted->files, files);
        EXPECT_EQ(world_->compare_counts(), "");
    }
    std::uint64_t asked() {
        const auto counted = operations().count();
        EXPECT_TRUE(counted.ok()) << counted.error().message();
        return counted ? counted->files : 0;
    }
};

TEST_F(Count, S64_FollowsWhatIsWrittenAndTakenBack) {
    before("a", "one\n");
    before("b", "two\n");
    before("c", "three\n");
    begin();
    expect(0);
    replace("a", "other\n");
    expect(1);
    ASSERT_EQ(actor().chmod("b", 0600), 0);
    expect(2);
    replace("a", "one\n");
    expect(1);
    checkpoint();
    expect(1);
    replace("c", "other\n");
    expect(2);
    replace("c", "three\n");
    expect(1);
    ASSERT_EQ(actor().set_xattr("a", "user.a", "1", 0), 0);
    expect(2);
    ASSERT_OK(operations().undo(World::asker(), 1, overlay::Consent::kAll));
    expect(1);
    ASSERT_OK(operations().commit(World::asker(), "", false));
    expect(0);
    replace("b", "more\n");
    expect(1);
}

TEST_F(Count, S64_IsRightAfterAStatusOfManyThatCountedNothing) {
    constexpr int kMany = 1100;
    begin();
    expect(0);
    for (int i = 0; i < kMany; ++i)
        make("f" + std::to_string(i), "x");
    const auto status = operations().status("", false);
    ASSERT_TRUE(status.ok());
    EXPECT_EQ(status->changes.size(), static_cast<std::size_t>(kMany));
    expect(kMany);
    replace("f0", "y");
    ASSERT_EQ(actor().unlink("f1"), 0);
    expect(kMany - 1);
}

TEST_F(Count, S64_SavesRenamesLinksAndFilesOfAMoment) {
    before("a", "one\n");
    before("b", "two\n");
    begin();
    expect(0);
    save("a", "other\n");
    expect(1);
    save("a", "one\n");
    expect(0);
    // The file that was saved last is not in the journal by itself.
    replace("a", "three\n");
    expect(1);
    make("passing", "x");
    ASSERT_EQ(actor().unlink("passing"), 0);
    expect(1);
    ASSERT_EQ(actor().rename("b", "c", 0), 0);
    expect(2);
    ASSERT_EQ(actor().link("c", "d"), 0);
    expect(3);
    ASSERT_EQ(actor().unlink("c"), 0);
    expect(2);
    ASSERT_EQ(actor().rename("d", "b", 0), 0);
    expect(1);
    ASSERT_EQ(actor().rename("a", "b", RENAME_EXCHANGE), 0);
    expect(2);
}

TEST_F(Count, S64_ALinkIsARenameOnceAnotherNameIsGone) {
    before("a", "one\n");
    std::filesystem::create_hard_link(raw() / "a", raw() / "same");
    begin();
    expect(0);
    ASSERT_EQ(actor().unlink("a"), 0);
    expect(1);
    ASSERT_EQ(actor().link("same", "b"), 0);
    expect(1);
    ASSERT_EQ(actor().link("same", "a"), 0);
    expect(1);
}

// Which of its names a changed file is reported under depends on the one that was used last.
TEST_F(Count, S64_AFileWithTwoNamesIsCountedOnceWhicheverIsUsed) {
    before("top", "one\n");
    std::filesystem::create_directory(raw() / "d");
    std::filesystem::create_hard_link(raw() / "top", raw() / "d/low");
    begin();
    ASSERT_EQ(actor().write("d/low", 0, "two\n"), 0);
    ASSERT_EQ(actor().rename("d", "e", 0), 0);
    expect(1);
    ASSERT_EQ(actor().link("top", "e/low"), EEXIST);
    expect(1);
}

TEST_F(Count, S64_WhatACreatedDirectoryHolds) {
    before("old", "1\n");
    before("kept", "1\n");
    begin();
    expect(0);
    ASSERT_EQ(actor().mkdir("new", 0755), 0);
    expect(1);
    make("new/a", "x");
    make("new/b", "x");
    expect(2);
    ASSERT_EQ(actor().rename("old", "new/old", 0), 0);
    expect(3);
    make("new/c", "x");
    expect(4);
    checkpoint();
    ASSERT_EQ(actor().mkdir("new/deep", 0755), 0);
    make("new/deep/d", "x");
    expect(5);
    ASSERT_EQ(actor().unlink("new/old"), 0);
    expect(5);
    make("new/old", "another\n");
    expect(6);
    ASSERT_EQ(actor().rename("new", "other", 0), 0);
    expect(6);
    ASSERT_EQ(actor().unlink("other/a"), 0);
    replace("kept", "2\n");
    expect(6);
}

TEST_F(Count, S64_WhatADeletedDirectoryHeld) {
    before("d/a", "1\n");
    before("d/b", "1\n");
    before("d/c", "1\n");
    begin();
    expect(0);
    ASSERT_EQ(actor().rename("d/a", "x", 0), 0);
    ASSERT_EQ(actor().rename("d/b", "y", 0), 0);
    ASSERT_EQ(actor().unlink("d/c"), 0);
    expect(3);
    ASSERT_EQ(actor().rmdir("d"), 0);
    expect(3);
    make("z", "1\n");
    expect(4);
    ASSERT_EQ(actor().unlink("x"), 0);
    expect(4);
    ASSERT_EQ(actor().mkdir("d", 0755), 0);
    expect(4);
    // Back at its path it is no rename any more.
    ASSERT_EQ(actor().rename("y", "d/b", 0), 0);
    expect(3);
}

// That is why it is quick: what nobody touched through the mount is not compared again.
TEST_F(Count, S64_WhatChangedBehindTheMountIsSeenOnceTheStatusSeesIt) {
    before("a", "one\n");
    before("b", "two\n");
    begin();
    replace("a", "ONE\n");
    EXPECT_EQ(asked(), 1U);
    scratch_.write("work/a", "one\n");
    EXPECT_EQ(asked(), 1U);
    replace("b", "TWO\n");
    EXPECT_EQ(asked(), 2U);
    EXPECT_EQ(changes(), Lines{"modified b"});
    EXPECT_EQ(asked(), 1U);
}

TEST_F(Count, S64_MoreThanIsRemembered) {
    begin();
    EXPECT_EQ(asked(), 0U);
    for (int i = 0; i < 1100; ++i)
        make("f" + std::to_string(i), "x");
    expect(1100);
    for (int i = 0; i < 1100; ++i)
        ASSERT_EQ(actor().unlink("f" + std::to_string(i)), 0);
    expect(0);
}

}  // namespace
}  // namespace unwrite::tests
