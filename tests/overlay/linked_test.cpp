// A file with two names of which one, or both, became another file: each name is told, accepted and
// taken back by itself.
#include <fcntl.h>
#include <gmock/gmock.h>

#include "tests/overlay/looking.h"

namespace unwrite::tests {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Linked : public Looking {
 protected:
    /// "a" and "b" are one file.
    void begin_linked() {
        before("a", "one\n");
        std::filesystem::create_hard_link(raw() / "a", raw() / "b");
        begin();
        start_ = world_->look();
    }
    /// Then "a" is another file, and "b" is the old one, with the changed text.
    void change_and_part() {
        begin_linked();
        replace("a", "two\n");
        save("a", "two\n");
    }
    overlay::Decided keep(const std::string& path) {
        const auto decided = operations().decide(World::asker(), {.keep = {path}}, false);
        EXPECT_TRUE(decided.ok()) << decided.error().message();
        return decided ? *decided : overlay::Decided();
    }
    auto restore(const Lines& paths) {
        return operations().restore_paths(World::asker(), paths, "root", false);
    }
    std::string text(const std::string& path) { return scratch_.read("work/" + path); }
    void is_one_file_again() {
        EXPECT_TRUE(std::filesystem::equivalent(raw() / "a", raw() / "b"));
        EXPECT_EQ(text("a"), "one\n");
        EXPECT_THAT(changes(), IsEmpty());
        is_sound();
    }
    void is_sound() {
        const auto checked = operations().check(false);
        ASSERT_TRUE(checked.ok());
        EXPECT_THAT(checked->problems, IsEmpty());
    }

