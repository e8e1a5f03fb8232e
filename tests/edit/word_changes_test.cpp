// Which words of a changed line are marked.
#include "edit/word_changes.h"

#include <gmock/gmock.h>

#include <string>

namespace unwrite::edit {
namespace {

/// The line with [ ] around what is marked.
std::string marked(std::string_view line, const std::vector<ByteRange>& ranges) {
    std::string text;
    std::size_t at = 0;
    for (const ByteRange& range : ranges) {
        text += line.substr(at, range.begin - at);
        text += '[' + std::string(line.substr(range.begin, range.end - range.begin)) + ']';
        at = range.end;
    }
    return text + std::string(line.substr(at));
}

std::pair<std::string, std::string> compared(std::string_view older, std::string_view newer) {
    const WordChanges changes = word_changes(older, newer);
    return {marked(older, changes.older), marked(newer, changes.newer)};
}
using Both = std::pair<std::string, std::string>;

TEST(WordChanges, WordsS62) {
    EXPECT_EQ(compared("return compute(1, 2);", "return compute(1, 33);"),
              Both("return compute(1, [2]);", "return compute(1, [33]);"));
    EXPECT_EQ(compared("the quick brown fox", "the quick fox"),
              Both("the quick [brown ]fox", "the quick fox"));
    EXPECT_EQ(compared("int a = f(x);", "int a = f(x, y);"),
              Both("int a = f(x);", "int a = f(x[, y]);"));
}

TEST(WordChanges, BlanksBetweenMarkedWordsAreMarkedToo) {
    EXPECT_EQ(compared("see one two here it is", "see three four here it is"),
              Both("see [one two] here it is", "see [three four] here it is"));
}

TEST(WordChanges, NothingIsMarkedWhereAllIsOther) {
    EXPECT_EQ(compared("one two three", "alpha beta gamma"),
              Both("one two three", "alpha beta gamma"));
    EXPECT_EQ(compared("same", "same"), Both("same", "same"));
    EXPECT_EQ(compared("", "new"), Both("", "new"));
    EXPECT_EQ(compared("", ""), Both("", ""));
}

TEST(WordChanges, NoCharacterIsCut) {
    EXPECT_EQ(compared("caf\xc3\xa9 is open", "caf\xc3\xa8 is open"),
              Both("[caf\xc3\xa9] is open", "[caf\xc3\xa8] is open"));
}

TEST(WordChanges, VeryLongLinesAreMarkedInTheMiddle) {
    std::string older, newer;
    for (int i = 0; i < 2000; ++i) {
        older += "a" + std::to_string(i) + " ";
        newer += "b" + std::to_string(i) + " ";
    }
    const std::string same(40'000, 'x');
    const WordChanges changes =
        word_changes(same + " " + older + "end", same + " " + newer + "end");
    ASSERT_EQ(changes.older.size(), 1U);
    EXPECT_EQ(changes.older[0].begin, same.size() + 1);
    EXPECT_EQ(changes.newer.size(), 1U);
}

}  // namespace
}  // namespace unwrite::edit
