// `unwrite git` as a program: exit codes, what is printed where, JSON. What it does is tested in
// tests/git.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <csignal>

#include "control/protocol.h"
#include "tests/cli/scratch.h"

namespace unwrite::cli {
namespace {

struct Outcome {
    int code = -1;
    std::string out;
    std::string err;
};

/// Runs a script of the shell in the repository `work` with $U as the program.
Outcome shell(const Scratch& scratch, const std::string& script) {
    const std::string source = std::getenv("UNWRITE_SOURCE_DIR");
    const std::string all =
        "set -e; cd '" + scratch.path() + "'; mkdir -p work home gh; cd work; export HOME='" +
        scratch.path() + "/home' XDG_CONFIG_HOME= GIT_CONFIG_GLOBAL=/dev/null GH_STUB='" +
        scratch.path() + "/gh' PATH='" + source + "/tests/git/stub':\"$PATH\" U='" +
        std::string(std::getenv("UNWRITE_BUILD_DIR")) + "/unwrite'\n{ " + script + "\n} >'" +
        scratch.path() + "/out' 2>'" + scratch.path() + "/err' </dev/null";
    Outcome outcome;
    const int status = std::system(all.c_str());
    outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    outcome.out = scratch.read("out");
    outcome.err = scratch.read("err");
    return outcome;
}

/// A start, a commit of the agent for issue 7, one for issue 70.
void make_repository(const Scratch& scratch) {
    const Outcome made = shell(scratch, R"(
        git init -q -b main
        git config user.name t; git config user.email t@example.invalid
        echo 0 >a; git add a; git commit -q -m start
        echo 1 >a; echo 1 >b; git add a b; git commit -q -m 'gitclaw: work on issue #7'
        echo 70 >c; git add c; git commit -q -m 'gitclaw: work on issue #70')");
    ASSERT_EQ(made.code, 0) << made.err;
}

TEST(GitCommand, S107_S112_UndoPrintsTheReply) {
    const Scratch scratch;
    make_repository(scratch);
    const Outcome undo = shell(scratch, "$U git undo --issue 7");
    EXPECT_EQ(undo.code, 0) << undo.err;
    EXPECT_TRUE(undo.out.starts_with("## 🔙 Undo complete\n\n**Reverted 1 commit(s):**\n- `"))
        << undo.out;
    EXPECT_NE(undo.out.find("**Files restored:**\n- `a`\n- `b`\n"), std::string::npos) << undo.out;
    EXPECT_EQ(undo.err, "");
    EXPECT_EQ(scratch.read("work/a"), "0\n");
    EXPECT_EQ(scratch.read("work/c"), "70\n");
}

TEST(GitCommand, S108_TheNumberIsChecked) {
    const Scratch scratch;
    make_repository(scratch);
    for (const char* words : {"0", "-1", "many", "1 2", "''", "2000000"}) {
        const Outcome undo = shell(scratch, "$U git undo --issue 7 " + std::string(words));
        EXPECT_EQ(undo.code, 2) << words << undo.err;
        EXPECT_NE(undo.err.find("\n"), undo.err.size() - 1) << "no way out: " << undo.err;
        EXPECT_TRUE(undo.err.starts_with("unwrite git undo: ")) << undo.err;
        EXPECT_EQ(undo.out, "");
    }
    for (const char* words :
         {"undo", "undo --issue 0", "undo --issue x", "undo --issue '#7'",
          "undo --issue 7 --subject 'no place'", "feedback", "feedback --issue 0", ""}) {
        EXPECT_EQ(shell(scratch, "$U git " + std::string(words)).code, 2) << words;
    }
    EXPECT_EQ(scratch.read("work/a"), "1\n");
}

TEST(GitCommand, S128_ThereIsNoRedoAndNoSelectionOfFiles) {
    const Scratch scratch;
    make_repository(scratch);
    EXPECT_EQ(shell(scratch, "$U git redo --issue 7").code, 2);
    EXPECT_EQ(shell(scratch, "$U git undo --issue 7 1 a").code, 2);
    EXPECT_EQ(scratch.read("work/a"), "1\n");
}

TEST(GitCommand, S117_S120_S125_NothingToUndoIs3) {
    const Scratch scratch;
    make_repository(scratch);
    const Outcome undo = shell(scratch, "$U git undo --issue 8");
    EXPECT_EQ(undo.code, 3);
    EXPECT_EQ(undo.out,
              "## ⚠️ Nothing to undo\n\nI haven't made any file changes on this issue yet. My "
              "previous responses were conversation-only (no code edits).\n");
    EXPECT_EQ(
        undo.err,
        "No agent commits found for this issue to undo.\nThe history of this branch has no "
        "commit with the subject \"gitclaw: work on issue #8\" or one of the other "
        "forms.\nhint: `unwrite git undo --issue 8 --subject 'TEXT {issue}'` looks for another "
        "subject\n");
    // What the reply says already is not said twice.
    const Outcome again = shell(scratch, "$U git undo --issue 7 >&2; $U git undo --issue 7");
    EXPECT_EQ(again.code, 3);
    const std::string words = "The agent's commits for this issue were undone already.";
    EXPECT_NE(again.out.find(words), std::string::npos) << again.out;
    EXPECT_EQ(again.err.find(words), std::string::npos) << again.err;
}

TEST(GitCommand, S115_S127_AConflictIs5AndADirtyTreeToo) {
    const Scratch scratch;
    make_repository(scratch);
    const Outcome dirty = shell(scratch, "echo unsaved >c; $U git undo --issue 7");
    EXPECT_EQ(dirty.code, 5);
    EXPECT_TRUE(dirty.err.starts_with("unwrite git undo: there are uncommitted changes: c.\n"))
        << dirty.err;
    EXPECT_EQ(dirty.out, "");
    const Outcome conflict = shell(scratch,
                                   "git checkout -q c; echo 2 >a; git commit -q -a -m more; "
                                   "$U git undo --issue 7");
    EXPECT_EQ(conflict.code, 5) << conflict.err;
    EXPECT_TRUE(conflict.out.starts_with("## ⚠️ Could not cleanly undo\n")) << conflict.out;
    EXPECT_EQ(scratch.read("work/a"), "2\n");
}

TEST(GitCommand, S107_JsonTellsTheSame) {
    const Scratch scratch;
    make_repository(scratch);
    const Outcome plan = shell(scratch, "$U --json git undo --issue 7 --dry-run");
    const control::Json planned = control::Json::parse(plan.out, nullptr, false);
    ASSERT_TRUE(planned.is_object()) << plan.out;
    EXPECT_EQ(planned["end"], "planned");
    EXPECT_EQ(scratch.read("work/a"), "1\n");
    const Outcome undo = shell(scratch, "$U git undo --json --issue 7");
    const control::Json json = control::Json::parse(undo.out, nullptr, false);
    ASSERT_TRUE(json.is_object()) << undo.out;
    EXPECT_EQ(json["end"], "done");
    EXPECT_EQ(json["files"].dump(), R"(["a","b"])");
    EXPECT_EQ(json["reverted"][0]["subject"], "gitclaw: work on issue #7");
    const Outcome error = shell(scratch, "cd /; $U --json git undo --issue 7");
    EXPECT_EQ(control::Json::parse(error.out, nullptr, false)["error"]["kind"], "not-found");
    EXPECT_EQ(error.code, 1);
}

TEST(GitCommand, S110_S113_S119_TracesAreNamedFromWhereOneStands) {
    const Scratch scratch;
    make_repository(scratch);
    const Outcome undo = shell(scratch,
                               "mkdir sub; echo '{}' >../s.jsonl; ln -s .. up; cd sub; "
                               "$U git undo --issue 7 --session ../up/s.jsonl --memory m.log");
    EXPECT_EQ(undo.code, 0) << undo.err;
    EXPECT_NE(scratch.read("s.jsonl").find("The user invoked /undo"), std::string::npos);
    EXPECT_NE(scratch.read("work/sub/m.log").find("Files reverted: a, b."), std::string::npos);
    // The one that lies in the work tree is committed.
    EXPECT_EQ(shell(scratch, "git log -1 --format=%s").out, "gitclaw: undo changes for issue #7\n");
    EXPECT_EQ(shell(scratch, "$U git undo --issue 70 --memory none/m.log").code, 1);
    EXPECT_EQ(shell(scratch, "$U git undo --issue 70 --session none/s.jsonl").code, 0);
}

TEST(GitCommand, S114_ConventionsOfOnesOwn) {
    const Scratch scratch;
    make_repository(scratch);
    const Outcome undo = shell(scratch, R"(
        mkdir state; echo 1 >state/x; echo 2 >a; git add -A; git commit -q -m 'bot | task 7'
        $U git undo --issue 7 --subject 'other {issue}' --subject 'bot | task {issue}' --state-path state/)");
    EXPECT_EQ(undo.code, 0) << undo.err;
    EXPECT_EQ(scratch.read("work/a"), "1\n");
    EXPECT_EQ(scratch.read("work/state/x"), "1\n");
}

TEST(GitCommand, S120_AMergedRequestIsOfferedAndMadeOnYes) {
    const Scratch scratch;
    make_repository(scratch);
    const Outcome offer = shell(scratch, R"sh(
        git init -q --bare -b main ../o.git; git remote add origin ../o.git; git push -q origin main
        printf '[{"number":3,"url":"u","title":"T","baseRefName":"main","mergeCommit":{"oid":"%s"}}]' \
            "$(git rev-parse HEAD~1)" >../gh/pr-list-merged.out
        echo '{"commits":[]}' >../gh/pr-view.out; echo https://h/4 >../gh/pr-create.out
        $U git undo --issue 7)sh");
    EXPECT_EQ(offer.code, 3) << offer.err;
    EXPECT_TRUE(offer.out.starts_with("## ⚠️ Changes already merged\n")) << offer.out;
    EXPECT_NE(offer.err.find("--revert-merged"), std::string::npos) << offer.err;
    const Outcome made = shell(scratch, "$U git undo --issue 7 --revert-merged");
    EXPECT_EQ(made.code, 0) << made.err;
    EXPECT_NE(made.out.find("**Revert PR:**\n- https://h/4\n"), std::string::npos) << made.out;
    EXPECT_EQ(scratch.read("work/a"), "1\n");
}

TEST(GitCommand, S109_FeedbackIsTheNoteOrNothing) {
    const Scratch scratch;
    make_repository(scratch);
    const Outcome down = shell(scratch, R"(
        echo '[{"id":5,"user":{"login":"bot"}}]' >../gh/comments.out
        echo '[{"content":"-1","user":{"login":"ann"}}]' >../gh/reactions.out
        $U git feedback --issue 7 --agent bot)");
    EXPECT_EQ(down.code, 0) << down.err;
    EXPECT_EQ(down.out,
              "[Note: Your previous response received a 👎 reaction. The user may want you to take "
              "a different approach. Be aware of this feedback.]\n\n");
    const Outcome none = shell(scratch, "$U git feedback --issue 7");
    EXPECT_EQ(none.code, 0) << none.err;
    EXPECT_EQ(none.out, "");
}

TEST(GitCommand, S115_ASignalEndsItBetweenTwoCommits) {
    const Scratch scratch;
    make_repository(scratch);
    // The hook of the first revert's commit sends the signal; the second is then not begun.
    const Outcome undo = shell(scratch, R"sh(
        echo 2 >a; git commit -q -a -m 'gitclaw: work on issue #7'
        printf '#!/bin/sh\nread pid <%s/pid; kill -INT $pid\n' "$PWD/.." >.git/hooks/post-commit
        chmod +x .git/hooks/post-commit
        sh -c 'echo $$ >../pid; exec '"$U"' git undo 2 --issue 7')sh");
    EXPECT_EQ(undo.code, 1) << undo.out << undo.err;
    EXPECT_NE(undo.out.find("Interrupted: the rest was not undone."), std::string::npos)
        << undo.out;
    EXPECT_EQ(scratch.read("work/a"), "1\n");
    EXPECT_EQ(shell(scratch, "git status --porcelain").out, "");
}

}  // namespace
}  // namespace unwrite::cli
