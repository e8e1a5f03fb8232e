// Keeping one part of a task for good and taking another back, with what hangs on what.
#include <gmock/gmock.h>

#include "base/digest.h"
#include "tests/overlay/looking.h"

namespace unwrite::tests {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

class Deciding : public Looking {
 protected:
    Result<overlay::Decided> decide(const overlay::Decision& decision, bool dry_run = false) {
        return operations().decide(World::asker(), decision, dry_run);
    }
    /// Keeps them; the live state stays as it is, and a dry run foresees it all.
    overlay::Decided keep(const Lines& paths) {
        const Snapshot was = world_->look();
        const auto foreseen = decide({.keep = paths}, true);
        const auto decided = decide({.keep = paths});
        EXPECT_TRUE(decided.ok()) << decided.error().message();
        EXPECT_EQ(difference(was, world_->look()), "");
        if (!decided || !foreseen) return {};
        EXPECT_EQ(lines_of(foreseen->kept), lines_of(decided->kept));
        return *decided;
    }
    static Lines needed(const overlay::Decided& decided) {
        Lines paths;
        for (const auto& one : decided.needed)
            paths.push_back(one.path);
        return paths;
    }
    void discard() {
        const auto moved = operations().discard(World::asker(), false, overlay::Consent::kAll);
        ASSERT_TRUE(moved.ok()) << moved.error().message();
        sound();
    }
    void redo() {
        const auto moved = operations().redo(World::asker(), 9, overlay::Consent::kAll);
        ASSERT_TRUE(moved.ok()) << moved.error().message();
        sound();
    }
    void sound() {
        const auto checked = operations().check(false);
        ASSERT_TRUE(checked.ok());
        EXPECT_THAT(checked->problems, IsEmpty());
    }
    std::string text(const std::string& path) { return scratch_.read("work/" + path); }
    bool exists(const std::string& path) { return std::filesystem::exists(raw() / path); }
};

TEST_F(Deciding, WhatIsKeptIsNeverTakenBackS55S62) {
    before("a", "one\n");
    before("b", "one\n");
    begin();
    replace("a", "two\n");
    save("b", "two\n");
    make("c", "two\n");
    const Snapshot was = world_->look();
    EXPECT_THAT(lines_of(keep({"a", "c"}).kept), ElementsAre("modified a", "created c"));
    EXPECT_THAT(changes(), ElementsAre("modified b"));
    discard();
    EXPECT_EQ(text("a"), "two\n");
    EXPECT_EQ(text("b"), "one\n");
    EXPECT_EQ(text("c"), "two\n");
    redo();
    EXPECT_EQ(difference(was, world_->look()), "");
    world_->reopen();
    discard();
    EXPECT_EQ(text("a"), "two\n");
}

TEST_F(Deciding, ThreeOfFiveS62S86) {
    for (const char* name : {"a", "b", "c", "d", "e"})
        before(name, "one\n");
    begin();
    for (const char* name : {"a", "b", "c", "d", "e"})
        replace(name, "two\n");
    ASSERT_ASSIGN(const auto decided,
                  decide({.keep = {"a", "c", "e"}, .take_back = {"b", "d"}, .text = "review"}));
    EXPECT_THAT(lines_of(decided.taken_back),
                ElementsAre("modified b +attributes", "modified d +attributes"));
    for (const char* name : {"a", "c", "e"})
        EXPECT_EQ(text(name), "two\n") << name;
    for (const char* name : {"b", "d"})
        EXPECT_EQ(text(name), "one\n") << name;
    EXPECT_THAT(changes(), IsEmpty());
    redo();  // what was taken back is not lost
    EXPECT_EQ(text("b"), "two\n");
    EXPECT_THAT(changes(), ElementsAre("modified b", "modified d"));
    discard();
    EXPECT_EQ(text("b"), "one\n");
    EXPECT_EQ(text("a"), "two\n");
}

TEST_F(Deciding, AFileInAMadeDirectoryNeedsItS62) {
    begin();
    ASSERT_EQ(actor().mkdir("d", 0755), 0);
    ASSERT_EQ(actor().mkdir("d/e", 0755), 0);
    make("d/e/kept", "two\n");
    make("d/e/open", "two\n");
    make("d/other", "two\n");
    const Snapshot was = world_->look();
    const auto decided = keep({"d/e/kept"});
    EXPECT_THAT(lines_of(decided.kept), ElementsAre("created d/ (2 below, 4 bytes)"));
    EXPECT_THAT(needed(decided), ElementsAre("d"));
    EXPECT_THAT(decided.needed.at(0).reason, HasSubstr("d/e/kept"));
    EXPECT_THAT(changes(), ElementsAre("created d/e/open", "created d/other"));
    discard();
    EXPECT_TRUE(exists("d/e/kept"));
    EXPECT_FALSE(exists("d/e/open"));
    EXPECT_FALSE(exists("d/other"));
    redo();
    EXPECT_EQ(difference(was, world_->look(), Times::kIgnore), "");
}

TEST_F(Deciding, ChangesOfLaterStepsInAMadeDirectory) {
    before("old", "one\n");
    begin();
    ASSERT_EQ(actor().mkdir("d", 0755), 0);
    make("d/kept", "1\n");
    make("d/open", "1\n");
    make("d/gone", "1\n");
    const auto first = checkpoint("first");
    const Snapshot then = world_->look();
    replace("d/kept", "2\n");
    replace("d/open", "2\n");
    ASSERT_EQ(actor().unlink("d/gone"), 0);
    ASSERT_EQ(actor().rename("old", "d/old", 0), 0);
    make("d/new", "2\n");
    keep({"d/kept"});
    ASSERT_TRUE(operations().rollback(World::asker(), first, false, overlay::Consent::kAll));
    EXPECT_EQ(text("d/kept"), "2\n");
    EXPECT_EQ(text("d/open"), "1\n");
    EXPECT_EQ(text("d/gone"), "1\n");
    EXPECT_EQ(text("old"), "one\n");
    EXPECT_FALSE(exists("d/new"));
    discard();
    EXPECT_EQ(text("d/kept"), "2\n");
    EXPECT_FALSE(exists("d/open"));
    EXPECT_FALSE(exists("d/gone"));
    EXPECT_FALSE(exists("d/old"));
}

TEST_F(Deciding, ARenameAndItsContentStayTogetherS62) {
    before("old", "one\n");
    before("dir/x", "one\n");
    begin();
    ASSERT_EQ(actor().rename("old", "new", 0), 0);
    replace("new", "two\n");
    ASSERT_EQ(actor().rename("dir", "moved", 0), 0);
    replace("moved/x", "two\n");
    EXPECT_THAT(needed(keep({"new"})), ElementsAre("old"));
    EXPECT_THAT(changes(), ElementsAre("renamed dir -> moved/", "modified moved/x"));
    EXPECT_THAT(needed(keep({"moved/x"})), UnorderedElementsAre("moved", "dir"));
    EXPECT_THAT(changes(), IsEmpty());
    EXPECT_EQ(text("new"), "two\n");
}

TEST_F(Deciding, ARenameIsRejectedS62) {
    before("old", "one\n");
    before("other", "one\n");
    begin();
    ASSERT_EQ(actor().rename("old", "new", 0), 0);
    replace("new", "two\n");
    replace("other", "two\n");
    const auto half = decide({.keep = {"other"}, .take_back = {"new"}});
    ASSERT_FALSE(half.ok());
    EXPECT_EQ(half.error().kind(), ErrorKind::kConflict);
    EXPECT_THAT(half.error().message() + half.error().advice(), HasSubstr("old"));
    ASSERT_OK(decide({.keep = {"other"}, .take_back = {"new", "old"}}));
    EXPECT_EQ(text("old"), "one\n");
    EXPECT_EQ(text("other"), "two\n");
    EXPECT_FALSE(exists("new"));
    EXPECT_THAT(changes(), IsEmpty());
}

TEST_F(Deciding, KeepingAndTakingBackTheSameThingIsAConflict) {
    before("old", "one\n");
    begin();
    ASSERT_EQ(actor().rename("old", "new", 0), 0);
    const Snapshot was = world_->look();
    for (const auto& decision : {overlay::Decision{.keep = {"new"}, .take_back = {"new", "old"}},
                                 overlay::Decision{.keep = {"old"}, .take_back = {"new", "old"}}}) {
        const auto both = decide(decision);
        ASSERT_FALSE(both.ok());
        EXPECT_EQ(both.error().kind(), ErrorKind::kConflict);
    }
    EXPECT_EQ(difference(was, world_->look()), "");
}

TEST_F(Deciding, AFileThatBecameADirectoryS62) {
    before("x", "one\n");
    before("y", "one\n");
    begin();
    for (const std::string name : {"x", "y"}) {
        ASSERT_EQ(actor().unlink(name), 0);
        ASSERT_EQ(actor().mkdir(name, 0755), 0);
        make(name + "/in", "two\n");
        make(name + "/out", "two\n");
    }
    ASSERT_OK(decide({.keep = {"x/in"}, .take_back = {"y"}}));
    EXPECT_EQ(text("y"), "one\n");
    EXPECT_EQ(text("x/in"), "two\n");
    EXPECT_THAT(changes(), ElementsAre("created x/out"));
    discard();
    EXPECT_EQ(text("x/in"), "two\n");
    EXPECT_FALSE(exists("x/out"));
}

TEST_F(Deciding, ARemovedDirectoryNeedsWhatLayInIt) {
    before("d/x", "one\n");
    before("d/sub/y", "one\n");
    begin();
    ASSERT_EQ(actor().rename("d/x", "x", 0), 0);
    ASSERT_EQ(actor().unlink("d/sub/y"), 0);
    ASSERT_EQ(actor().rmdir("d/sub"), 0);
    ASSERT_EQ(actor().rmdir("d"), 0);
    make("other", "two\n");
    EXPECT_THAT(needed(keep({"d"})), ElementsAre("x"));
    discard();
    EXPECT_FALSE(exists("d"));
    EXPECT_EQ(text("x"), "one\n");
    EXPECT_FALSE(exists("other"));
}

TEST_F(Deciding, LinksOfAFileStayTogether) {
    before("a", "one\n");
    begin();
    ASSERT_EQ(actor().link("a", "b"), 0);
    ASSERT_EQ(actor().link("a", "c"), 0);
    replace("a", "two\n");
    EXPECT_THAT(needed(keep({"b"})), testing::Contains("c"));
    EXPECT_THAT(changes(), IsEmpty());
    EXPECT_EQ(text("a"), "two\n");
}

// The change is known by the name that it was made by.
TEST_F(Deciding, AFileIsAcceptedByEachOfItsNamesS62) {
    for (const char* const accepted : {"d", "d/link"}) {
        before("f", "one\n");
        before("d/e", "one\n");
        std::filesystem::create_hard_link(raw() / "f", raw() / "d/link");
        begin();
        replace("f", "two\n");
        replace("d/e", "two\n");
        make("rest", "made\n");
        EXPECT_THAT(needed(keep({accepted})), ElementsAre("f"));
        discard();
        EXPECT_EQ(text("f"), "two\n");
        EXPECT_EQ(text("d/link"), "two\n");
        EXPECT_EQ(text("d/e"), std::string(accepted) == "d" ? "two\n" : "one\n");
        world_.reset();
        std::filesystem::remove_all(raw());
    }
}

TEST_F(Deciding, NamesThatChangedPlacesGoTogether) {
    before("a/x", "one\n");
    before("b/y", "one\n");
    begin();
    ASSERT_EQ(actor().rename("a", "b", RENAME_EXCHANGE), 0);
    make("a/new", "two\n");
    EXPECT_THAT(needed(keep({"a/new"})), testing::Contains("b"));
    EXPECT_THAT(changes(), IsEmpty());
}

// Only the states between the beginning and now had them elsewhere, or with other bytes.
TEST_F(Deciding, WhatChangesOnlyInStatesInBetweenIsToldS62) {
    before("a/x", "one\n");
    before("b/y", "one\n");
    before("from", "same\n");
    before("to", "same\n");
    begin();
    ASSERT_EQ(actor().rename("a", "b", RENAME_EXCHANGE), 0);
    replace("to", "two\n");
    checkpoint("between");
    ASSERT_EQ(actor().rename("a", "b", RENAME_EXCHANGE), 0);
    make("a/new", "two\n");
    ASSERT_EQ(actor().rename("from", "to", 0), 0);
    const auto decided = keep({"a/new"});
    EXPECT_THAT(lines_of(decided.kept), ElementsAre("created a/new"));
    EXPECT_THAT(needed(decided), UnorderedElementsAre("a", "b"));
    EXPECT_THAT(needed(keep({"from"})), ElementsAre("to"));
}

// It is kept because of what it changed places with; what lies in it is decided by itself.
TEST_F(Deciding, AMadeDirectoryThatChangedPlacesIsKeptWithoutWhatLiesInItS62) {
    before("old/x", "one\n");
    begin();
    ASSERT_EQ(actor().mkdir("made", 0755), 0);
    make("made/file", "1\n");
    checkpoint("made");
    replace("made/file", "2\n");
    ASSERT_EQ(actor().rename("old", "made", RENAME_EXCHANGE), 0);
    make("made/new", "two\n");
    keep({"made/new"});
    EXPECT_THAT(changes(), ElementsAre("created old/file"));
    discard();
    EXPECT_EQ(text("made/new"), "two\n");
    EXPECT_FALSE(exists("old/file"));
    redo();
    EXPECT_EQ(text("old/file"), "2\n");
}

TEST_F(Deciding, WhatStandsThereByAnotherDirectoryNeedsItS62) {
    before("a/x", "of a\n");
    before("c/x", "of c\n");
    begin();
    ASSERT_EQ(actor().rename("c/x", "moved", 0), 0);
    ASSERT_EQ(actor().rename("a", "c", RENAME_EXCHANGE), 0);
    EXPECT_THAT(needed(keep({"c/x"})), testing::Contains("a"));
    discard();
    EXPECT_EQ(text("c/x"), "of a\n");
    EXPECT_EQ(text("moved"), "of c\n");
}

TEST_F(Deciding, OneOfThreeHunksS62) {
    std::string lines;
    for (int i = 1; i <= 60; ++i)
        lines += "line " + std::to_string(i) + "\n";
    before("f", lines);
    begin();
    ASSERT_EQ(actor().chmod("f", 0755), 0);
    std::string changed = lines;
    for (const char* number : {" 10\n", " 30\n", " 50\n"})
        changed.replace(changed.find(number), 4, " X\n");
    save("f", changed);
    ASSERT_EQ(actor().chmod("f", 0640), 0);
    std::string mixed = lines;
    mixed.replace(mixed.find(" 30\n"), 4, " X\n");
    overlay::Decision decision;
    decision.parts.push_back({"f", {2}, to_text(digest_of("something else"))});
    const auto stale = decide(decision);
    ASSERT_FALSE(stale.ok());
    EXPECT_EQ(stale.error().kind(), ErrorKind::kConflict);
    decision.parts[0].seen = to_text(digest_of(changed));
    ASSERT_OK(decide(decision));
    EXPECT_EQ(text("f"), mixed);
    sound();
    EXPECT_EQ(std::filesystem::status(raw() / "f").permissions(), std::filesystem::perms{0640});
    EXPECT_THAT(changes(), IsEmpty());
    redo();  // the rejected hunks are not lost
    EXPECT_EQ(text("f"), changed);
    discard();
    EXPECT_EQ(text("f"), mixed);
}

TEST_F(Deciding, WhatHasNoPartsSaysWhyS62) {
    before("bin", std::string("a\0b", 3));
    before("same", "one\n");
    begin();
    replace("bin", std::string("a\0c", 3));
    make("made", "two\n");
    for (const auto& [path, why] :
         {std::pair{"bin", "not a text"}, {"made", "was made"}, {"same", "not changed"}}) {
        overlay::Decision decision;
        decision.parts.push_back({path, {1}, ""});
        const auto decided = decide(decision);
        ASSERT_FALSE(decided.ok()) << path;
        EXPECT_THAT(decided.error().message(), HasSubstr(why));
    }
}

TEST_F(Deciding, AbandonedStatesStayUnlessTheyHoldAnotherVersion) {
    before("a", "one\n");
    before("b", "one\n");
    begin();
    replace("b", "two\n");
    const auto other = checkpoint();
    ASSERT_TRUE(operations().rollback(World::asker(), "root", false, overlay::Consent::kAll));
    replace("a", "two\n");
    EXPECT_EQ(keep({"a"}).given_up, 0U);
    replace("b", "three\n");
    checkpoint();
    ASSERT_TRUE(operations().rollback(World::asker(), other, false, overlay::Consent::kAll));
    EXPECT_EQ(text("a"), "two\n");
    EXPECT_EQ(text("b"), "two\n");
    EXPECT_GT(keep({"b"}).given_up, 0U);
    sound();
}

TEST_F(Deciding, NothingThere) {
    before("a", "one\n");
    begin();
    replace("a", "two\n");
    const auto none = decide({.keep = {"nowhere"}});
    ASSERT_FALSE(none.ok());
    EXPECT_EQ(none.error().kind(), ErrorKind::kNotFound);
    before("same", "one\n");
    const auto same = decide({.keep = {"same"}});
    ASSERT_FALSE(same.ok());
    EXPECT_EQ(same.error().kind(), ErrorKind::kNothing);
}

TEST_F(Deciding, SomethingMadeInAMadeDirectoryIsTakenBackAlone) {
    begin();
    ASSERT_EQ(actor().mkdir("d", 0755), 0);
    make("d/x", "two\n");
    make("d/y", "two\n");
    const Snapshot was = world_->look();
    ASSERT_TRUE(operations().restore_paths(World::asker(), {"d/y"}, "root", false));
    EXPECT_TRUE(exists("d/x"));
    EXPECT_FALSE(exists("d/y"));
    world_->reopen();
    ASSERT_TRUE(operations().undo(World::asker(), 1, overlay::Consent::kAll));
    EXPECT_EQ(difference(was, world_->look()), "");
}

}  // namespace
}  // namespace unwrite::tests
