// Which directory is mounted when nobody named one.
#include "cli/place.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/cli/scratch.h"

namespace unwrite::cli {
namespace {

class Place : public ::testing::Test {
 protected:
    void SetUp() override {
        const char* home = std::getenv("HOME");
        before_ = home != nullptr ? home : "";
        home_ = std::filesystem::canonical(scratch_.path()).string() + "/home";
        std::filesystem::create_directories(home_ + "/project/src/deep");
        ::setenv("HOME", home_.c_str(), 1);
    }
    void TearDown() override { ::setenv("HOME", before_.c_str(), 1); }

    Scratch scratch_;
    std::string home_;
    std::string before_;
};

TEST_F(Place, TheTopOfTheWorkTree) {
    EXPECT_EQ(usual_place(home_ + "/project/src/deep"), home_ + "/project/src/deep");
    std::filesystem::create_directory(home_ + "/project/.git");
    EXPECT_EQ(usual_place(home_ + "/project/src/deep"), home_ + "/project/src/deep")
        << "an empty directory is no repository";
    std::ofstream(home_ + "/project/.git/HEAD") << "ref: refs/heads/main\n";
    EXPECT_EQ(usual_place(home_ + "/project/src/deep"), home_ + "/project");
    std::ofstream(home_ + "/project/src/.git") << "gitdir: ../.git/modules/src\n";
    EXPECT_EQ(usual_place(home_ + "/project/src/deep"), home_ + "/project/src");
}

TEST_F(Place, AHomeIsNoProject) {
    std::filesystem::create_directory(home_ + "/.git");
    std::ofstream(home_ + "/.git/HEAD") << "ref: refs/heads/main\n";
    EXPECT_EQ(usual_place(home_ + "/project/src"), home_ + "/project/src");
    EXPECT_TRUE(holds_a_home(home_));
    EXPECT_TRUE(holds_a_home(std::filesystem::path(home_).parent_path().string()));
    EXPECT_TRUE(holds_a_home("/"));
    EXPECT_FALSE(holds_a_home(home_ + "/project"));
}

}  // namespace
}  // namespace unwrite::cli
