// Reading a repository's state without git, compared with what git says.
#include "git/state.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tests/git/world.h"

namespace unwrite::git::tests {
namespace {

using Names = std::vector<std::string>;

GitState read_at(const std::string& path, Reach reach = Reach::kInside) {
    const Result<UniqueFd> directory = sys::open_at(AT_FDCWD, path, O_RDONLY | O_DIRECTORY);
    if (!directory) return {};
    const Result<GitState> state = read_git_state(directory->get(), reach);
    EXPECT_TRUE(state.ok()) << failure_of(state);
    if (!state) return {};
    EXPECT_EQ(from_text(to_text(*state)), *state) << "as a checkpoint keeps it";
    return *state;
}

GitState state_of(const World& world) {
    return read_at(world.work());
}

/// What differs, as words.
Names changed(const GitState& before, const GitState& after) {
    Names names;
    for (const GitDifference& difference : compare(before, after))
        names.push_back(difference.what);
    EXPECT_EQ(names.empty(), before == after);
    return names;
}

TEST(GitState, S47_S74_WithoutARepository) {
    const World world;
    const GitState state = read_at(world.path("home"));
    EXPECT_EQ(state.layout, Layout::kNone);
    EXPECT_EQ(state, GitState{});
}

TEST(GitState, S47_HeadBranchIndexAndStashAsGitSaysThem) {
    const World world;
    const GitState empty = state_of(world);
    EXPECT_EQ(empty.layout, Layout::kDirectory);
    EXPECT_EQ(empty.branch, "refs/heads/main");
    EXPECT_EQ(empty.head, "");
    world.commit("start", {{"a", "0\n"}, {"b", "0\n"}});
    for (int i = 0; i < 3; ++i) {
        world.write("a", "stashed " + std::to_string(i));
        world.git({"stash", "push", "--quiet", "-m", "number\t" + std::to_string(i)});
    }
    const GitState state = state_of(world);
    EXPECT_EQ(state.head, world.head());
    EXPECT_EQ(state.branch, world.git({"symbolic-ref", "HEAD"}));
    std::string stash;
    for (const StashEntry& entry : state.stash)
        stash += entry.commit + " " + entry.message + "\n";
    EXPECT_EQ(stash, world.git({"stash", "list", "--format=%H %gs"}) + "\n");
    EXPECT_EQ(state.stash.size(), 3u);
    EXPECT_FALSE(state.index.empty());
    // Packed refs say the same.
    world.git({"pack-refs", "--all"});
    EXPECT_EQ(changed(state, state_of(world)), Names{});
}

TEST(GitState, S47_S76_EachChangeIsNoticedAndNamed) {
    const World world;
    world.commit("start", {{"a", "0\n"}, {"b", "0\n"}});
    GitState before = state_of(world);
    const auto then = [&](const Names& expected) {
        const GitState now = state_of(world);
        EXPECT_EQ(changed(before, now), expected);
        before = now;
    };
    world.write("untracked", "x");
    world.write("a", "changed\n");
    then({});
    world.git({"add", "a"});
    then({"index"});
    world.git({"commit", "--quiet", "-m", "next"});
    then({"head", "index"});
    world.git({"switch", "--quiet", "--create", "side"});
    then({"branch"});
    world.write("b", "stash me\n");
    world.git({"stash", "push", "--quiet"});
    const Names stashed = changed(before, state_of(world));
    EXPECT_NE(std::find(stashed.begin(), stashed.end(), "stash"), stashed.end());
    before = state_of(world);
    world.git({"switch", "--quiet", "--detach"});
    then({"branch"});
    world.git({"worktree", "add", "--quiet", "--detach", world.path("tree")});
    then({"worktrees"});
}

TEST(GitState, S76_WhatIsUnderway) {
    const World world;
    world.commit("start", {{"a", "0\n"}});
    world.git({"branch", "side"});
    world.commit("ours", {{"a", "ours\n"}});
    world.git({"switch", "--quiet", "side"});
    world.commit("theirs", {{"a", "theirs\n"}});
    // Each of these ends in a conflict, as git's exit code says.
    const std::pair<const char*, Names> cases[] = {{"merge", {"merge", "main"}},
                                                   {"cherry-pick", {"cherry-pick", "main"}},
                                                   {"rebase", {"rebase", "main"}},
                                                   {"revert", {"revert", "HEAD~1"}}};
    world.commit("again", {{"a", "theirs again\n"}});
    for (const auto& [word, arguments] : cases) {
        ProcessRequest request;
        request.arguments = {"git", "-C", world.work()};
        request.arguments.insert(request.arguments.end(), arguments.begin(), arguments.end());
        ASSERT_ASSIGN(const ProcessOutcome outcome, run_process(request));
        EXPECT_NE(outcome.exit_code, 0) << word;
        EXPECT_EQ(state_of(world).underway, word);
        world.git({word, "--abort"});
        EXPECT_EQ(state_of(world).underway, "") << word;
    }
    world.git({"bisect", "start"});
    EXPECT_EQ(state_of(world).underway, "bisect");
}

TEST(GitState, S76_SubmodulesAndLinkedWorkTrees) {
    const World world;
    const World other;
    other.commit("start", {{"x", "x"}});
    world.commit("start", {{"a", "0\n"}});
    EXPECT_FALSE(state_of(world).submodules);
    world.git(
        {"-c", "protocol.file.allow=always", "submodule", "--quiet", "add", other.work(), "sub"});
    EXPECT_TRUE(state_of(world).submodules);
    const GitState inside = read_at(world.work() + "/sub");
    EXPECT_EQ(inside.layout, Layout::kFile);
    EXPECT_TRUE(inside.outside);
    EXPECT_EQ(inside.head, "");
    EXPECT_EQ(read_at(world.work() + "/sub", Reach::kAnywhere).head, other.head());

    const std::string tree = world.path("tree");
    world.git({"worktree", "add", "--quiet", "-b", "second", tree});
    const GitState linked = read_at(tree, Reach::kAnywhere);
    EXPECT_EQ(linked.layout, Layout::kFile);
    EXPECT_EQ(linked.branch, "refs/heads/second");
    EXPECT_EQ(linked.head, world.head());
    EXPECT_TRUE(linked.worktrees);
    EXPECT_EQ(read_at(tree).head, "");
}

TEST(GitState, S47_S77_S78_S79_PuttingTheFilesBackPutsTheStateBack) {
    const World world;
    world.commit("start", {{"a", "0\n"}, {"b", "0\n"}, {"c", "0\n"}});
    world.write("a", "stashed\n");
    world.git({"stash", "push", "--quiet"});
    world.write("b", "staged\n");
    world.git({"add", "b"});
    const GitState before = state_of(world);
    const std::string said = world.git({"status", "--porcelain=v2", "--branch", "--show-stash"});
    std::filesystem::copy(world.work(), world.path("copy"),
                          std::filesystem::copy_options::recursive);
    world.git({"stash", "drop", "--quiet"});
    world.git({"commit", "--quiet", "-m", "more"});
    world.git({"switch", "--quiet", "--create", "other"});
    EXPECT_EQ(changed(before, state_of(world)), (Names{"head", "branch", "index", "stash"}));
    std::filesystem::remove_all(world.work());
    std::filesystem::rename(world.path("copy"), world.work());
    EXPECT_EQ(changed(before, state_of(world)), Names{});
    EXPECT_EQ(world.git({"status", "--porcelain=v2", "--branch", "--show-stash"}), said);
}

TEST(GitState, S47_AnIndexWithoutItsDigest) {
    const World world;
    world.git({"config", "index.skipHash", "true"});
    world.commit("start", {{"a", "0\n"}, {"b", "0\n"}});
    // Whether this git knows the setting or not: the same bytes without a digest.
    std::string index = world.read(".git/index");
    std::fill(index.end() - 20, index.end(), '\0');
    world.write(".git/index", index);
    const GitState one = state_of(world);
    EXPECT_NE(one.index.find("crc32c"), std::string::npos);
    index[index.size() - 30] ^= 1;
    world.write(".git/index", index);
    EXPECT_EQ(changed(one, state_of(world)), Names{"index"});
}

TEST(GitState, S47_HostileRepositoriesNeitherHangNorLeadAstray) {
    const World world;
    world.commit("start", {{"a", "0\n"}});
    const World secret;
    secret.commit("start", {{"a", "secret\n"}});
    const std::string git = world.work() + "/.git/";
    const auto fails = [&] {
        const Result<UniqueFd> directory =
            sys::open_at(AT_FDCWD, world.work(), O_RDONLY | O_DIRECTORY);
        return directory.ok() && !read_git_state(directory->get()).ok();
    };
    std::filesystem::rename(git + "HEAD", git + "HEAD.real");
    ASSERT_EQ(::mkfifo((git + "HEAD").c_str(), 0600), 0);
    EXPECT_TRUE(fails());
    std::filesystem::remove(git + "HEAD");
    std::filesystem::create_symlink(secret.work() + "/.git/HEAD", git + "HEAD");
    EXPECT_TRUE(fails());
    std::filesystem::remove(git + "HEAD");
    std::filesystem::rename(git + "HEAD.real", git + "HEAD");
    std::filesystem::rename(git + "refs", git + "refs.real");
    std::filesystem::create_directory_symlink(secret.work() + "/.git/refs", git + "refs");
    EXPECT_NE(state_of(world).head, secret.head());
    for (const std::string& line :
         {std::string("ref: refs/../../../../etc/passwd"), std::string("ref: /etc/passwd"),
          std::string("nonsense\0x", 10), std::string()}) {
        world.write(".git/HEAD", line);
        EXPECT_EQ(state_of(world).head, "") << line;
    }
    std::filesystem::remove_all(git);
    std::filesystem::create_directory_symlink(secret.work() + "/.git", world.work() + "/.git");
    EXPECT_EQ(state_of(world).layout, Layout::kOther);
    EXPECT_EQ(state_of(world).head, "");
}

TEST(GitState, S47_AnyTextGivesSomeState) {
    EXPECT_EQ(from_text(""), GitState());
    EXPECT_EQ(from_text("\n \nno such word\nlayout\nstash\0"), GitState());
    const GitState state = from_text("head  \nstash  \nstash a\nrefs-known maybe\nlayout what");
    EXPECT_EQ(state.head, " ");
    EXPECT_EQ(state.stash, (std::vector<StashEntry>{{"", ""}, {"a", ""}}));
    EXPECT_FALSE(state.refs_known);
}

TEST(GitState, S47_ReadingChangesNothing) {
    const World world;
    world.commit("start", {{"a", "0\n"}});
    const auto times = [&] {
        std::string text;
        for (const auto& entry :
             std::filesystem::recursive_directory_iterator(world.work() + "/.git")) {
            text += entry.path().string() + " " +
                    std::to_string(entry.last_write_time().time_since_epoch().count()) + "\n";
        }
        return text;
    };
    const std::string before = times();
    state_of(world);
    EXPECT_EQ(times(), before);
}

}  // namespace
}  // namespace unwrite::git::tests
