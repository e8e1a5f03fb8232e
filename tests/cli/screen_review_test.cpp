// A review without a terminal: keys go in, frames are read.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <cerrno>
#include <map>

#include "cli/screen/paint.h"
#include "cli/screen/review.h"
#include "cli/screen/session.h"
#include "cli/screen/words.h"
#include "cli/text.h"
#include "tests/cli/screen_items.h"

namespace unwrite::cli::screen {
namespace {

using overlay::Change;
using overlay::ChangeKind;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kTwoHunks =
    "diff --git a/b b/b\n--- a/b\n+++ b/b\n@@ -1,2 +1,2 @@\n context\n-the old word\n+the new "
    "word\n"
    "@@ -20 +20 @@\n-x\n+y\n";

class FakeSource : public Source {
 public:
    Result<Looked> look(const Change& change) override {
        ++looks;
        const auto found = files.find(change.path);
        if (found == files.end()) return Error(ErrorKind::kSystem, EIO, "it is gone");
        return found->second;
    }
    Result<std::vector<Change>> inside(const Change& directory) override {
        Change a = directory;
        a.type = S_IFREG;
        a.below = 0;
        Change b = a;
        a.path += "/x";
        b.path += "/y";
        return std::vector<Change>{a, b};
    }
    Result<std::string> foresee(const std::vector<Judged>& judged) override {
        said = judged;
        if (failure) return *failure;
        return std::string("to be kept:\n  this and that\n");
    }
    Result<> carry_out(const std::vector<Judged>& judged) override {
        said = judged;
        if (failure) return *failure;
        ++carried_out;
        return {};
    }
    std::vector<std::string> take_changed() override { return std::exchange(changed, {}); }
    void forget(const std::string& path) override { forgotten.push_back(path); }

    std::map<std::string, Looked> files;
    std::optional<Error> failure;
    std::vector<std::string> changed;
    std::vector<std::string> forgotten;
    std::vector<Judged> said;
    int looks = 0;
    int carried_out = 0;
};

class ScreenReview : public ::testing::Test {
 protected:
    ScreenReview() {
        for (const char* path : {"a", "c"})
            source.files[path] = {std::string("diff of ") + path + "\n", "", 0};
        source.files["b"] = {kTwoHunks, "sha256:1", 2};
        Item directory = item("heap", ChangeKind::kCreated);
        directory.change.type = S_IFDIR;
        directory.change.below = 200;
        source.files["heap"] = {"A directory.\n", "", 0};
        source.files["heap/x"] = {"diff of x\n", "", 0};
        review = std::make_unique<Review>(
            source, std::vector<Item>{item("a"), item("b"), item("c"), directory}, Size{24, 80});
    }

    Next key(Key::Kind kind) { return review->press({kind}); }
    Next type(std::string_view text) {
        Next next = Next::kGoOn;
        for (const char c : text)
            next = review->press({Key::Kind::kCharacter, static_cast<char32_t>(c)});
        return next;
    }
    std::string screen() const {
        const Frame frame = paint(*review, Charset::kAscii);
        EXPECT_LE(frame.lines.size(), frame.size.rows);
        std::string text;
        for (const Line& line : frame.lines) {
            EXPECT_LE(text_of(line).size(), frame.size.columns);
            text += text_of(line) + "\n";
        }
        return text;
    }
    std::string verdicts() const {
        std::string text;
        for (const Item& one : review->model().items())
            text += " arp"[static_cast<std::size_t>(one.verdict)];
        return text;
    }

