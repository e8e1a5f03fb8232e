// A thumbs-down on the agent's last comment.
#include "git/feedback.h"

#include <gtest/gtest.h>

#include "tests/git/world.h"

namespace unwrite::git::tests {
namespace {

constexpr const char* kNote =
    "[Note: Your previous response received a 👎 reaction. The user may want you to take a "
    "different approach. Be aware of this feedback.]\n\n";

std::string comment(int id, const std::string& login) {
    return R"({"id":)" + std::to_string(id) + R"(,"user":{"login":")" + login + R"("}})";
}

std::string reaction(const std::string& content, const std::string& login) {
    return R"({"content":")" + content + R"(","user":{"login":")" + login + R"("}})";
}

Result<std::string> ask(const World& world, std::uint64_t issue = 7) {
    InstalledPrograms programs;
    FeedbackOptions options;
    options.issue = issue;
    return feedback(programs, world.work(), options);
}

const std::string kBot = "github-actions[bot]";

TEST(GitFeedback, S109_AThumbsDownBecomesTheNote) {
    const World world;
    world.commit("start", {{"a", "0\n"}});
    world.agent_commit(7, {{"a", "1\n"}});
    // Two pages, as gh prints them.
    world.gh_says("comments", "[" + comment(11, kBot) + "," + comment(12, "ann") + "]\n[" +
                                  comment(13, kBot) + "," + comment(14, "ann") + "]\n");
    world.gh_says("reactions", "[" + reaction("+1", "bob") + "," + reaction("-1", "ann") + "]");
    const std::string head = world.head();
    ASSERT_ASSIGN(const std::string note, ask(world));
    EXPECT_EQ(note, kNote);
    const std::string calls = world.gh_calls();
    EXPECT_NE(calls.find("issues/7/comments"), std::string::npos) << calls;
    EXPECT_NE(calls.find("issues/comments/13/reactions"), std::string::npos) << calls;
    // Soft: nothing is undone.
    EXPECT_EQ(world.head(), head);
    EXPECT_EQ(world.read("a"), "1\n");
}

TEST(GitFeedback, S109_OtherwiseThereIsNone) {
    const World world;
    for (const std::string& comments :
         {std::string("[]"), "[" + comment(1, "ann") + "]", std::string()}) {
        world.gh_says("comments", comments);
        world.gh_says("reactions", "[" + reaction("-1", "ann") + "]");
        ASSERT_ASSIGN(const std::string note, ask(world));
        EXPECT_EQ(note, "") << comments;
    }
    world.gh_says("comments", "[" + comment(1, kBot) + "]");
    for (const std::string& reactions :
         {std::string("[]"), "[" + reaction("+1", "ann") + "]", "[" + reaction("-1", kBot) + "]"}) {
        world.gh_says("reactions", reactions);
        ASSERT_ASSIGN(const std::string note, ask(world));
        EXPECT_EQ(note, "") << reactions;
    }
}

TEST(GitFeedback, S109_FailuresAreErrors) {
    const World world;
    EXPECT_KIND(ErrorKind::kUsage, ask(world, 0));
    for (const char* nonsense : {"{\"message\":\"Not Found\"}", "[{}", "<html>", "[]\n]"}) {
        world.gh_says("comments", nonsense);
        EXPECT_NE(failure_of(ask(world)).find("cannot read"), std::string::npos) << nonsense;
    }
    world.gh_says("comments", "", 1, "gh: API rate limit exceeded (HTTP 403)");
    const Result<std::string> limited = ask(world);
    EXPECT_NE(failure_of(limited).find("rate limit"), std::string::npos);
    // It has no such option.
    EXPECT_EQ(limited.error().advice().find("--no-pull-requests"), std::string::npos);
    world.without_gh();
    EXPECT_KIND(ErrorKind::kNotFound, ask(world));
}

}  // namespace
}  // namespace unwrite::git::tests
