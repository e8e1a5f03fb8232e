// The last step of an edit: a file is exchanged, or removed, only if it is what was seen, and
// whoever has it open goes on with the new one.
#include <gtest/gtest.h>
#include <sys/xattr.h>

#include "tests/overlay/looking.h"

namespace unwrite::tests {
namespace {

class Exchange : public Looking {
 protected:
    void SetUp() override {
        before("f", "one\n");
        before("d/g", "two\n");
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
    std::string checkpoint() {
        const auto node =
            operations().checkpoint(World::asker(), overlay::NodeKind::kCheckpoint, "", "");
        EXPECT_TRUE(node.ok()) << node.error().message();
        return node ? "n" + std::to_string(node->number) : "";
    }
    void rollback(const std::string& node) {
        ASSERT_OK(operations().rollback(World::asker(), node, false, overlay::Consent::kAll));
    }
    void redo() { ASSERT_OK(operations().redo(World::asker(), 1, overlay::Consent::kAll)); }
};

TEST_F(Exchange, S66_PutsNewBytesInThePlaceOfWhatWasSeen) {
    const std::string start = checkpoint();
    EXPECT_EQ(actor().exchange("f", "one\n", "ONE\n"), 0);
    EXPECT_EQ(text("f"), "ONE\n");
    EXPECT_EQ(scratch_.read("work/f"), "ONE\n");
    EXPECT_EQ(actor().exchange("d/g", "two\n", ""), 0);
    EXPECT_EQ(text("d/g"), "");
    rollback(start);
    EXPECT_EQ(text("f"), "one\n");
    EXPECT_EQ(text("d/g"), "two\n");
    redo();
    EXPECT_EQ(text("f"), "ONE\n");
    EXPECT_EQ(text("d/g"), "");
}

TEST_F(Exchange, S66_ChangesNothingWhereSomethingElseStandsByNow) {
    ASSERT_EQ(actor().append("f", "line\n"), 0);
    EXPECT_EQ(actor().exchange("f", "one\n", "ONE\n"), ECANCELED);
    EXPECT_EQ(actor().exchange("f", "ONE\nline\n", "x"), ECANCELED);
    EXPECT_EQ(actor().remove_expected("f", "one\n"), ECANCELED);
    EXPECT_EQ(text("f"), "one\nline\n");
    EXPECT_EQ(actor().exchange("absent", "", "x"), ECANCELED);
    EXPECT_EQ(actor().exchange("d", "", "x"), ECANCELED);
    ASSERT_EQ(actor().symlink("link", "f"), 0);
    EXPECT_EQ(actor().exchange("link", "one\nline\n", "x"), ECANCELED);
    ASSERT_EQ(actor().unlink("f"), 0);
    EXPECT_EQ(actor().exchange("f", "one\nline\n", "x"), ECANCELED);
}

TEST_F(Exchange, S141_WhoeverHasItOpenGoesOnWithTheNewOne) {
    const std::string start = checkpoint();
    ASSERT_EQ(actor().hold(0, "f"), 0);
    const auto id = stat("f").st_ino;
    ASSERT_EQ(actor().exchange("f", "one\n", "ONE\n"), 0);
    EXPECT_NE(stat("f").st_ino, id);
    ASSERT_EQ(actor().write_held(0, 4, "line\n"), 0);
    EXPECT_EQ(text("f"), "ONE\nline\n");
    // Again, with a file of this interval, which nobody needs after it.
    ASSERT_EQ(actor().exchange("f", "ONE\nline\n", "1\n"), 0);
    ASSERT_EQ(actor().write_held(0, 2, "more\n"), 0);
    EXPECT_EQ(text("f"), "1\nmore\n");
    ASSERT_EQ(actor().chmod_held(0, 0600), 0);
    EXPECT_EQ(stat("f").st_mode & 07777U, 0600U);
    const std::string end = checkpoint();
    rollback(start);
    EXPECT_EQ(text("f"), "one\n");
    rollback(end);
    EXPECT_EQ(text("f"), "1\nmore\n");
    EXPECT_EQ(stat("f").st_mode & 07777U, 0600U);
    actor().drop(0);
    EXPECT_EQ(text("f"), "1\nmore\n");
}

TEST_F(Exchange, S141_KeepsOwnerModeAndAttributes) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root gives files away";
    ASSERT_EQ(actor().chown("f", 1, 2), 0);
    ASSERT_EQ(actor().chmod("f", 0640), 0);
    ASSERT_EQ(actor().set_xattr("f", "user.colour", "red", 0), 0);
    ASSERT_EQ(actor().exchange("f", "one\n", "ONE\n"), 0);
    const struct stat st = stat("f");
    EXPECT_EQ(st.st_uid, 1U);
    EXPECT_EQ(st.st_gid, 2U);
    EXPECT_EQ(st.st_mode & 07777U, 0640U);
    char value[8] = {};
    EXPECT_EQ(::getxattr((raw() / "f").c_str(), "user.colour", value, sizeof value), 3);
    ASSERT_EQ(actor().exchange("f", "ONE\n", "one\n", 0755), 0);
    EXPECT_EQ(stat("f").st_mode & 07777U, 0755U);
    // A program of the owner's that writes would clear them.
    ASSERT_EQ(actor().chmod("f", 06755), 0);
    actor().set_caller({1, 2, ::getpid(), 0022});
    ASSERT_EQ(actor().exchange("f", "one\n", "ONE\n"), 0);
    EXPECT_EQ(stat("f").st_mode & 07777U, 0755U);
    EXPECT_EQ(stat("f").st_uid, 1U);
}

TEST_F(Exchange, S66_RemovesWhatWasSeen) {
    const std::string start = checkpoint();
    EXPECT_EQ(actor().remove_expected("f", "one\n"), 0);
    EXPECT_EQ(actor().stat("f").error().number(), ENOENT);
    rollback(start);
    EXPECT_EQ(text("f"), "one\n");
}

TEST_F(Exchange, S141_InAStickyDirectoryOthersFilesStay) {
    if (::geteuid() != 0) GTEST_SKIP() << "needs files of others";
    ASSERT_EQ(actor().chmod("d", 01777), 0);
    actor().set_caller({7, 7, ::getpid(), 0022});
    EXPECT_EQ(actor().exchange("d/g", "two\n", "mine\n"), EPERM);
    EXPECT_EQ(text("d/g"), "two\n");
}

TEST_F(Exchange, S66_AFileFromBeforeACheckpointServesAsWell) {
    overlay::Tree& tree = world_->tree();
    const overlay::Caller caller{0, 0, ::getpid(), 0022};
    const auto made = tree.tmpfile(caller, overlay::kRootId, 0644);
    ASSERT_TRUE(made.ok());
    const std::string line = "ONE\n";
    ASSERT_OK(tree.write(caller, made->id, std::as_bytes(std::span(line)), 0, false));
    const std::string start = checkpoint();
    const auto done = tree.exchange(caller, made->id, "f", {4, digest_of("one\n"), false}, {});
    ASSERT_TRUE(done.ok()) << done.error().message();
    tree.forget(made->id, 1);
    const std::string end = checkpoint();
    EXPECT_EQ(text("f"), "ONE\n");
    rollback(start);
    EXPECT_EQ(text("f"), "one\n");
    rollback(end);
    EXPECT_EQ(text("f"), "ONE\n");
    EXPECT_EQ(tree.made_in(made->id).error().number(), ESTALE);
}

TEST_F(Exchange, S45_RulesHoldForIt) {
    before(".env", "SECRET=1\n");
    world_.reset();
    overlay::SessionOptions options;
    options.policy =
        *overlay::Policy::compile(overlay::default_rules(overlay::Subjects::kEveryone));
    world_.emplace(raw().string(), options);
    EXPECT_EQ(actor().exchange(".env", "SECRET=1\n", "x"), EACCES);
    EXPECT_EQ(actor().remove_expected(".env", "SECRET=1\n"), EACCES);
    EXPECT_EQ(scratch_.read("work/.env"), "SECRET=1\n");
    EXPECT_EQ(actor().exchange("f", "one\n", "ONE\n"), 0);
}

}  // namespace
}  // namespace unwrite::tests
