#include "cli/git_excludes.h"

#include <gtest/gtest.h>

namespace unwrite::cli {
namespace {

using overlay::RuleShown;

RuleShown rule(std::string pattern, std::string action, std::string subjects = "agents") {
    return {std::move(pattern), std::move(action), std::move(subjects), "", "", 0};
}

TEST(GitExcludes, S44_are_what_agents_may_not_read) {
    EXPECT_EQ(git_excludes({rule(".env", "deny"), rule("migrations/**", "deny-write"),
                            rule("*.key", "hide", "everyone"), rule("!.env.example", "allow"),
                            rule("core", "ask"), rule("a", "watch"), rule("package.json", "tell")},
                           ""),
              ".env\n*.key\n!.env.example\n");
}

TEST(GitExcludes, S44_the_users_own_lines_come_last) {
    EXPECT_EQ(git_excludes({rule(".env", "deny")}, "*.o\n!x.o"), ".env\n*.o\n!x.o");
}

TEST(GitExcludes, S44_nothing_where_all_may_be_read) {
    EXPECT_EQ(git_excludes({}, "*.o\n"), "");
    EXPECT_EQ(git_excludes({rule("!.env", "allow"), rule("x", "deny-write")}, "*.o\n"), "");
}

TEST(GitExcludes, S44_odd_patterns) {
    EXPECT_EQ(git_excludes({rule("#x", "deny"), rule("!#y", "allow"), rule("a\nb", "deny"),
                            rule("z", "allow", "user")},
                           ""),
              "\\#x\n!\\#y\n");
}

}  // namespace
}  // namespace unwrite::cli