    Snapshot start_;
};

TEST_F(Linked, S61_BothNamesAreListedOnceTheyAreTwoFiles) {
    change_and_part();
    EXPECT_THAT(changes(), ElementsAre("modified a", "modified b"));
    world_->reopen();
    EXPECT_THAT(changes(), ElementsAre("modified a", "modified b"));
    EXPECT_THAT(patch(), HasSubstr("+++ b/b"));
    ASSERT_OK(discard_all());
    EXPECT_EQ(difference(start_, world_->look()), "");
    EXPECT_THAT(changes(), IsEmpty());
}

TEST_F(Linked, S61_TheStepsListThemAsWell) {
    begin_linked();
    replace("a", "two\n");
    const std::string first = checkpoint();
    save("a", "three\n");
    const std::string second = checkpoint();
    EXPECT_THAT(changes(), ElementsAre("modified a", "modified b"));
    EXPECT_THAT(changes(first), ElementsAre("modified a"));
    ASSERT_OK(operations().undo(World::asker(), 1, overlay::Consent::kAll));
    EXPECT_EQ(text("a"), "two\n");
    EXPECT_EQ(text("b"), "two\n");
}

TEST_F(Linked, S61_AnotherFileWithTwoNamesTakesTheNameOfOne) {
    before("a", "one\n");
    before("x", "old\n");
    std::filesystem::create_hard_link(raw() / "x", raw() / "y");
    begin();
    replace("x", "new\n");
    ASSERT_EQ(actor().unlink("a"), 0);
    ASSERT_EQ(actor().link("y", "a"), 0);
    EXPECT_THAT(changes(), ElementsAre("modified a", "modified x"));
}

// What is left of the old file is not accepted with the new one, and can be taken back.
TEST_F(Linked, S55_S62_AcceptingOneNameLeavesTheOtherToBeDecided) {
    for (const bool again : {false, true}) {
        change_and_part();
        EXPECT_THAT(lines_of(keep("a").kept), ElementsAre("modified a"));
        if (again) world_->reopen();
        is_sound();
        EXPECT_THAT(changes(), ElementsAre("modified b"));
        ASSERT_OK(discard_all());
        EXPECT_EQ(text("a"), "two\n");
        EXPECT_EQ(text("b"), "one\n");
        is_sound();
        EXPECT_THAT(changes(), IsEmpty());
        world_.reset();
        std::filesystem::remove_all(raw());
    }
}

// The old file is "b" now. What it was, which "a" would need, is given up with it.
TEST_F(Linked, S55_S62_AcceptingTheOldFileAcceptsTheNameThatItHad) {
    change_and_part();
    const auto decided = keep("b");
    EXPECT_THAT(lines_of(decided.kept), ElementsAre("modified a", "modified b"));
    ASSERT_EQ(decided.needed.size(), 1);
    EXPECT_EQ(decided.needed.front().path, "a");
    EXPECT_EQ(decided.needed.front().reason, "b was the same file");
    EXPECT_THAT(changes(), IsEmpty());
    is_sound();
}

// A directory that goes takes no name along of what stays.
TEST_F(Linked, S49_AFileThatComesBackFromANewDirectoryHasItsNamesAlone) {
    before("m", "m\n");
    begin();
    const std::string node = [this] {
        EXPECT_EQ(actor().mkdir("made", 0755), 0);
        EXPECT_EQ(actor().mkdir("made/below", 0755), 0);
        EXPECT_EQ(actor().rename("m", "made/below/m", 0), 0);
        EXPECT_EQ(actor().link("made/below/m", "made/other"), 0);
        return checkpoint();
    }();
    make("z", "z\n");
    checkpoint();
    const Snapshot then = world_->look();
    ASSERT_OK(operations().revert(World::asker(), node, false));
    EXPECT_EQ(std::filesystem::hard_link_count(raw() / "m"), 2) << "its own, and the anchor";
    ASSERT_OK(operations().redo(World::asker(), 1, overlay::Consent::kAll));
    EXPECT_EQ(difference(then, world_->look()), "");
    is_sound();
}

TEST_F(Linked, S57_AnExchangeWithAFileOfANewDirectoryIsTakenBack) {
    before("old/e", "old\n");
    begin();
    EXPECT_EQ(actor().mkdir("made", 0755), 0);
    make("made/x", "new\n");
    EXPECT_EQ(actor().rename("made/x", "old/e", RENAME_EXCHANGE), 0);
    const std::string node = checkpoint();
    make("z", "z\n");
    checkpoint();
    const Snapshot then = world_->look();
    ASSERT_OK(operations().revert(World::asker(), node, false));
    EXPECT_EQ(text("old/e"), "old\n");
    EXPECT_FALSE(std::filesystem::exists(raw() / "made"));
    EXPECT_EQ(std::filesystem::hard_link_count(raw() / "old/e"), 2) << "its own, and the anchor";
    ASSERT_OK(operations().redo(World::asker(), 1, overlay::Consent::kAll));
    EXPECT_EQ(difference(then, world_->look()), "");
    is_sound();
}

TEST_F(Linked, S76_OneNameIsRestoredWhenNeitherIsTheOldFile) {
    for (const char* const path : {"a", "b"}) {
        change_and_part();
        save("b", "three\n");
        ASSERT_OK(restore({path}));
        EXPECT_EQ(text(path), "one\n");
        EXPECT_THAT(changes(),
                    ElementsAre(std::string("modified ") + (path[0] == 'a' ? "b" : "a")));
        ASSERT_OK(discard_all());
        EXPECT_EQ(difference(start_, world_->look()), "");
        is_sound();
        world_.reset();
        std::filesystem::remove_all(raw());
    }
}

// The change is known by the name that it was made by.
TEST_F(Linked, S76_AFileIsRestoredByEachOfItsNames) {
    for (const char* const path : {"d/link", "d", "a", "b"}) {
        before("a", "one\n");
        std::filesystem::create_hard_link(raw() / "a", raw() / "b");
        std::filesystem::create_directory(raw() / "d");
        std::filesystem::create_hard_link(raw() / "a", raw() / "d/link");
        begin();
        replace("a", "two\n");
        world_->reopen();
        ASSERT_OK(restore({path}));
        is_one_file_again();
        EXPECT_EQ(text("d/link"), "one\n");
        world_.reset();
        std::filesystem::remove_all(raw());
    }
}

// The old file would be one with "b" again, so that restoring the one changed the other.
TEST_F(Linked, S76_RestoringANameDoesNotChangeTheOtherUnasked) {
    change_and_part();
    const auto refused = restore({"a"});
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().kind(), ErrorKind::kConflict);
    EXPECT_THAT(refused.error().message(), HasSubstr("b"));
    EXPECT_EQ(text("b"), "two\n");
    ASSERT_OK(restore({"a", "b"}));
    is_one_file_again();
}

TEST_F(Linked, S76_TheNameThatStayedIsRestoredAlone) {
    change_and_part();
    ASSERT_OK(restore({"b"}));
    EXPECT_EQ(text("b"), "one\n");
    EXPECT_EQ(text("a"), "two\n");
    EXPECT_THAT(changes(), ElementsAre("modified a"));
    ASSERT_OK(restore({"a"}));
    is_one_file_again();
}

}  // namespace
}  // namespace unwrite::tests
