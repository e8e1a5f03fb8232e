// The program itself, where no mount is needed: what it says, and its exit codes.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include "control/protocol.h"
#include "tests/cli/scratch.h"

namespace unwrite::cli {
namespace {

struct Outcome {
    int code = -1;
    std::string out;
    std::string err;
};

/// Through a shell, so that a test may redirect. `words` are quoted already.
Outcome run(const Scratch& scratch, const std::string& words, const std::string& redirect = "") {
    const std::string script =
        "cd '" + scratch.path() + "' && mkdir -p work home && cd work && HOME='" + scratch.path() +
        "/home' XDG_CONFIG_HOME= '" + std::string(std::getenv("UNWRITE_BUILD_DIR")) + "/unwrite' " +
        words + " >'" + scratch.path() + "/out' 2>'" + scratch.path() + "/err' </dev/null " +
        redirect;
    Outcome outcome;
    const int status = std::system(script.c_str());
    outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    outcome.out = scratch.read("out");
    outcome.err = scratch.read("err");
    return outcome;
}

TEST(Binary, HelpAndVersion) {
    const Scratch scratch;
    EXPECT_EQ(run(scratch, "--version").out, std::string("unwrite ") + UNWRITE_VERSION + "\n");
    const Outcome help = run(scratch, "--help");
    EXPECT_EQ(help.code, 0);
    EXPECT_NE(help.out.find("unwrite mount ~/project"), std::string::npos);
    for (const char* command :
         {"mount", "unmount", "run", "status", "checkpoint", "rollback", "undo", "redo", "log",
          "diff", "commit", "discard", "restore", "recover", "check", "gc", "doctor"}) {
        EXPECT_NE(help.out.find(command), std::string::npos) << command;
        EXPECT_EQ(run(scratch, std::string(command) + " --help").code, 0) << command;
    }
}

TEST(Binary, HelpExplainsACommandAndAMistakeIsAnswered) {
    const Scratch scratch;
    EXPECT_EQ(run(scratch, "help").out, run(scratch, "--help").out);
    EXPECT_EQ(run(scratch, "help git undo").out, run(scratch, "git undo --help").out);
    EXPECT_NE(run(scratch, "help undo").out.find("Usage: unwrite undo "), std::string::npos);
    EXPECT_EQ(run(scratch, "help revert").code, 2);
    const Outcome typed = run(scratch, "revert");
    EXPECT_EQ(typed.code, 2);
    EXPECT_EQ(typed.err,
              "unwrite: unknown command \"revert\". Did you mean \"undo\" or \"rollback\"?\n"
              "hint: `unwrite help` lists the commands\n");
}

TEST(Binary, CompletionsCompleteWhatThereIs) {
    const Scratch scratch;
    ASSERT_EQ(run(scratch, "completion bash").code, 0);
    const auto completed = [&](const std::string& words) {
        const std::string script = "bash -euc '. \"" + scratch.path() +
                                   "/out\"; COMP_WORDS=(unwrite " + words +
                                   "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); COMPREPLY=(); "
                                   "_unwrite; echo \"${COMPREPLY[*]}\"' >'" +
                                   scratch.path() + "/completed'";
        EXPECT_EQ(std::system(script.c_str()), 0) << script;
        return scratch.read("completed");
    };
    EXPECT_EQ(completed("che"), "checkpoint check\n");
    EXPECT_EQ(completed("-C x revi"), "review\n");
    EXPECT_EQ(completed("review --s"), "--script\n");
    EXPECT_EQ(completed("commit --keep"), "--keep-history\n");
    EXPECT_EQ(completed("git un"), "undo\n");
    EXPECT_EQ(completed("git undo --is"), "--issue\n");
    EXPECT_EQ(completed("run -- ls --"), "\n");
    for (const char* shell : {"zsh", "fish"}) {
        const Outcome script = run(scratch, std::string("completion ") + shell);
        EXPECT_EQ(script.code, 0);
        EXPECT_NE(script.out.find("keep-history"), std::string::npos) << shell;
    }
    EXPECT_EQ(run(scratch, "completion tcsh").code, 2);
}

TEST(Binary, TheManualPageHasEveryCommand) {
    const Scratch scratch;
    const Outcome page = run(scratch, "man");
    ASSERT_EQ(page.code, 0);
    EXPECT_TRUE(page.out.starts_with(".TH UNWRITE 1"));
    for (const char* command : {"mount", "review", "discard", "git undo", "completion"})
        EXPECT_NE(page.out.find(std::string(".SS ") + command + "\n"), std::string::npos)
            << command;
    EXPECT_NE(page.out.find("\\-\\-keep\\-history"), std::string::npos);
}

TEST(Binary, UsageErrorsAre2) {
    const Scratch scratch;
    for (const char* words :
         {"", "explode", "status --nonsense", "mount a b", "undo a b", "redo 0", "undo 0", "run",
          "run --", "recover --commit --discard", "mount . --on-unfinished never", "restore",
          "checkpoint n7", "checkpoint a..b", "checkpoint root", "run --on-exit never -- true",
          "redo x"}) {
        const Outcome outcome = run(scratch, words);
        EXPECT_EQ(outcome.code, 2) << words << outcome.err;
        const std::string verb = std::string(words).substr(0, std::string(words).find(' '));
        const bool is_named = outcome.err.starts_with("unwrite " + verb);
        EXPECT_TRUE(is_named || outcome.err.starts_with("unwrite: ")) << words << outcome.err;
        EXPECT_EQ(is_named, !verb.empty() && verb != "explode") << words << outcome.err;
        EXPECT_NE(outcome.err.find("\nhint: "), std::string::npos) << words << outcome.err;
        EXPECT_EQ(outcome.out, "") << words;
    }
}

TEST(Binary, WithoutAWorkspaceEverythingIs6) {
    const Scratch scratch;
    for (const char* words : {"status", "status --line", "checkpoint a", "rollback", "undo",
                              "undo n3", "redo", "log", "diff", "commit", "discard --yes",
                              "restore x", "recover", "check", "gc", "unmount", "unmount ."}) {
        const Outcome outcome = run(scratch, words);
        EXPECT_EQ(outcome.code, 6) << words << outcome.err;
        EXPECT_NE(outcome.err.find("`unwrite mount DIR`"), std::string::npos)
            << words << outcome.err;
        EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 2) << outcome.err;
    }
}

TEST(Binary, ErrorsAreJsonOnRequest) {
    const Scratch scratch;
    for (const char* words : {"--json status", "status --json"}) {
        const Outcome outcome = run(scratch, words);
        EXPECT_EQ(outcome.code, 6);
        const control::Json json = control::Json::parse(outcome.out, nullptr, false);
        ASSERT_TRUE(json.is_object()) << outcome.out;
        EXPECT_EQ(json["error"]["kind"], "no-workspace");
        EXPECT_FALSE(json["error"]["hint"].get<std::string>().empty());
        EXPECT_TRUE(outcome.err.starts_with("unwrite status: ")) << outcome.err;
    }
}

TEST(Binary, PlacesWhereNoMountCanBe) {
    const Scratch scratch;
    scratch.write("file", "x");
    EXPECT_EQ(run(scratch, "mount ../file").code, 1);
    EXPECT_NE(run(scratch, "mount ../file").err.find("Not a directory"), std::string::npos);
    EXPECT_EQ(run(scratch, "mount ../none").code, 1);
    EXPECT_EQ(run(scratch, "mount /").code, 2);
    EXPECT_EQ(run(scratch, "mount .. --at .").code, 2);
    EXPECT_EQ(run(scratch, "mount . --at ..").code, 2);
    EXPECT_EQ(run(scratch, "mount . --at ../none").code, 1);
}

TEST(Binary, NamesInErrorsAreSafe) {
    const Scratch scratch;
    const Outcome outcome = run(scratch, "mount \"$(printf 'a\\033[31m')\"");
    EXPECT_NE(outcome.err.find("\"a\\033[31m\""), std::string::npos) << outcome.err;
    EXPECT_EQ(outcome.err.find('\x1b'), std::string::npos);
}

TEST(Binary, DashCNamesTheDirectory) {
    const Scratch scratch;
    EXPECT_NE(run(scratch, "-C .. status").err.find(scratch.path() + ".\n"), std::string::npos);
    EXPECT_EQ(run(scratch, "-C ../none status").code, 1);
}

TEST(Binary, BadConfigurationNamesTheLine) {
    const Scratch scratch;
    std::filesystem::create_directories(scratch / "home/.config/unwrite");
    scratch.write("home/.config/unwrite/unwrite.toml", "# mine\ndurability = 'maybe'\n");
    const Outcome outcome = run(scratch, "mount .");
    EXPECT_EQ(outcome.code, 2);
    EXPECT_NE(outcome.err.find("unwrite.toml:2: bad value for `durability`"), std::string::npos)
        << outcome.err;
}

TEST(Binary, OutputThatCannotBeWrittenIsReported) {
    const Scratch scratch;
    const Outcome full = run(scratch, "doctor", ">/dev/full");
    EXPECT_EQ(full.code, 1);
    EXPECT_NE(full.err.find("write output: No space left on device"), std::string::npos)
        << full.err;
}

TEST(Binary, AReaderThatGoesAwayIsNoFailure) {
    const Scratch scratch;
    const Outcome gone = run(scratch, "doctor --json", "| true; true");
    EXPECT_EQ(gone.code, 0);
    EXPECT_EQ(gone.err, "");
}

TEST(Binary, DoctorAlwaysAnswers) {
    const Scratch scratch;
    const Outcome outcome = run(scratch, "doctor --json");
    const control::Json json = control::Json::parse(outcome.out, nullptr, false);
    ASSERT_TRUE(json.is_object()) << outcome.out;
    EXPECT_GE(json["findings"].size(), 8u);
}

}  // namespace
}  // namespace unwrite::cli
