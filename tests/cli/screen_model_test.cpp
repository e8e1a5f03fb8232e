// What is said of changes, and how it is taken back.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include "cli/screen/model.h"
#include "tests/cli/screen_items.h"

namespace unwrite::cli::screen {
namespace {

using overlay::Change;
using overlay::ChangeKind;
using ::testing::ElementsAre;

Model model_of(const std::vector<std::string>& paths) {
    std::vector<Item> items;
    for (const std::string& path : paths)
        items.push_back(item(path));
    return Model(std::move(items));
}

std::string verdicts(const Model& model) {
    std::string text;
    for (const Item& one : model.items())
        text += " arp"[static_cast<std::size_t>(one.verdict)];
    return text;
}

TEST(Model, VerdictsAndTheWayBackS62) {
    Model model = model_of({"a", "b", "c"});
    EXPECT_TRUE(model.judge(Verdict::kAccept));
    EXPECT_FALSE(model.judge(Verdict::kAccept));
    model.move_by(2);
    EXPECT_TRUE(model.judge(Verdict::kReject));
    EXPECT_EQ(verdicts(model), "a r");
    EXPECT_TRUE(model.judge_shown(Verdict::kReject));
    EXPECT_EQ(verdicts(model), "rrr");
    model.move_to(0);
    EXPECT_TRUE(model.undo());
    EXPECT_EQ(verdicts(model), "a r");
    EXPECT_EQ(model.cursor(), 2U);
    EXPECT_TRUE(model.undo());
    EXPECT_TRUE(model.undo());
    EXPECT_FALSE(model.undo());
    EXPECT_EQ(verdicts(model), "   ");
    EXPECT_EQ(model.cursor(), 0U);
}

TEST(Model, HunksS62) {
    Model model = model_of({"a"});
    EXPECT_FALSE(model.judge_hunk(0, Verdict::kAccept));
    model.set_parts(3, "x");
    EXPECT_TRUE(model.judge_hunk(1, Verdict::kAccept));
    EXPECT_EQ(verdicts(model), "p");
    EXPECT_FALSE(is_decided(*model.current()));
    EXPECT_EQ(model.judged()[0].verdict, Verdict::kOpen);
    EXPECT_EQ(model.tally().open, 1U);
    EXPECT_TRUE(model.judge_open(Verdict::kReject));
    EXPECT_THAT(model.judged()[0].hunks, ElementsAre(2));
    EXPECT_EQ(model.judged()[0].verdict, Verdict::kParts);
    EXPECT_EQ(model.judged()[0].seen, "x");
    EXPECT_EQ(model.tally().parts, 1U);
    EXPECT_TRUE(model.judge_hunk(1, Verdict::kReject));
    EXPECT_EQ(verdicts(model), "r");
    EXPECT_TRUE(model.undo());
    EXPECT_TRUE(model.undo());
    EXPECT_EQ(verdicts(model), "p");
    EXPECT_TRUE(model.undo());
    EXPECT_EQ(verdicts(model), " ");
    EXPECT_TRUE(model.judge(Verdict::kAccept));
    EXPECT_THAT(model.current()->hunks,
                ElementsAre(Verdict::kAccept, Verdict::kAccept, Verdict::kAccept));
}

TEST(Model, AVerdictOnOtherContentFalls) {
    Model model = model_of({"a", "b"});
    model.set_parts(2, "x");
    EXPECT_TRUE(model.judge(Verdict::kAccept));
    model.set_parts(2, "x");
    EXPECT_EQ(verdicts(model), "a ");
    model.set_parts(2, "y");
    EXPECT_EQ(verdicts(model), "  ");
    EXPECT_FALSE(model.undo());
    EXPECT_TRUE(model.judge_shown(Verdict::kReject));
    model.reopen("b");
    EXPECT_EQ(verdicts(model), "r ");
    EXPECT_TRUE(model.undo());
    EXPECT_EQ(verdicts(model), "  ");
}

TEST(Model, AVerdictOfBeforeTheFileWasReadHoldsForItsHunks) {
    Model model = model_of({"a"});
    EXPECT_TRUE(model.judge(Verdict::kAccept));
    EXPECT_TRUE(model.judge(Verdict::kReject));
    model.set_parts(2, "x");
    EXPECT_THAT(model.current()->hunks, ElementsAre(Verdict::kReject, Verdict::kReject));
    EXPECT_TRUE(model.undo());
    EXPECT_THAT(model.current()->hunks, ElementsAre(Verdict::kAccept, Verdict::kAccept));
    EXPECT_EQ(verdicts(model), "a");
}

TEST(Model, FilterAndSearch) {
    Model model = model_of({"src/a.c", "src/b.h", "docs/a.md", "README"});
    model.move_to(2);
    model.set_filter("a");
    EXPECT_THAT(model.shown(), ElementsAre(0, 2, 3));
    EXPECT_EQ(model.current()->change.path, "docs/a.md");
    model.set_filter("src  .H");
    EXPECT_TRUE(model.shown().empty());
    EXPECT_EQ(model.current(), nullptr);
    EXPECT_FALSE(model.judge(Verdict::kAccept));
    EXPECT_FALSE(model.judge_shown(Verdict::kAccept));
    EXPECT_FALSE(model.search("a", false));
    model.set_filter("src");
    EXPECT_TRUE(model.judge_shown(Verdict::kAccept));
    EXPECT_EQ(verdicts(model), "aa  ");
    model.set_filter("is:open");
    EXPECT_THAT(model.shown(), ElementsAre(2, 3));
    model.set_filter("is:accepted .h");
    EXPECT_THAT(model.shown(), ElementsAre(1));
    model.set_filter("");
    model.move_to(0);
    EXPECT_TRUE(model.search(".h", false));
    EXPECT_EQ(model.cursor(), 1U);
    EXPECT_TRUE(model.search("readme", true));
    EXPECT_EQ(model.cursor(), 3U);
    EXPECT_FALSE(model.search("Readme", false));
}

TEST(Model, ADirectoryIsOpened) {
    Item directory = item("d", ChangeKind::kCreated);
    directory.change.type = S_IFDIR;
    Model model({item("a"), directory, item("e")});
    model.set_filter("d/");
    ASSERT_NE(model.current(), nullptr);
    EXPECT_TRUE(model.judge(Verdict::kReject));
    model.set_filter("");
    model.move_to(2);
    EXPECT_TRUE(model.judge(Verdict::kAccept));
    model.move_to(1);
    model.open_directory({item("d/x").change, item("d/y").change});
    EXPECT_EQ(verdicts(model), " rra");
    EXPECT_EQ(model.current()->change.path, "d/x");
    EXPECT_TRUE(model.undo());
    EXPECT_EQ(verdicts(model), " rr ");
    EXPECT_EQ(model.current()->change.path, "e");
    EXPECT_TRUE(model.undo());
    EXPECT_EQ(verdicts(model), "    ");
}

TEST(Model, NothingAtAll) {
    Model model({});
    EXPECT_EQ(model.current(), nullptr);
    model.move_by(-1);
    model.move_to(7);
    model.set_parts(2, "x");
    EXPECT_FALSE(model.judge_open(Verdict::kAccept));
    EXPECT_FALSE(model.undo());
    EXPECT_TRUE(model.judged().empty());
}

}  // namespace
}  // namespace unwrite::cli::screen
