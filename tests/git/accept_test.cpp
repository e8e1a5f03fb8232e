// One commit of what was accepted, and of nothing else (S76, D17).
#include "git/accept.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tests/git/world.h"

namespace unwrite::git::tests {
namespace {

using Names = std::vector<std::string>;

class GitAccept : public ::testing::Test {
 protected:
    void SetUp() override {
        world_.commit("start", {{"a", "0\n"}, {"b", "0\n"}, {"dir/c", "0\n"}, {"gone", "0\n"}});
        start_ = world_.head();
    }
    Result<Accepted> accept(const std::set<std::string>& paths,
                            const std::set<std::string>& except = {}) {
        TRY_ASSIGN(const Repository repository, Repository::open(programs_, world_.work()));
        return commit_accepted(repository, {paths, except}, "accepted\n\nwith a body");
    }
    std::string status() const { return world_.git({"status", "--porcelain"}); }
    std::string changed() const {
        return world_.git({"show", "--format=", "--name-status", "HEAD"});
    }
    void expect_refused(const std::set<std::string>& paths, ErrorKind kind) {
        const std::string before = world_.git({"status", "--porcelain=v2"});
        const auto accepted = accept(paths);
        ASSERT_FALSE(accepted);
        EXPECT_EQ(accepted.error().kind(), kind) << accepted.error().message();
        EXPECT_EQ(world_.head(), start_);
        EXPECT_EQ(world_.git({"status", "--porcelain=v2"}), before);
    }
    World world_;
    InstalledPrograms programs_;
    std::string start_;
};

TEST_F(GitAccept, S76_WhatIsAcceptedAndNothingElse) {
    world_.write("a", "1\n");
    world_.write("b", "1\n");
    world_.write("new", "1\n");
    world_.write("dir/new too", "1\n");
    world_.write("not mine", "1\n");
    ::unlink((world_.work() + "/gone").c_str());
    ASSERT_ASSIGN(const Accepted accepted, accept({"a", "new", "dir", "gone"}));
    EXPECT_EQ(accepted.files, (Names{"a", "dir/new too", "gone", "new"}));
    EXPECT_EQ(accepted.commit, world_.head());
    EXPECT_EQ(accepted.branch, "main");
    EXPECT_EQ(changed(), "M\ta\nA\tdir/new too\nD\tgone\nA\tnew");
    EXPECT_EQ(status(), " M b\n?? \"not mine\"");
    EXPECT_EQ(world_.git({"log", "-1", "--format=%B"}), "accepted\n\nwith a body\n");
}

TEST_F(GitAccept, S76_WhatWasStagedBesideItStaysStaged) {
    world_.write("b", "staged\n");
    world_.write("staged too", "1\n");
    world_.git({"add", "b", "staged too"});
    world_.write("b", "and changed\n");
    world_.write("a", "1\n");
    ASSERT_OK(accept({"a"}));
    EXPECT_EQ(changed(), "M\ta");
    EXPECT_EQ(status(), "MM b\nA  \"staged too\"");
    EXPECT_EQ(world_.git({"show", ":b"}), "staged");
}

TEST_F(GitAccept, S76_AnAcceptedFileIsTakenAsItIsNotAsItWasStaged) {
    world_.write("a", "staged\n");
    world_.git({"add", "a"});
    world_.write("a", "accepted\n");
    const std::string staged = world_.git({"rev-parse", ":a"});
    ASSERT_ASSIGN(const Accepted accepted, accept({"a"}));
    EXPECT_EQ(world_.git({"show", "HEAD:a"}), "accepted");
    EXPECT_EQ(status(), "");
    // What was staged is in no commit and not in the index any more: it can be found by its name.
    using Pairs = std::vector<std::pair<std::string, std::string>>;
    EXPECT_EQ(accepted.staged_otherwise, (Pairs{{"a", staged}}));
    EXPECT_EQ(world_.git({"cat-file", "-p", staged}), "staged");
}

TEST_F(GitAccept, S76_WhatIsExceptedIsNotInIt) {
    world_.write("dir/c", "1\n");
    world_.write("dir/open/x", "1\n");
    world_.write("dir/open/accepted/y", "1\n");
    world_.write("dir/other/z", "1\n");
    ASSERT_OK(accept({"dir", "dir/open/accepted"}, {"dir/open", "dir/c"}));
    EXPECT_EQ(changed(), "A\tdir/open/accepted/y\nA\tdir/other/z");
    EXPECT_EQ(status(), " M dir/c\n?? dir/open/x");
}

TEST_F(GitAccept, S76_ARepositoryInsideIsLeftOutAndSaid) {
    world_.write("a", "1\n");
    for (const char* name : {"nested", "new/empty"}) {
        std::filesystem::create_directories(world_.work() + "/" + name);
        world_.git_in(world_.work() + "/" + name, {"init", "--quiet"});
    }
    world_.git_in(world_.work() + "/nested",
                  {"-c", "user.name=n", "-c", "user.email=n@example.invalid", "commit", "--quiet",
                   "--allow-empty", "-m", "nested"});
    ASSERT_ASSIGN(const Accepted accepted, accept({"a", "nested", "new"}));
    EXPECT_EQ(changed(), "M\ta");
    EXPECT_EQ(accepted.left_out,
              (Names{"nested/: a repository of its own", "new/empty/: a repository of its own"}));
}

TEST_F(GitAccept, S76_AHookThatRefusesLeavesTheIndexOfAPersonAlone) {
    world_.git({"rm", "--quiet", "--cached", "gone"});  // and the file is still there
    world_.write("b", "staged\n");
    world_.git({"add", "b"});
    world_.write("b", "and changed\n");
    world_.write("later", "1\n");
    world_.git({"add", "--intent-to-add", "later"});
    const std::string hook = world_.work() + "/.git/hooks/pre-commit";
    world_.write(".git/hooks/pre-commit", "#!/bin/sh\nexit 1\n");
    ASSERT_EQ(::chmod(hook.c_str(), 0755), 0);
    world_.write("new", "1\n");
    expect_refused({"gone", "b", "later", "new"}, ErrorKind::kSystem);
    EXPECT_EQ(world_.git({"show", ":b"}), "staged");
    ASSERT_EQ(::unlink(hook.c_str()), 0);
    ASSERT_OK(accept({"new", "later"}));
    EXPECT_EQ(changed(), "A\tlater\nA\tnew");
    EXPECT_EQ(status(), "MM b\nD  gone\n?? gone");
}

TEST_F(GitAccept, S76_AHookMayTakeItsTime) {
    world_.write("a", "1\n");
    std::chrono::milliseconds limit(0);
    WatchedPrograms programs([&](const ProcessRequest& request) {
        if (has_word(request, "commit")) limit = request.timeout;
        return std::nullopt;
    });
    ASSERT_ASSIGN(const Repository repository, Repository::open(programs, world_.work()));
    ASSERT_OK(commit_accepted(repository, {{"a"}, {}}, "accepted"));
    EXPECT_GE(limit, std::chrono::hours(1));
}

TEST_F(GitAccept, S76_AnInterruptionEndsGitAndItsHooks) {
    world_.write("a", "1\n");
    world_.write("new", "1\n");
    const std::string before = status();
    const auto accept_until = [&](const std::string& hook) -> Result<Accepted> {
        world_.write(".git/hooks/" + hook, "#!/bin/sh\ntouch .git/begun\nexec sleep 300\n");
        ::chmod((world_.work() + "/.git/hooks/" + hook).c_str(), 0755);
        TRY_ASSIGN(const Repository repository, Repository::open(programs_, world_.work()));
        return commit_accepted(repository, {{"a", "new"}, {}}, "accepted",
                               [&] { return world_.exists(".git/begun"); });
    };
    EXPECT_NE(failure_of(accept_until("pre-commit")).find("interrupted"), std::string::npos);
    EXPECT_EQ(world_.head(), start_);
    EXPECT_EQ(status(), before);
    EXPECT_FALSE(world_.exists(".git/index.lock"));
    // Once the commit is made, it is made.
    std::filesystem::remove(world_.work() + "/.git/begun");
    std::filesystem::remove(world_.work() + "/.git/hooks/pre-commit");
    ASSERT_ASSIGN(const Accepted accepted, accept_until("post-commit"));
    EXPECT_EQ(accepted.commit, world_.head());
    EXPECT_EQ(changed(), "M\ta\nA\tnew");
    EXPECT_EQ(status(), "");
}

TEST_F(GitAccept, S76_AHookThatFormatsLeavesNothingStaged) {
    world_.write(
        ".git/hooks/pre-commit",
        "#!/bin/sh\nfor f in a new dir/c; do echo formatted >>$f; done\ngit add a new dir\n");
    ::chmod((world_.work() + "/.git/hooks/pre-commit").c_str(), 0755);
    world_.write("a", "1\n");
    world_.write("new", "1\n");
    world_.write("b", "staged\n");
    world_.git({"add", "b"});
    ASSERT_ASSIGN(const Accepted accepted, accept({"a", "new"}));
    EXPECT_EQ(accepted.commit, world_.head());
    EXPECT_EQ(world_.git({"show", "HEAD:a"}), "1\nformatted");
    EXPECT_EQ(changed(), "M\ta\nM\tdir/c\nA\tnew");
    EXPECT_EQ(status(), "M  b");
    // Something of one's own is staged where a hook adds everything: that is not lost.
    world_.write("dir/c", "staged\n");
    world_.git({"add", "dir/c"});
    world_.write("dir/c", "changed since\n");
    world_.write("a", "2\n");
    ASSERT_OK(accept({"a"}));
    EXPECT_EQ(world_.git({"show", "HEAD:dir/c"}), "changed since\nformatted");
    EXPECT_EQ(world_.git({"show", ":dir/c"}), "staged");
}

TEST_F(GitAccept, S76_NamesThatLookLikeSomethingElse) {
    const Names names = {"*", ":(top)", "-m", "new\nline", "\xff"};
    for (const std::string& name : names)
        world_.write(name, "1\n");
    world_.write("a", "1\n");
    ASSERT_ASSIGN(const Accepted accepted, accept({names.begin(), names.end()}));
    EXPECT_EQ(accepted.files.size(), names.size());
    EXPECT_EQ(status(), " M a");
}

TEST_F(GitAccept, S76_WhatGitIgnoresIsLeftOutAndSaid) {
    world_.write(".gitignore", "*.log\nbuild/\n");
    world_.git({"add", ".gitignore"});
    world_.git({"commit", "--quiet", "-m", "ignore"});
    start_ = world_.head();
    world_.write("x.log", "1\n");
    world_.write("build/out", "1\n");
    expect_refused({"x.log", "build"}, ErrorKind::kNothing);
    world_.write("a", "1\n");
    ASSERT_ASSIGN(const Accepted accepted, accept({"a", "x.log", "build"}));
    EXPECT_EQ(accepted.left_out, (Names{"build/: ignored", "x.log: ignored"}));
    EXPECT_EQ(changed(), "M\ta");
}

TEST_F(GitAccept, S76_AHookThatRefusesLeavesAllAsItWas) {
    const std::string hook = world_.work() + "/.git/hooks/pre-commit";
    world_.write(".git/hooks/pre-commit", "#!/bin/sh\necho no >&2\nexit 1\n");
    ASSERT_EQ(::chmod(hook.c_str(), 0755), 0);
    world_.write("a", "1\n");
    world_.write("new", "1\n");
    expect_refused({"a", "new"}, ErrorKind::kSystem);
    ASSERT_EQ(::unlink(hook.c_str()), 0);
    ASSERT_OK(accept({"a", "new"}));
}

TEST_F(GitAccept, S76_AMergeUnderwayIsRefusedByName) {
    world_.git({"branch", "side"});
    world_.commit("ours", {{"a", "ours\n"}});
    world_.git({"switch", "--quiet", "side"});
    world_.commit("theirs", {{"a", "theirs\n"}});
    start_ = world_.head();
    ProcessRequest merge;
    merge.arguments = {"git", "-C", world_.work(), "merge", "--quiet", "main"};
    quieten(merge);
    ASSERT_OK(programs_.run(merge));
    const auto accepted = accept({"a"});
    ASSERT_FALSE(accepted);
    EXPECT_EQ(accepted.error().kind(), ErrorKind::kConflict);
    EXPECT_NE(accepted.error().message().find("merge"), std::string::npos);
    EXPECT_EQ(world_.head(), start_);
    // A file that is not a part of the merge as well.
    world_.write("b", "1\n");
    expect_refused({"b"}, ErrorKind::kConflict);
}

TEST_F(GitAccept, S76_ASubmodulesOwnChangesAreItsOwn) {
    world_.git(
        {"-c", "protocol.file.allow=always", "submodule", "--quiet", "add", world_.work(), "sub"});
    world_.git({"commit", "--quiet", "-m", "with it"});
    start_ = world_.head();
    world_.write("sub/a", "1\n");
    world_.write("b", "1\n");
    ASSERT_ASSIGN(const Accepted accepted, accept({"sub", "b"}));
    EXPECT_EQ(accepted.files, Names{"b"});
    EXPECT_EQ(accepted.left_out, Names{"sub: a submodule with changes of its own"});
    // As a workspace names it: by the files in it.
    world_.git_in(world_.work() + "/sub",
                  {"-c", "user.name=s", "-c", "user.email=s@example.invalid", "commit", "--quiet",
                   "-a", "-m", "its own"});
    world_.write("b", "2\n");
    ASSERT_ASSIGN(const Accepted part, accept({"sub/a", "b"}, {"sub/b"}));
    EXPECT_EQ(part.files, Names{"b"});
    EXPECT_EQ(part.left_out, Names{"sub: a submodule of which not all is accepted"});
    ASSERT_ASSIGN(const Accepted all, accept({"sub/a"}));
    EXPECT_EQ(all.files, Names{"sub"});
    world_.git_in(world_.work() + "/sub",
                  {"-c", "user.name=s", "-c", "user.email=s@example.invalid", "commit", "--quiet",
                   "--allow-empty", "-m", "nothing"});
    ASSERT_ASSIGN(const Accepted empty, accept({".git/modules/sub/logs/HEAD"}));
    EXPECT_EQ(empty.files, Names{"sub"});
    world_.write("sub/a", "2\n");
    world_.write("b", "3\n");
    ASSERT_ASSIGN(const Accepted beside, accept({"b"}));
    EXPECT_EQ(beside.left_out, Names{});
}

TEST_F(GitAccept, S76_DetachedAndBeforeTheFirstCommit) {
    world_.git({"switch", "--quiet", "--detach"});
    world_.write("a", "1\n");
    ASSERT_ASSIGN(const Accepted accepted, accept({"a"}));
    EXPECT_EQ(accepted.branch, "");
    world_.git({"switch", "--quiet", "--orphan", "fresh"});
    world_.write("first", "1\n");
    ASSERT_ASSIGN(const Accepted first, accept({"first"}));
    EXPECT_EQ(first.branch, "fresh");
    EXPECT_EQ(world_.git({"log", "--format=%s"}), "accepted");
}

}  // namespace
}  // namespace unwrite::git::tests