    FakeSource source;
    std::unique_ptr<Review> review;
};

TEST_F(ScreenReview, FilesS62) {
    EXPECT_THAT(screen(), HasSubstr("review: 4 open"));
    EXPECT_THAT(screen(), HasSubstr(">[ ] M a"));
    EXPECT_THAT(screen(), HasSubstr("diff of a"));
    type("arr");
    EXPECT_EQ(verdicts(), "arr ");
    EXPECT_THAT(screen(), HasSubstr("1 accepted, 2 rejected, 1 open"));
    EXPECT_THAT(screen(), HasSubstr(">[ ] A heap/"));
    type("uo");
    EXPECT_EQ(verdicts(), "ar  ");
    type("A");
    EXPECT_EQ(verdicts(), "aaaa");
    EXPECT_THAT(screen(), HasSubstr("4 changes accepted; u takes that back"));
    type("u");
    EXPECT_EQ(verdicts(), "ar  ");
}

TEST_F(ScreenReview, HunksS62) {
    type("j");
    key(Key::Kind::kTab);
    EXPECT_THAT(screen(), HasSubstr(">[ ] @@ -1,2"));
    type("a");
    EXPECT_THAT(screen(), HasSubstr(" [a] @@ -1,2"));
    EXPECT_THAT(screen(), HasSubstr(">[ ] @@ -20"));
    EXPECT_THAT(screen(), HasSubstr("[?] M b"));
    type("r");
    EXPECT_THAT(screen(), HasSubstr("[~] M b"));
    type("[o");
    EXPECT_THAT(screen(), HasSubstr("[?] M b"));
    key(Key::Kind::kEscape);
    type("gj");
    type("r");
    EXPECT_EQ(verdicts(), " r  ");
}

TEST_F(ScreenReview, AFileWithoutPartsIsJudgedAsAWhole) {
    key(Key::Kind::kTab);
    type("a");
    EXPECT_EQ(verdicts(), "a   ");
    EXPECT_THAT(screen(), HasSubstr("no separate hunks"));
}

TEST_F(ScreenReview, TheEndAsksAboutWhatIsOpenS63) {
    type("a");
    type("q");
    EXPECT_THAT(screen(), HasSubstr("3 changes are not decided"));
    type("b");
    EXPECT_EQ(review->sight().mode, Mode::kBrowse);
    type("qr");
    EXPECT_EQ(verdicts(), "arrr");
    EXPECT_THAT(screen(), HasSubstr("this and that"));
    EXPECT_THAT(screen(), HasSubstr("Do this?"));
    EXPECT_EQ(type("n"), Next::kGoOn);
    EXPECT_EQ(source.carried_out, 0);
    EXPECT_EQ(verdicts(), "arrr");
    type("q");
    EXPECT_EQ(type("y"), Next::kLeave);
    EXPECT_EQ(source.carried_out, 1);
    EXPECT_TRUE(review->is_done());
    EXPECT_EQ(source.said.size(), 4U);
    EXPECT_EQ(source.said[3].verdict, Verdict::kReject);
}

TEST_F(ScreenReview, OnlyYAgrees) {
    type("Aq");
    for (const char* other : {"z", "Y", " ", "a", "q"})
        EXPECT_EQ(type(other), Next::kGoOn);
    EXPECT_EQ(key(Key::Kind::kEnter), Next::kGoOn);
    EXPECT_EQ(review->sight().mode, Mode::kConfirm);
    EXPECT_EQ(source.carried_out, 0);
}

TEST_F(ScreenReview, LeavingDoesNothingS63) {
    EXPECT_EQ(type("qx"), Next::kLeave);
    EXPECT_EQ(type("bqk"), Next::kLeave);  // nothing was said of anything
    review->press({Key::Kind::kEscape});
    EXPECT_EQ(key(Key::Kind::kInterrupt), Next::kLeave);
    type("Aq");
    EXPECT_EQ(key(Key::Kind::kClosed), Next::kLeave);
    EXPECT_FALSE(review->is_done());
    EXPECT_EQ(source.carried_out, 0);
}

TEST_F(ScreenReview, CtrlCAsksBeforeItDropsDecisionsS55) {
    type("a");
    EXPECT_EQ(key(Key::Kind::kInterrupt), Next::kGoOn);
    EXPECT_THAT(screen(), HasSubstr("You have decided: 1 accepted"));
    EXPECT_THAT(screen(), HasSubstr("Leave, and drop these decisions? (y/n)"));
    for (const char* other : {"a", "q", " ", "x", "n"})
        EXPECT_EQ(type(other), Next::kGoOn);
    EXPECT_EQ(review->sight().mode, Mode::kBrowse);
    EXPECT_EQ(review->model().tally().accepted, 1U);
    key(Key::Kind::kInterrupt);
    EXPECT_EQ(type("y"), Next::kLeave);
    key(Key::Kind::kEscape);
    EXPECT_EQ(key(Key::Kind::kInterrupt), Next::kGoOn);
    EXPECT_EQ(key(Key::Kind::kInterrupt), Next::kLeave);
    EXPECT_EQ(source.carried_out, 0);
}

TEST_F(ScreenReview, TheHelpFitsEightyColumnsAndTheEndQuestionsForty) {
    for (const std::string_view line : lines_of(help_text()))
        EXPECT_LE(line.size(), 80U) << line;
    review->resize({20, 40});
    for (const char* keys : {"q", "b", "a", "q"}) {
        type(keys);
        if (review->sight().mode == Mode::kBrowse) continue;
        for (const std::string& line : review->sight().page)
            EXPECT_LE(line.size(), 40U) << line;
    }
    type("k");
    EXPECT_EQ(review->sight().mode, Mode::kConfirm);
    EXPECT_THAT(screen(), HasSubstr("(y/n)"));
    key(Key::Kind::kInterrupt);
    EXPECT_THAT(screen(), HasSubstr("(y/n)"));
}

TEST_F(ScreenReview, WhatCannotBeDoneIsToldAndWhatChangedIsOpenAgain) {
    source.failure = Error(ErrorKind::kConflict, EBUSY, "b changed\n  b", "Look again.");
    source.changed = {"b"};
    const int before = source.looks;
    type("aaqk");
    EXPECT_THAT(screen(), HasSubstr("Nothing was done: b changed"));
    EXPECT_THAT(screen(), HasSubstr("Look again."));
    type("x");
    EXPECT_EQ(review->sight().mode, Mode::kBrowse);
    EXPECT_EQ(verdicts(), "a   ");
    type("gj");
    EXPECT_GT(source.looks, before + 1);
    source.failure.reset();
    type("qky");
    EXPECT_EQ(source.carried_out, 1);
}

TEST_F(ScreenReview, SearchAndFilter) {
    type("/HEA");
    key(Key::Kind::kBackspace);
    EXPECT_THAT(screen(), HasSubstr("/HE_"));
    key(Key::Kind::kEnter);
    EXPECT_THAT(screen(), HasSubstr("No name holds HE"));
    type("/hea");
    key(Key::Kind::kEnter);
    EXPECT_THAT(screen(), HasSubstr(">[ ] A heap/"));
    type("f");
    type("is:open b");
    key(Key::Kind::kEnter);
    EXPECT_THAT(screen(), HasSubstr("(filter is:open b: 1)"));
    EXPECT_THAT(screen(), HasSubstr(">[ ] M b"));
    EXPECT_THAT(screen(), Not(HasSubstr("M a")));
    key(Key::Kind::kTab);
    type("/word");
    key(Key::Kind::kEnter);
    EXPECT_EQ(review->sight().found, 5U);
    type("n");
    EXPECT_EQ(review->sight().found, 6U);
    type("N");
    EXPECT_EQ(review->sight().found, 5U);
    key(Key::Kind::kEscape);
    type("f none");
    key(Key::Kind::kEnter);
    EXPECT_THAT(screen(), HasSubstr("No change matches this filter."));
    type("ar[]unNvGgjk ");  // nothing of this does anything, or harm
    key(Key::Kind::kEnter);
    EXPECT_EQ(verdicts(), "    ");
}

TEST_F(ScreenReview, LayoutsFollowTheSizeS61) {
    type("j");
    EXPECT_THAT(screen(), HasSubstr("-----------"));
    EXPECT_FALSE(review->is_side_by_side());
    review->resize({30, 120});
    EXPECT_THAT(screen(), Not(HasSubstr("-----------")));
    EXPECT_FALSE(review->is_side_by_side());
    review->resize({30, 180});
    EXPECT_TRUE(review->is_side_by_side());
    EXPECT_THAT(screen(), ::testing::ContainsRegex("the old word *[|] *2 [+]the new word"));
    type("v");
    EXPECT_FALSE(review->is_side_by_side());
    for (std::size_t rows = 0; rows < 12; ++rows) {
        for (std::size_t columns = 0; columns < 40; ++columns) {
            review->resize({rows, columns});
            if (rows > 0) screen();
        }
    }
    review->resize({5, 20});
    EXPECT_THAT(screen(), HasSubstr("The terminal is"));
}

TEST_F(ScreenReview, WordsAreMarked) {
    type("j");
    const Frame frame = paint(*review, Charset::kAscii);
    std::vector<std::string> words;
    for (const Line& line : frame.lines) {
        for (const Span& span : line) {
            if (span.style == Style::kRemovedWord || span.style == Style::kAddedWord)
                words.push_back(span.text);
        }
    }
    EXPECT_THAT(words, ElementsAre("old", "new"));
}

TEST_F(ScreenReview, ALongListAndALongDiffScroll) {
    std::vector<Item> items;
    std::string text = "diff --git a/f b/f\n@@ -1,0 +1,5000 @@\n";
    for (int i = 0; i < 5000; ++i) {
        items.push_back(item("file" + std::to_string(i)));
        text += "+line " + std::to_string(i) + "\n";
    }
    source.files["file4999"] = {text, "", 0};
    review = std::make_unique<Review>(source, std::move(items), Size{24, 80});
    EXPECT_THAT(screen(), HasSubstr("This cannot be shown: it is gone"));
    key(Key::Kind::kEnd);
    EXPECT_THAT(screen(), HasSubstr("5000 of 5000"));
    EXPECT_THAT(screen(), HasSubstr("file4999"));
    key(Key::Kind::kTab);
    type("G");
    EXPECT_THAT(screen(), HasSubstr("line 4999"));
    key(Key::Kind::kPageUp);
    EXPECT_THAT(screen(), Not(HasSubstr("line 4999")));
    type("g");
    key(Key::Kind::kDown);
    key(Key::Kind::kDown);
    EXPECT_THAT(screen(), HasSubstr("line 0"));
    key(Key::Kind::kRight);
    EXPECT_THAT(screen(), Not(HasSubstr("line 0")));
    key(Key::Kind::kLeft);
    key(Key::Kind::kLeft);
    EXPECT_FALSE(review->sight().on_diff);
}

TEST_F(ScreenReview, ADirectoryIsOpenedByEnter) {
    type("G");
    EXPECT_THAT(screen(), HasSubstr("A directory."));
    key(Key::Kind::kEnter);
    EXPECT_THAT(screen(), HasSubstr(">[ ] A heap/x"));
    EXPECT_THAT(screen(), HasSubstr("diff of x"));
    EXPECT_EQ(review->model().items().size(), 5U);
}

TEST_F(ScreenReview, HelpNamesEveryKey) {
    type("?");
    for (const char* word : {"  a  r  o", "  u  ", "  Tab", "  ] [", "  v  ", "  /  ", "  f  ",
                             "  e  ", "  p  ", "  q  "})
        EXPECT_THAT(review->sight().page, ::testing::Contains(HasSubstr(word))) << word;
    type(" ");
    EXPECT_EQ(review->sight().mode, Mode::kPage);
    type("x");
    EXPECT_EQ(review->sight().mode, Mode::kBrowse);
}

/// Keys from a list; the size changes on the way.
class FakeDisplay : public Display {
 public:
    Size size() const override { return at < 3 ? Size{24, 80} : Size{40, 180}; }
    void draw(const Frame& frame) override { frames.push_back(frame); }
    Key next_key() override {
        if (at >= keys.size()) return {Key::Kind::kClosed};
        return {Key::Kind::kCharacter, static_cast<char32_t>(keys[at++])};
    }
    Result<> away(const std::function<Result<>()>& meanwhile) override {
        ++aways;
        return meanwhile();
    }
    void redraw() override {}

    std::string keys;
    std::size_t at = 0;
    std::vector<Frame> frames;
    int aways = 0;
};

TEST_F(ScreenReview, ASessionFromItsBeginningToItsEnd) {
    ::setenv("EDITOR", "true", 1);
    ::setenv("PAGER", "cat >/dev/null", 1);
    ::unsetenv("VISUAL");
    FakeDisplay display;
    display.keys = "apeaaAqy";
    Review three(source, {item("a"), item("b"), item("c")}, display.size());
    const auto done = hold_review(display, three, "/", Charset::kAscii);
    ASSERT_TRUE(done.ok());
    EXPECT_TRUE(*done);
    EXPECT_EQ(display.aways, 2);
    EXPECT_THAT(source.forgotten, ElementsAre("b"));
    EXPECT_EQ(display.frames.back().size, (Size{40, 180}));
    display.keys = "Aq";
    display.at = 0;
    Review one(source, {item("a")}, display.size());
    const auto left = hold_review(display, one, "/", Charset::kAscii);
    ASSERT_TRUE(left.ok());
    EXPECT_FALSE(*left);
    EXPECT_EQ(source.carried_out, 1);
}

}  // namespace
}  // namespace unwrite::cli::screen
