// What a script of a review says, and what becomes of verdicts.
#include "cli/decision.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

namespace unwrite::cli {
namespace {

using overlay::Change;
using overlay::ChangeKind;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Decision, ScriptS62) {
    const auto script =
        parse_judgements("# what stays\n\naccept a b\nreject \"c\\nd\\377\"\naccept-hunks 1,3 e f");
    ASSERT_TRUE(script.ok()) << script.error().message();
    ASSERT_EQ(script->size(), 3U);
    EXPECT_EQ(script->at(0).verdict, Verdict::kAccept);
    EXPECT_EQ(script->at(0).path, "a b");
    EXPECT_EQ(script->at(1).verdict, Verdict::kReject);
    EXPECT_EQ(script->at(1).path, "c\nd\xff");
    EXPECT_EQ(script->at(2).verdict, Verdict::kParts);
    EXPECT_EQ(script->at(2).path, "e f");
    EXPECT_THAT(script->at(2).hunks, ElementsAre(1, 3));
}

TEST(Decision, BadScriptsAreRefusedByLine) {
    for (const char* text : {"keep a", "accept", "accept-hunks a", "accept-hunks 0 a",
                             "accept-hunks 1,x a", "reject \"a", "reject \"a\"b", "accept-hunks  a",
                             "accept-hunks 99999999999999999999 a"}) {
        const auto script = parse_judgements("# one\n" + std::string(text));
        ASSERT_FALSE(script.ok()) << text;
        EXPECT_EQ(script.error().kind(), ErrorKind::kUsage);
        EXPECT_THAT(script.error().message(), HasSubstr("line 2"));
    }
}

Judged judged(const std::string& path, Verdict verdict) {
    Change change;
    change.kind = ChangeKind::kCreated;
    change.path = path;
    change.type = S_IFREG;
    return {change, verdict, {}, {}};
}

TEST(Decision, ADirectoryOfWhichAllIsRejectedGoes) {
    Change made;
    made.kind = ChangeKind::kCreated;
    made.path = "d";
    made.type = S_IFDIR;
    const auto some =
        decision_of({judged("d/a", Verdict::kAccept), judged("d/e/x", Verdict::kReject),
                     judged("d/e/y", Verdict::kReject), judged("de", Verdict::kOpen)},
                    {made});
    EXPECT_THAT(some.keep, ElementsAre("d/a"));
    EXPECT_THAT(some.take_back, ElementsAre("d/e"));
    const auto all = decision_of({judged("d/a", Verdict::kReject), judged("d/b", Verdict::kReject),
                                  judged("de", Verdict::kAccept)},
                                 {made});
    EXPECT_THAT(all.take_back, ElementsAre("d"));
}

TEST(Decision, ARejectedRenamingIsOneOfTwoNames) {
    Judged renamed = judged("new", Verdict::kReject);
    renamed.change.kind = ChangeKind::kRenamed;
    renamed.change.old_path = "old";
    EXPECT_THAT(decision_of({renamed}, {}).take_back, ElementsAre("new", "old"));
}

}  // namespace
}  // namespace unwrite::cli
