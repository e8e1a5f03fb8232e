// Where the repository of a linked work tree or a submodule is, and what a file `.git` cannot do.
#include "git/elsewhere.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/git/world.h"

namespace unwrite::git::tests {
namespace {

namespace files = std::filesystem;

struct Linked {
    Linked() {
        world.commit("first", {{"a", "1\n"}});
        world.git({"worktree", "add", "-q", "-b", "side", world.path("tree")});
    }
    std::string tree() const { return world.path("tree"); }
    void point_to(const std::string& directory) const {
        std::ofstream(tree() + "/.git") << "gitdir: " << directory << "\n";
    }
    World world;
};

TEST(GitElsewhere, S76_OfALinkedWorkTree) {
    const Linked linked;
    const auto found = find_elsewhere(linked.tree());
    ASSERT_TRUE(found);
    EXPECT_EQ(found->repository, files::canonical(linked.world.work() + "/.git").string());
    EXPECT_EQ(found->own, found->repository + "/worktrees/tree");
    const auto state = read_git_state(*found);
    ASSERT_TRUE(state.ok()) << failure_of(state);
    EXPECT_EQ(state->layout, Layout::kFile);
    EXPECT_TRUE(state->outside);
    EXPECT_EQ(state->branch, "refs/heads/side");
    EXPECT_EQ(state->head, linked.world.head());
}

TEST(GitElsewhere, S76_OfASubmodule) {
    const World world;
    world.commit("first", {{"a", "1\n"}});
    world.git_in(world.path("home"), {"init", "-q", "outer"});
    const std::string outer = world.path("home") + "/outer";
    world.git_in(outer, {"-c", "protocol.file.allow=always", "submodule", "--quiet", "add",
                         world.work(), "sub"});
    const auto found = find_elsewhere(outer + "/sub");
    ASSERT_TRUE(found);
    EXPECT_EQ(found->repository, files::canonical(outer + "/.git/modules/sub").string());
    EXPECT_EQ(found->own, found->repository);
}

TEST(GitElsewhere, S76_AWorkTreeWithItsRepositoryHasNoOther) {
    const World world;
    world.commit("first", {{"a", "1\n"}});
    EXPECT_FALSE(find_elsewhere(world.work()));
    EXPECT_FALSE(find_elsewhere(world.path("home")));
    EXPECT_FALSE(find_elsewhere(world.path("nothing")));
}

// Whoever can write in the work tree must not choose a directory of the user's.
TEST(GitElsewhere, S44_S167_AFileThatLeadsElsewhereChoosesNothing) {
    const Linked linked;
    const World other;
    other.commit("first", {{"a", "1\n"}});
    other.git({"worktree", "add", "-q", "-b", "side", other.path("tree")});
    const std::string theirs = other.work() + "/.git";
    for (const std::string& directory :
         {theirs, theirs + "/worktrees/tree", theirs + "/refs", linked.world.work() + "/.git",
          linked.tree(), std::string("."), std::string(".."), std::string("/"),
          std::string("nothing"), std::string("")}) {
        linked.point_to(directory);
        EXPECT_FALSE(find_elsewhere(linked.tree())) << directory;
    }
    // Its own directory, made by hand, that names the repository of somebody else as shared.
    const std::string made = linked.world.path("home") + "/made";
    files::create_directories(made);
    std::ofstream(made + "/gitdir") << linked.tree() << "/.git\n";
    std::ofstream(made + "/commondir") << theirs << "\n";
    linked.point_to(made);
    EXPECT_FALSE(find_elsewhere(linked.tree()));
    // Another one's, which only says so.
    std::ofstream(theirs + "/worktrees/tree/gitdir") << linked.tree() << "/.git\n";
    linked.point_to(theirs + "/worktrees/tree");
    EXPECT_TRUE(find_elsewhere(linked.tree())) << "who can write there has it already";
}

}  // namespace
}  // namespace unwrite::git::tests
