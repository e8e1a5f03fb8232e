#include "overlay/unmatched_rules.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/support/scratch.h"

namespace unwrite::overlay {
namespace {

class Unmatched : public ::testing::Test {
 protected:
    void SetUp() override {
        std::filesystem::create_directories(scratch_.path() / "migrations/old");
        std::filesystem::create_directories(scratch_.path() / ".unwrite/hidden");
        scratch_.write("migrations/old/one.SQL", "x");
    }
    /// The patterns about nothing, as one text.
    std::string among(const std::vector<std::string>& patterns, std::size_t most = 0) {
        std::vector<Rule> rules;
        for (const std::string& pattern : patterns) {
            Rule rule;
            rule.pattern = pattern;
            rule.source = "test";
            rules.push_back(rule);
        }
        const auto unmatched = unmatched_rules(rules, scratch_.fd(), most);
        EXPECT_TRUE(unmatched.ok());
        std::string text;
        for (const Rule& rule : *unmatched)
            text += rule.pattern + " ";
        return text;
    }

    tests::Scratch scratch_;
};

TEST_F(Unmatched, ARuleThatIsAboutNothingIsFoundS44_A11) {
    EXPECT_EQ(among({"migrations/**", "*.sql", "!one.*"}), "");
    EXPECT_EQ(among({"migratons/**", "*.sql", "/one.sql", "!two.*"}),
              "migratons/** /one.sql !two.* ");
    EXPECT_EQ(among({"hidden"}), "hidden ") << "the state directory is no part of the workspace";
    EXPECT_EQ(among({}), "");
}

TEST_F(Unmatched, OfATreeThatIsTooLargeNothingIsSaid) {
    EXPECT_EQ(among({"nothing"}, 2), "");
    EXPECT_EQ(among({"nothing"}, 3), "nothing ");
}

}  // namespace
}  // namespace unwrite::overlay
