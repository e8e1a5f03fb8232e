// What git would execute because of what its files say; no tree.
#include "overlay/git_config.h"

#include <gtest/gtest.h>

namespace unwrite::overlay {
namespace {

using Settings = std::set<std::string>;

TEST(GitConfigs, WhatPeopleAndAgentsSetEveryDayExecutesNothingS44) {
    EXPECT_EQ(executing_settings(R"([core]
	repositoryformatversion = 0
	filemode = true
	bare = false
	logallrefupdates = true
	fsmonitor = true
	worktree = ../../../lib
[remote "origin"]
	url = https://example.com/a::b.git
	fetch = +refs/heads/*:refs/remotes/origin/*
	pushurl = git@example.com:x/y.git
[branch "main"]
	remote = origin
	merge = refs/heads/main
	rebase = true
[user]
	name = "A; # B"
	email = a@example.com
	signingkey = ABC
[push]
	default = simple
	autoSetupRemote
[merge]
	conflictStyle = diff3
	tool = vimdiff
[alias]
	st = status --short
	lg = log --oneline --graph --pretty=format:'%h - %s (%cr) <%an>' origin/main..
	ci = commit -v
	up = pull --rebase --prune
	undo = reset --soft HEAD~1
[pager]
	log = false
[commit]
	gpgsign = true
[submodule "lib"]
	active = true
	update = rebase
	url = ../lib
[url "https://example.com/"]
	insteadOf = ex:
[protocol "file"]
	allow = always
[diff]
	algorithm = histogram
)"),
              Settings());
}

TEST(GitConfigs, WhatGitWouldExecuteIsNamedS44) {
    const auto one = [](const std::string& text) {
        const Settings found = executing_settings(text);
        return found.size() == 1 ? *found.begin() : std::to_string(found.size()) + " of " + text;
    };
    EXPECT_EQ(one("[core]\n\tfsmonitor = ./watch\n"), "core.fsmonitor = ./watch");
    EXPECT_EQ(one("[CORE]HooksPath=x"), "core.hookspath = x");
    EXPECT_EQ(one("[core] ; c\nsshCommand = \"a b\"  # c\n"), "core.sshcommand = a b");
    EXPECT_EQ(one("[core]\npager = a \\\n b\\\\c\n"), "core.pager = a  b\\c");
    EXPECT_EQ(one("[core]\neditor\n"), "core.editor = true");
    EXPECT_EQ(one("\xef\xbb\xbf[sequence]\r\neditor = x\r\n"), "sequence.editor = x");
    EXPECT_EQ(one("[alias]\nst = status\nrun = !rm -r x\n"), "alias.run = !rm -r x");
    EXPECT_EQ(one("[alias \"run\"]\ncommand = \" !x\"\n"), "alias.run.command =  !x");
    EXPECT_EQ(one("[alias]\ns = -c core.pager=x log\n"), "alias.s = -c core.pager=x log");
    EXPECT_EQ(one("[filter \"lfs\"]\nclean = x\n"), "filter.lfs.clean = x");
    EXPECT_EQ(one("[filter.Lfs]\nsmudge = x\n"), "filter.lfs.smudge = x");
    EXPECT_EQ(one("[credential]\nhelper = store\n"), "credential.helper = store");
    EXPECT_EQ(one("[credential \"https://x.y\"]\nhelper = s\n"),
              "credential.https://x.y.helper = s");
    EXPECT_EQ(one("[include]\npath = ../x\n"), "include.path = ../x");
    EXPECT_EQ(one("[includeIf \"gitdir:~/a\\\"]\"]\npath = x\n"),
              "includeif.gitdir:~/a\"].path = x");
    EXPECT_EQ(one("[diff \"x\"]\ntextconv = y\n"), "diff.x.textconv = y");
    EXPECT_EQ(one("[diff]\nexternal = y\n"), "diff.external = y");
    EXPECT_EQ(one("[merge \"x\"]\ndriver = y\n"), "merge.x.driver = y");
    EXPECT_EQ(one("[gpg]\nprogram = y\n"), "gpg.program = y");
    EXPECT_EQ(one("[gpg \"ssh\"]\nprogram = y\n"), "gpg.ssh.program = y");
    EXPECT_EQ(one("[remote \"o\"]\nurl = ext::sh -c x\n"), "remote.o.url = ext::sh -c x");
    EXPECT_EQ(one("[url \"ext::sh -c \"]\ninsteadOf = https://\n"),
              "url.ext::sh -c .insteadof = https://");
    EXPECT_EQ(one("[pager]\nstatus = x\n"), "pager.status = x");
    EXPECT_EQ(one("[diff]\ntool = ../../evil\n"), "diff.tool = ../../evil");
    EXPECT_EQ(one("[merge]\nguitool = /x/evil\n"), "merge.guitool = /x/evil");
    EXPECT_EQ(one("[mergetool \"vimdiff\"]\nlayout = `x`\n"), "mergetool.vimdiff.layout = `x`");
    EXPECT_EQ(one("[rebase]\ninstructionFormat = %s%nexec x\n"),
              "rebase.instructionformat = %s%nexec x");
    EXPECT_EQ(one("[submodule \"l\"]\nupdate = !x\n"), "submodule.l.update = !x");
}

TEST(GitConfigs, AnAliasThatMayRunAProgramOrWriteElsewhereIsNamedS44) {
    for (const char* value :
         {"grep -O./evil x", "rebase --exec x", "bisect run x", "submodule foreach x",
          "difftool -x x", "fetch --upload-pack=x", "fetch --up=x", "push --exec x", "push --rec x",
          "log --output=../x", "log --outp /x", "log -p --ext-diff", "log \\\"--output=x\\\"",
          "log -\\\"-output=x\\\"", "log \\\"\\\"--output=x", "fetch ext::x", "st", "-c a=b log",
          "!x"}) {
        EXPECT_EQ(executing_settings("[alias]\ns = " + std::string(value) + "\n").size(), 1U)
            << value;
    }
}

TEST(GitConfigs, AWorkTreeOutsideOfTheWorkspaceIsNamedS44) {
    const auto leads = [](const char* path, const std::string& to) {
        return executing_settings(path, "[core]\nworktree = " + to + "\n").size() == 1;
    };
    EXPECT_FALSE(leads(".git/modules/lib/config", "../../../lib"));
    EXPECT_FALSE(leads("a/.git/modules/lib/config", "../../../lib"));
    EXPECT_FALSE(leads(".git/config", ".."));
    EXPECT_TRUE(leads(".git/config", "../.."));
    EXPECT_TRUE(leads(".git/config", "a/../../../b"));
    EXPECT_TRUE(leads(".git/modules/lib/config", "../../../../lib"));
    EXPECT_TRUE(leads(".git/config", "/home/x"));
    EXPECT_TRUE(leads(".git/config.worktree", "/home/x"));
}

TEST(GitConfigs, TheCommandsOfARebaseAreNamedS44) {
    const char* const todo = ".git/rebase-merge/git-rebase-todo";
    EXPECT_EQ(
        executing_settings(todo, "pick abc one\nexec make  test\n# exec x\n  x ./evil\nexec\n"),
        (Settings{"exec make  test", "exec ./evil"}));
    EXPECT_EQ(executing_settings(todo, ""), Settings());
}

TEST(GitConfigs, BrokenLinesHideNothingS44) {
    for (const char* before : {"", "nonsense\n", "[bro ken\n", "[a \"b\n", "=\n", "x = \"y\n",
                               "[x]\ny = \"z\\\n", "\n\n[]\n", "\\\n"}) {
        const std::string text = std::string(before) + "\n[core]\nfsmonitor = x\n";
        EXPECT_EQ(executing_settings(text), Settings{"core.fsmonitor = x"}) << text;
    }
    EXPECT_EQ(executing_settings("[core]\n# fsmonitor = x\n; pager = y\n"), Settings());
    EXPECT_EQ(executing_settings("[core]\nfsmonitor = \\"), Settings());
    EXPECT_EQ(executing_settings("[core"), Settings());
}

TEST(GitConfigs, TheNameOfTheFileSaysHowItIsReadS44) {
    const std::string bad = "[core]\npager = x\n";
    for (const char* path : {".git/config", "a/.git/modules/b/CONFIG", ".git/config.worktree"})
        EXPECT_EQ(executing_settings(path, bad).size(), 1U) << path;
    EXPECT_EQ(executing_settings(".git/description", bad), Settings());
    for (const char* good : {"gitdir: ../.git/modules/lib\n", "gitdir: /a/b/.git/worktrees/x",
                             "gitdir: ../../.git/modules/a/modules/b\n"})
        EXPECT_EQ(executing_settings("lib/.git", good), Settings()) << good;
    for (const char* elsewhere :
         {"gitdir: ../x\n", "gitdir: .git/x", "gitdir: .git/modules/../../x",
          "gitdir: modules/.git", "gitdir: .git"})
        EXPECT_EQ(executing_settings("lib/.git", elsewhere).size(), 1U) << elsewhere;
    EXPECT_EQ(executing_settings("lib/.git", ""), Settings());
    EXPECT_EQ(executing_settings(".git/worktrees/x/commondir", "../..\n"), Settings());
    EXPECT_EQ(executing_settings(".git/commondir", "../x\n"), Settings{"commondir: ../x"});
}

}  // namespace
}  // namespace unwrite::overlay
