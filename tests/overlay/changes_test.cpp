// What counts as which change (S51), seen through status.
#include <gmock/gmock.h>

#include "tests/overlay/looking.h"

namespace unwrite::tests {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using Changes = Looking;

TEST_F(Changes, NothingChanged) {
    before("a", "one\n");
    begin();
    EXPECT_THAT(changes(), IsEmpty());
    EXPECT_FALSE(status().task_open);
}

TEST_F(Changes, CreatedDeletedModifiedS51) {
    before("gone", "1\n");
    before("kept", "1\n");
    before("other", "1\n");
    begin();
    make("new", "x\ny\n");
    replace("kept", "2\n3\n");
    ASSERT_EQ(actor().unlink("gone"), 0);
    EXPECT_THAT(changes(), ElementsAre("deleted gone", "modified kept", "created new"));
    const auto seen = status();
    EXPECT_TRUE(seen.task_open);
    EXPECT_EQ(seen.lines.added, 4U);
    EXPECT_EQ(seen.lines.removed, 2U);
}

TEST_F(Changes, WhatEndsAsItBeganIsNoneS51) {
    before("a", "one\n");
    before("b", "two\n");
    begin();
    make("passing", "x");
    ASSERT_EQ(actor().unlink("passing"), 0);
    replace("a", "other\n");
    replace("a", "one\n");
    ASSERT_EQ(actor().chmod("b", 0600), 0);
    ASSERT_EQ(actor().chmod("b", 0644), 0);
    EXPECT_THAT(changes(), IsEmpty());
    checkpoint();
    ASSERT_EQ(actor().rename("a", "c", 0), 0);
    ASSERT_EQ(actor().rename("c", "a", 0), 0);
    EXPECT_THAT(changes(), IsEmpty());
}

TEST_F(Changes, AnAtomicSaveIsAModificationS51) {
    before("a", "one\n");
    before("same", "one\n");
    begin();
    save("a", "two\n");
    save("same", "one\n");
    EXPECT_THAT(changes(), ElementsAre("modified a"));
}

TEST_F(Changes, ASaveOverAnOlderFile) {
    before("a", "one\n");
    before("b", "two\n");
    begin();
    ASSERT_EQ(actor().rename("b", "a", 0), 0);
    EXPECT_THAT(changes(), ElementsAre("modified a", "deleted b"));
}

TEST_F(Changes, RenamesS51) {
    before("a", "one\n");
    before("b", "two\n");
    before("c", "three\n");
    before("d/x", "four\n");
    begin();
    ASSERT_EQ(actor().rename("a", "z", 0), 0);
    ASSERT_EQ(actor().rename("b", "c", RENAME_EXCHANGE), 0);
    ASSERT_EQ(actor().rename("d/x", "d/y", 0), 0);
    ASSERT_EQ(actor().append("d/y", "more\n"), 0);
    EXPECT_THAT(changes(), ElementsAre("renamed c -> b", "renamed b -> c",
                                       "renamed d/x -> d/y +content", "renamed a -> z"));
}

TEST_F(Changes, ARenamedDirectoryIsOne) {
    before("d/one", "1\n");
    before("d/sub/two", "2\n");
    before("d/sub/three", "3\n");
    begin();
    ASSERT_EQ(actor().rename("d", "e", 0), 0);
    EXPECT_THAT(changes(), ElementsAre("renamed d -> e/"));
    ASSERT_EQ(actor().append("e/sub/two", "more\n"), 0);
    ASSERT_EQ(actor().unlink("e/one"), 0);
    make("e/sub/new", "n\n");
    EXPECT_THAT(changes(), ElementsAre("deleted d/one", "renamed d -> e/", "created e/sub/new",
                                       "modified e/sub/two"));
}

TEST_F(Changes, CreatedAndDeletedDirectoriesAreFolded) {
    before("old/one", "12345");
    before("old/sub/two", "123");
    before("old/keep", "k");
    begin();
    ASSERT_EQ(actor().mkdir("new", 0755), 0);
    ASSERT_EQ(actor().mkdir("new/sub", 0755), 0);
    make("new/sub/file", "1234");
    ASSERT_EQ(actor().rename("old/keep", "new/kept", 0), 0);
    ASSERT_EQ(actor().unlink("old/one"), 0);
    ASSERT_EQ(actor().unlink("old/sub/two"), 0);
    ASSERT_EQ(actor().rmdir("old/sub"), 0);
    ASSERT_EQ(actor().rmdir("old"), 0);
    const Lines expected{"created new/ (2 below, 4 bytes)", "renamed old/keep -> new/kept",
                         "deleted old/ (3 below, 8 bytes)"};
    EXPECT_EQ(changes(), expected);
    checkpoint();
    EXPECT_EQ(changes(), expected);
}

TEST_F(Changes, TypesAndDirectoriesMadeAnewS51) {
    before("a", "text\n");
    before("d/x", "text\n");
    before("e/x", "text\n");
    std::filesystem::permissions(raw() / "e", std::filesystem::perms{0755});
    begin();
    ASSERT_EQ(actor().unlink("a"), 0);
    ASSERT_EQ(actor().mkdir("a", 0755), 0);
    ASSERT_EQ(actor().unlink("d/x"), 0);
    ASSERT_EQ(actor().rmdir("d"), 0);
    ASSERT_EQ(actor().symlink("d", "e"), 0);
    ASSERT_EQ(actor().unlink("e/x"), 0);
    ASSERT_EQ(actor().rmdir("e"), 0);
    ASSERT_EQ(actor().mkdir("e", 0755), 0);
    EXPECT_THAT(changes(), ElementsAre("deleted a", "created a/", "deleted d/ (1 below, 5 bytes)",
                                       "created d", "deleted e/x"));
}

TEST_F(Changes, HardLinks) {
    before("a", "one\n");
    begin();
    ASSERT_EQ(actor().link("a", "b"), 0);
    EXPECT_THAT(changes(), ElementsAre("created b"));
    ASSERT_EQ(actor().append("b", "two\n"), 0);
    // The object has two names; it is shown at the one that both states know.
    const auto seen = status();
    ASSERT_EQ(seen.changes.size(), 2U);
    checkpoint();
    ASSERT_EQ(actor().unlink("a"), 0);
    EXPECT_THAT(changes("n2"), ElementsAre("deleted a"));
    EXPECT_THAT(changes(), ElementsAre("renamed a -> b +content"));
}

TEST_F(Changes, AttributesAndTimesS51) {
    before("a", "one\n");
    before("b", "one\n");
    before("d/x", "one\n");
    begin();
    ASSERT_EQ(actor().chmod("a", 0755), 0);
    ASSERT_EQ(actor().utimens("b", 1'000'000'000), 0);
    ASSERT_EQ(actor().utimens("d", 1'000'000'000), 0);
    ASSERT_EQ(actor().chmod("d/x", 0600), 0);
    ASSERT_EQ(actor().append("d/x", "more"), 0);
    EXPECT_THAT(changes(), ElementsAre("attributes a", "attributes b", "modified d/x +attributes"));
    ASSERT_EQ(actor().chmod("d", 0700), 0);
    EXPECT_THAT(changes(), ElementsAre("attributes a", "attributes b", "attributes d/",
                                       "modified d/x +attributes"));
}

TEST_F(Changes, WhichAttributesS61) {
    for (const char* name : {"acl", "mode", "owner", "time", "written", "xattr"})
        before(name, "one\n");
    begin();
    const std::string acl(
        "\2\0\0\0\1\0\6\0\377\377\377\377\2\0\4\0\1\0\0\0\4\0\4\0\377\377\377\377"
        "\20\0\4\0\377\377\377\377\40\0\4\0\377\377\377\377",
        44);
    ASSERT_EQ(actor().set_xattr("acl", "system.posix_acl_access", acl, 0), 0);
    ASSERT_EQ(actor().chmod("mode", 0600), 0);
    ASSERT_EQ(actor().utimens("time", 1'000'000'000), 0);
    ASSERT_EQ(actor().append("written", "more"), 0);
    ASSERT_EQ(actor().utimens("written", 1'000'000'000), 0);
    ASSERT_EQ(actor().set_xattr("xattr", "user.x", "1", 0), 0);
    ASSERT_EQ(actor().set_xattr("written", "user.x", "1", 0), 0);
    std::map<std::string, std::uint32_t> aspects;
    for (const auto& change : status().changes)
        aspects[change.path] = change.aspects;
    EXPECT_EQ(aspects, (std::map<std::string, std::uint32_t>{{"acl", overlay::kAspectAcl},
                                                             {"mode", overlay::kAspectMode},
                                                             {"time", overlay::kAspectTime},
                                                             {"written", overlay::kAspectXattrs},
                                                             {"xattr", overlay::kAspectXattrs}}));
}

TEST_F(Changes, TheStateDirectoryIsNoneOfThem) {
    before("d/x", "one\n");
    begin();
    make("new", "1");
    for (const auto& change : status().changes)
        EXPECT_NE(change.path, ".unwrite");
    const auto diffs = operations().diff("", "", {}, true);
    ASSERT_OK(diffs);
    EXPECT_EQ(diffs->size(), 1U);
}

TEST_F(Changes, BetweenNodesAndAbandonedOnes) {
    before("a", "one\n");
    before("d/x", "x\n");
    begin();
    replace("a", "two\n");
    const auto second = checkpoint("second");
    make("d/new", "new\n");
    ASSERT_EQ(actor().rename("d", "e", 0), 0);
    const auto third = checkpoint();
    ASSERT_OK(operations().rollback(World::asker(), "second", false, overlay::Consent::kAll));
    EXPECT_THAT(changes(second), IsEmpty());
    EXPECT_THAT(changes(third), ElementsAre("renamed e -> d/", "deleted e/new"));
    replace("a", "three\n");
    const auto diffs = operations().diff(third, "", {}, false);
    ASSERT_OK(diffs);
    EXPECT_NE(patch("root", third).find("rename to e/x"), std::string::npos);
    const auto log = operations().log("", true, true);
    ASSERT_OK(log);
    EXPECT_THAT(lines_of(log->open_changes), ElementsAre("modified a"));
    for (const auto& entry : log->entries) {
        const std::string name = "n" + std::to_string(entry.node.number);
        if (name == third) {
            EXPECT_FALSE(entry.on_trunk);
            EXPECT_THAT(lines_of(entry.changes), ElementsAre("renamed d -> e/", "created e/new"));
        }
        if (name == second) {
            EXPECT_THAT(lines_of(entry.changes), ElementsAre("modified a"));
        }
    }
    const auto of_new = operations().log("e/new", true, false);
    ASSERT_OK(of_new);
    ASSERT_EQ(of_new->entries.size(), 1U);
    EXPECT_EQ("n" + std::to_string(of_new->entries[0].node.number), third);
    EXPECT_THAT(operations().log("e/new", false, false)->entries, IsEmpty());
}

TEST_F(Changes, WhatARestoreWouldDo) {
    before("a", "one\n");
    before("b", "one\n");
    begin();
    make("new", "n\n");
    save("a", "two\n");
    ASSERT_EQ(actor().rename("b", "c", 0), 0);
    const auto moved = operations().discard(World::asker(), false, overlay::Consent::kNone);
    ASSERT_OK(moved);
    EXPECT_THAT(lines_of(moved->changes),
                ElementsAre("modified a", "renamed c -> b", "deleted new"));
    EXPECT_THAT(changes(), ElementsAre("modified a", "renamed b -> c", "created new"));
}

TEST_F(Changes, ALargeSparseFileCostsOnlyWhatWasWritten) {
    before("big", "");
    std::filesystem::resize_file(raw() / "big", std::uintmax_t{1} << 40);
    begin();
    ASSERT_EQ(actor().write("big", std::uint64_t{1} << 39, "here"), 0);
    EXPECT_THAT(changes(), ElementsAre("modified big"));
    ASSERT_EQ(actor().write("big", std::uint64_t{1} << 39, std::string_view("\0\0\0\0", 4)), 0);
    EXPECT_THAT(changes(), IsEmpty());
}

TEST_F(Changes, OriginsAreNamed) {
    before("a", "one\n");
    begin();
    replace("a", "two\n");
    ASSERT_EQ(actor().mkdir("d", 0755), 0);
    make("d/x", "1");
    for (const auto& change : status().changes)
        EXPECT_EQ(change.origins.size(), 1U) << change.path;
}

}  // namespace
}  // namespace unwrite::tests
