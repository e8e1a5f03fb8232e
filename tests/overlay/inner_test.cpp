// Another filesystem inside the workspace: it is changed as any other and not recorded, and what is
// changed beside it is taken back as ever.
#include <gmock/gmock.h>
#include <sys/mount.h>

#include <cerrno>
#include <fstream>

#include "tests/overlay/looking.h"

namespace unwrite::tests {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class Inner : public Looking {
 protected:
    void SetUp() override {
        before("d/f", "one\n");
        std::filesystem::create_directory(raw() / "d/inner");
        before("bound", "outer\n");
        if (::mount("none", (raw() / "d/inner").c_str(), "tmpfs", 0, "size=1m") != 0)
            GTEST_SKIP() << "needs the right to mount";
        before("d/inner/x", "inner\n");
        before("d/inner/sub/y", "inner\n");
        scratch_.write("elsewhere", "elsewhere\n");
        ASSERT_EQ(::mount((scratch_.path() / "elsewhere").c_str(), (raw() / "bound").c_str(),
                          nullptr, MS_BIND, nullptr),
                  0);
        overlay::SessionOptions options;
        auto policy = overlay::Policy::compile({});
        ASSERT_TRUE(policy.ok());
        options.policy = *policy;
        world_.emplace(raw().string(), options);
    }
    std::string text(const std::string& path) { return actor().read(path).value_or("none"); }
    void TearDown() override {
        Looking::TearDown();
        ::umount2((raw() / "bound").c_str(), MNT_DETACH);
        for (const char* const at : {"d/inner", "e/inner"})
            ::umount2((raw() / at).c_str(), MNT_DETACH);
    }
};

TEST_F(Inner, S48_TheUserChangesItAsAnyOther) {
    EXPECT_EQ(text("d/inner/sub/y"), "inner\n");
    EXPECT_EQ(text("bound"), "elsewhere\n");
    for (const char* const file : {"d/inner/x", "d/inner/sub/y", "bound"}) {
        EXPECT_EQ(actor().write(file, 0, "new"), 0) << file;
        EXPECT_EQ(actor().truncate(file, 3), 0) << file;
        EXPECT_EQ(actor().chmod(file, 0600), 0) << file;
        EXPECT_EQ(text(file), "new") << file;
    }
    make("d/inner/made", "made");
    ASSERT_EQ(actor().mkdir("d/inner/dir", 0755), 0);
    ASSERT_EQ(actor().hold(0, "d/inner/made"), 0);
    ASSERT_EQ(actor().rename("d/inner/made", "d/inner/dir/made", 0), 0);
    ASSERT_EQ(actor().link("d/inner/dir/made", "d/inner/link"), 0);
    ASSERT_EQ(actor().rename("d/inner/sub/y", "d/inner/x", 0), 0);
    ASSERT_EQ(actor().rename("d/inner/x", "d/inner/link", RENAME_EXCHANGE), 0);
    ASSERT_EQ(actor().unlink("d/inner/x"), 0);
    ASSERT_EQ(actor().unlink("d/inner/dir/made"), 0);
    EXPECT_EQ(actor().write_held(0, 0, "held"), 0);
    ASSERT_EQ(actor().rmdir("d/inner/dir"), 0);
    EXPECT_EQ(text("d/inner/link"), "new");
    EXPECT_THAT(changes(), IsEmpty());
    EXPECT_KIND(ErrorKind::kNothing, operations().undo(World::asker(), 1, overlay::Consent::kAll));
}

TEST_F(Inner, S48_NothingCrossesItsBorder) {
    EXPECT_EQ(actor().unlink("bound"), EBUSY);
    EXPECT_EQ(actor().rmdir("d/inner"), ENOTEMPTY);
    EXPECT_EQ(actor().rename("d/inner", "inner", 0), EBUSY);
    EXPECT_EQ(actor().rename("d/f", "d/inner/f", 0), EXDEV);
    EXPECT_EQ(actor().rename("d/inner/x", "d/x", 0), EXDEV);
    EXPECT_EQ(actor().rename("d/f", "bound", 0), EBUSY);
    EXPECT_EQ(actor().link("d/inner/x", "x"), EXDEV);
    EXPECT_EQ(actor().link("d/f", "d/inner/f"), EXDEV);
    EXPECT_THAT(changes(), IsEmpty());
}

// Nobody is there to be asked.
TEST_F(Inner, S44_AnAgentDoesNotChangeWhatCannotBeTakenBack) {
    begin_run();
    as_agent();
    EXPECT_EQ(text("d/inner/x"), "inner\n");
    EXPECT_EQ(actor().write("d/inner/x", 0, "new"), EROFS);
    EXPECT_EQ(actor().write("bound", 0, "new"), EROFS);
    EXPECT_EQ(actor().create("d/inner/new", 0644), EROFS);
    EXPECT_EQ(actor().mkdir("d/inner/sub/new", 0755), EROFS);
    EXPECT_EQ(actor().unlink("d/inner/x"), EROFS);
    EXPECT_EQ(actor().rename("d/inner/x", "d/inner/z", 0), EROFS);
    EXPECT_EQ(actor().chmod("d/inner/x", 0600), EROFS);
    as_user();
    EXPECT_EQ(actor().write("d/inner/x", 0, "new"), 0);
}

TEST_F(Inner, S48_WhatIsBesideItIsTakenBack) {
    const Snapshot was = world_->look();
    replace("d/f", "two\n");
    make("d/new", "new\n");
    EXPECT_THAT(changes(), ElementsAre("modified d/f", "created d/new"));
    checkpoint("one");
    ASSERT_EQ(actor().rename("d", "e", 0), 0);
    EXPECT_EQ(text("e/inner/x"), "inner\n");
    ASSERT_EQ(actor().unlink("e/f"), 0);
    EXPECT_THAT(changes("one"), ElementsAre("deleted d/f", "renamed d -> e/"));
    ASSERT_OK(operations().undo(World::asker(), 1, overlay::Consent::kAll));
    EXPECT_EQ(text("d/f"), "two\n");
    EXPECT_EQ(text("d/inner/x"), "inner\n");
    ASSERT_OK(operations().redo(World::asker(), 1, overlay::Consent::kAll));
    world_->reopen();
    ASSERT_OK(discard_all());
    EXPECT_EQ(difference(was, world_->look()), "");
    ASSERT_ASSIGN(const auto checked, operations().check(false));
    EXPECT_EQ(checked.problems, Lines());
}

}  // namespace
}  // namespace unwrite::tests
