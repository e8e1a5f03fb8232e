// The last step of an edit, for a file that must stay the same object: one with several names, or
// with an owner that a new file would not get.
#include <gtest/gtest.h>
#include <sys/xattr.h>

#include "journal/in_place_note.h"
#include "tests/overlay/looking.h"

namespace unwrite::tests {
namespace {

const std::string kBefore = "one\ntwo\nthree\n";
const std::string kAfter = "ONE\ntwo\nthree\nfour\n";

class InPlace : public Looking {
 protected:
    void SetUp() override {
        before("f", kBefore);
        std::filesystem::create_hard_link(raw() / "f", raw() / "other");
        begin();
        as_user();
    }
    std::string text(const std::string& path) {
        const auto read = actor().read(path);
        return read ? *read : "?" + read.error().message();
    }
    struct stat stat(const std::string& path) {
        const auto st = actor().stat(path);
        EXPECT_TRUE(st.ok()) << path;
        const struct stat none = {};
        return st ? *st : none;
    }
    void rollback(const std::string& node) {
        ASSERT_OK(operations().rollback(World::asker(), node, false, overlay::Consent::kAll));
    }
    int edit(const std::string& path, const std::string& from, const std::string& to,
             std::optional<mode_t> mode = {}) {
        stat(path);  // who edits has looked
        return actor().exchange(path, from, to, mode);
    }
};

TEST_F(InPlace, S66_S141_EachNameHasTheNewText) {
    const std::string start = checkpoint();
    const auto id = stat("f").st_ino;
    ASSERT_EQ(edit("f", kBefore, kAfter), 0);
    EXPECT_EQ(text("f"), kAfter);
    EXPECT_EQ(text("other"), kAfter);
    EXPECT_EQ(stat("f").st_ino, id);
    EXPECT_EQ(stat("f").st_nlink, 2U);
    EXPECT_EQ(scratch_.read("work/other"), kAfter);
    ASSERT_EQ(edit("other", kAfter, ""), 0);
    EXPECT_EQ(text("f"), "");
    const std::string end = checkpoint();
    rollback(start);
    EXPECT_EQ(text("f"), kBefore);
    EXPECT_EQ(text("other"), kBefore);
    EXPECT_EQ(stat("f").st_nlink, 2U);
    rollback(end);
    EXPECT_EQ(text("other"), "");
    EXPECT_EQ(stat("f").st_ino, id);
}

TEST_F(InPlace, S66_NothingIsWrittenOverSomethingElse) {
    ASSERT_EQ(actor().append("other", "line\n"), 0);
    EXPECT_EQ(edit("f", kBefore, kAfter), ECANCELED);
    EXPECT_EQ(text("f"), kBefore + "line\n");
}

// Without a name in the attic the next life could not find it.
TEST_F(InPlace, S141_WhatWasMadeInThisIntervalIsLeftToTheEditor) {
    make("new", "one\n");
    ASSERT_EQ(actor().link("new", "second"), 0);
    EXPECT_EQ(edit("new", "one\n", "ONE\n"), EOPNOTSUPP);
    EXPECT_EQ(text("second"), "one\n");
    checkpoint();
    EXPECT_EQ(edit("new", "one\n", "ONE\n"), 0);
    EXPECT_EQ(text("second"), "ONE\n");
}

TEST_F(InPlace, S16_S141_OwnerAndModeStayForWhoeverMayWrite) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root gives files away";
    ASSERT_EQ(actor().unlink("other"), 0);
    ASSERT_EQ(actor().chmod("f", 0664), 0);
    ASSERT_EQ(actor().chown("f", 1, 7), 0);
    checkpoint();
    // Neither its owner nor of its group: a new file, which is the caller's.
    actor().set_caller({5, 5, ::getpid(), 0022});
    const auto id = stat("f").st_ino;
    ASSERT_EQ(edit("f", kBefore, "1\n"), 0);
    EXPECT_NE(stat("f").st_ino, id);
    EXPECT_EQ(stat("f").st_uid, 5U);
    actor().set_caller({0, 0, ::getpid(), 0022});
    ASSERT_EQ(actor().chown("f", 1, 7), 0);
    checkpoint();
    // Of its group, which may write to it.
    actor().set_caller({5, 7, ::getpid(), 0022});
    const auto now = stat("f").st_ino;
    ASSERT_EQ(edit("f", "1\n", "2\n"), 0);
    EXPECT_EQ(text("f"), "2\n");
    EXPECT_EQ(stat("f").st_ino, now);
    EXPECT_EQ(stat("f").st_uid, 1U);
    EXPECT_EQ(stat("f").st_gid, 7U);
    EXPECT_EQ(stat("f").st_mode & 07777U, 0664U);
    // Who may write may not change the mode: a new file.
    ASSERT_EQ(edit("f", "2\n", "3\n", 0755), 0);
    EXPECT_EQ(stat("f").st_mode & 07777U, 0755U);
    EXPECT_EQ(stat("f").st_uid, 5U);
}

TEST_F(InPlace, S45_WhoMayNotWriteToTheFileDoesNotWriteOverIt) {
    if (::geteuid() != 0) GTEST_SKIP() << "needs files of others";
    ASSERT_EQ(actor().chmod("f", 0644), 0);
    checkpoint();
    actor().set_caller({5, 5, ::getpid(), 0022});
    EXPECT_EQ(edit("f", kBefore, kAfter), EOPNOTSUPP);
    EXPECT_EQ(text("other"), kBefore);
    // An ACL is the kernel's to judge.
    actor().set_caller({0, 0, ::getpid(), 0022});
    ASSERT_EQ(actor().chmod("f", 0666), 0);
    ASSERT_EQ(run("setfacl -m u:5:r '" + (raw() / "f").string() + "'"), 0);
    actor().set_caller({5, 5, ::getpid(), 0022});
    EXPECT_EQ(edit("f", kBefore, kAfter), EOPNOTSUPP);
    EXPECT_EQ(text("other"), kBefore);
}

TEST_F(InPlace, S45_ARuleForAnotherNameHolds) {
    world_.reset();
    std::filesystem::create_hard_link(raw() / "f", raw() / ".env");
    overlay::SessionOptions options;
    options.policy =
        *overlay::Policy::compile(overlay::default_rules(overlay::Subjects::kEveryone));
    world_.emplace(raw().string(), options);
    as_user();
    EXPECT_EQ(edit("f", kBefore, kAfter), EACCES);
    EXPECT_EQ(scratch_.read("work/.env"), kBefore);
}

// A kill at each point leaves the old text or the new one in all of its names, for the next life
// and for what was before it.
TEST_F(InPlace, S15_S24_AKillAtAnyPointLeavesItWhole) {
    const std::string after = "1\n";
    const auto work = [&]() -> Result<> {
        as_user();
        checkpoint();
        const int done = edit("f", kBefore, after);
        return done == 0 ? Result<>{} : Result<>{Error(done)};
    };
    int killed = 0;
    bool was_half = false;
    for (int point = 1; point < 200; ++point) {
        world_.reset();
        std::filesystem::remove_all(raw());
        before("f", kBefore);
        std::filesystem::create_hard_link(raw() / "f", raw() / "other");
        const bool died = is_killed_at("*:" + std::to_string(point), work);
        const std::string left = scratch_.read("work/f");
        was_half |= left != kBefore && left != after;
        begin();
        as_user();
        const std::string now = text("f");
        EXPECT_TRUE(now == kBefore || now == after) << point << ": " << now;
        EXPECT_EQ(text("other"), now) << point;
        rollback("root");
        EXPECT_EQ(text("f"), kBefore) << point;
        EXPECT_EQ(text("other"), kBefore) << point;
        EXPECT_FALSE(std::filesystem::exists(raw() / ".unwrite/in-place")) << point;
        if (!died) break;
        ++killed;
    }
    EXPECT_GT(killed, 5);
    EXPECT_TRUE(was_half);
}

// What somebody wrote after the kill, behind the mount, is not written over.
TEST_F(InPlace, S15_WhatOthersWroteAfterAKillStays) {
    world_.reset();
    const bool died = is_killed_at("tree.in_place.written:1", [&]() -> Result<> {
        as_user();
        checkpoint();
        edit("f", kBefore, "1\n");
        return {};
    });
    ASSERT_TRUE(died);
    const std::string half = "1\n" + kBefore.substr(2);
    ASSERT_EQ(scratch_.read("work/f"), half);
    scratch_.write("work/f", half + "line\n");
    begin();
    as_user();
    EXPECT_EQ(text("other"), half + "line\n");
}

}  // namespace
}  // namespace unwrite::tests
