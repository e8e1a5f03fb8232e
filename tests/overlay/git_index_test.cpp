// Indexes that git itself wrote: what only `git status` changed in them is no change, everything
// else is one.
#include "overlay/git_index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>

#include "base/process.h"
#include "tests/support/scratch.h"

namespace unwrite::tests {
namespace {

using overlay::same_git_entries;

struct Kind {
    const char* name;
    const char* format;
    const char* version;
};
constexpr Kind kKinds[] = {{"sha1", "sha1", "2"},
                           {"version4", "sha1", "4"},
                           {"sha256", "sha256", "2"},
                           {"sha256_version4", "sha256", "4"}};

void PrintTo(const Kind& kind, std::ostream* out) {
    *out << kind.name;
}

/// A script of the shell in the repository.
void run_in(const Scratch& scratch, const std::string& script) {
    ProcessRequest request;
    request.arguments = {"sh", "-c", script};
    request.directory = scratch.path();
    request.unset = {"GIT_DIR", "GIT_INDEX_FILE"};
    request.set = {{"GIT_CONFIG_GLOBAL", "/dev/null"}, {"GIT_CONFIG_SYSTEM", "/dev/null"}};
    ASSERT_ASSIGN(const ProcessOutcome outcome, run_process(request));
    ASSERT_EQ(outcome.exit_code, 0) << script << "\n" << outcome.err;
}

class GitIndex : public testing::TestWithParam<Kind> {
 protected:
    void SetUp() override {
        run(std::string("git init -q --object-format=") + GetParam().format + " -b main . && " +
            "git config user.name t && git config user.email t@example.invalid && git config "
            "index.version " +
            GetParam().version +
            " && mkdir -p d/e && for i in 1 2 3 4 5 6 7 8 9; do echo $i >file$i; "
            "echo $i >d/e/nine-letters-$i; done && git add . && git commit -q -m start");
    }
    void run(const std::string& script) { run_in(scratch_, script); }
    std::string index() { return scratch_.read(".git/index"); }

    Scratch scratch_;
};

TEST_P(GitIndex, D19_LookingAgainIsNoChange) {
    const std::string before = index();
    ASSERT_FALSE(before.empty());
    EXPECT_TRUE(same_git_entries(before, before));
    const auto names = overlay::git_index_names(before);
    ASSERT_EQ(names.size(), 18U);
    EXPECT_EQ(names.front(), "d/e/nine-letters-1");
    EXPECT_EQ(names.back(), "file9");
    EXPECT_TRUE(overlay::git_index_names(before + "x").empty());
    for (const char* look :
         {"touch -d 2001-01-01 file1 d/e/*1; git status",
          "git config core.untrackedCache true; touch new; git status",
          "git update-index --index-version $((6 - $(git config index.version)))",
          "rm .git/index; git read-tree HEAD",
          "git update-index --refresh; git read-tree HEAD; git status"}) {
        const std::string was = index();
        run(std::string(look) + " >out 2>&1");
        EXPECT_NE(was, index()) << look;
        EXPECT_TRUE(same_git_entries(was, index())) << look;
        EXPECT_TRUE(same_git_entries(index(), before)) << look;
    }
}

TEST_P(GitIndex, D19_EveryOtherChangeIsOne) {
    for (const char* change :
         {"echo x >file1; git add file1", "git rm -q --cached d/e/nine-letters-3",
          "chmod +x file2; git add file2", "echo n >new; git add -N new", "git add new",
          "git update-index --assume-unchanged file4", "git update-index --skip-worktree file5",
          "git mv file6 other", "git reset -q", "git checkout -q -b side; git commit -qam side",
          "git checkout -q main; echo other >file1; git commit -qam other; ! git merge side",
          "git checkout -q --ours file1; git add file1", "git rm -rq --cached ."}) {
        const std::string was = index();
        run(std::string(change) + " >out 2>&1");
        EXPECT_FALSE(same_git_entries(was, index())) << change;
        EXPECT_FALSE(same_git_entries(index(), was)) << change;
        EXPECT_TRUE(same_git_entries(index(), index())) << change;
    }
}

// Every byte matters, or it is a stat datum, or a checksum, or in a cache.
TEST_P(GitIndex, D19_WhatIsNotUnderstoodIsDifferent) {
    run("rm .git/index; git read-tree HEAD");  // nothing in it but zeroes where stat data are
    const std::string whole = index();
    const std::size_t hash = std::string(GetParam().format) == "sha1" ? 20 : 32;
    const std::size_t tree = std::min(whole.find("TREE"), whole.size() - hash);
    for (std::size_t length = 0; length < whole.size(); ++length) {
        if (length == tree + hash) continue;  // without the cache it is whole, too
        ASSERT_FALSE(same_git_entries(whole, whole.substr(0, length))) << length;
    }
    ASSERT_FALSE(same_git_entries(whole, whole + '\0'));
    ASSERT_FALSE(same_git_entries(whole, ""));
    ASSERT_FALSE(same_git_entries("DIRC", "DIRD"));
    std::size_t ignored = 0;
    for (std::size_t at = 0; at < whole.size(); ++at) {
        std::string other = whole;
        other[at] = static_cast<char>(other[at] ^ 1);
        ignored += same_git_entries(whole, other) ? 1U : 0U;
    }
    const std::size_t cached = whole.size() - hash - tree;
    // The version is no entry: 3 is 2 with flags that no entry here has.
    const std::size_t version = std::string(GetParam().version) == "2" ? 1 : 0;
    EXPECT_EQ(ignored, version + 18 * 36 + hash + (cached > 8 ? cached - 8 : 0));
}

INSTANTIATE_TEST_SUITE_P(Kinds, GitIndex, testing::ValuesIn(kKinds),
                         [](const auto& one) { return std::string(one.param.name); });

TEST(GitIndexOf, ASplitIndexIsNotUnderstood) {
    const Scratch scratch;
    run_in(scratch, "git init -q . && echo 1 >a && git add a && git update-index --split-index");
    const std::string was = scratch.read(".git/index");
    run_in(scratch, "echo 2 >a && git add a");
    EXPECT_TRUE(same_git_entries(was, was));
    EXPECT_FALSE(same_git_entries(was, scratch.read(".git/index")));
}

TEST(GitIndexOf, PathsOfGitsBookkeeping) {
    for (const char* path : {".git/index", "a/.git/index", ".git/worktrees/w/index",
                             ".git/modules/m/index", "a.git/.git/index"})
        EXPECT_TRUE(overlay::is_git_index(path)) << path;
    for (const char* path : {"index", "a/index", ".git", ".git/index.lock", "x.git/index",
                             ".git/my-index", ".github/index", ""})
        EXPECT_FALSE(overlay::is_git_index(path)) << path;
    for (const char* path : {".git/index.lock", "a/.git/HEAD.lock", ".git/refs/heads/a/b.lock"})
        EXPECT_TRUE(overlay::is_git_lock(path)) << path;
    for (const char* path : {"index.lock", "Cargo.lock", ".git/hooks/a.lock", "x.git/a.lock",
                             ".git/modules/m/hooks/x.lock", ".git/lock", ".git.lock", ""})
        EXPECT_FALSE(overlay::is_git_lock(path)) << path;
}

}  // namespace
}  // namespace unwrite::tests
