// What is typed: every command explains itself, and a mistake is answered with what was meant.
#include "cli/command_line.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/near_words.h"
#include "cli/help.h"

namespace unwrite::cli {
namespace {

using Words = std::vector<std::string>;

Context context() {
    return {.base = "/",
            .out = Output(STDOUT_FILENO),
            .notes = Output(STDERR_FILENO),
            .verb = {},
            .action = {}};
}

/// The words of one simple command, as a shell passes them; what follows a pipe, `&&` or a
/// redirection is not the program's.
Words shell_words(const std::string& line) {
    Words words;
    std::string word;
    bool quoted = false;
    bool any = false;
    for (const char c : line + ' ') {
        if (c == '\'') {
            quoted = !quoted;
            any = true;
        } else if (c != ' ' || quoted) {
            word += c;
            any = true;
        } else if (any) {
            if (word == "|" || word == "&&") return words;
            if (word[0] != '<' && word[0] != '>') words.push_back(word);
            word.clear();
            any = false;
        }
    }
    return words;
}

void each_command(const CLI::App& app, const std::function<void(const CLI::App&)>& visit) {
    for (const CLI::App* command : commands_of(app)) {
        visit(*command);
        each_command(*command, visit);
    }
}

Error refused(const Words& words) {
    Context given = context();
    CommandLine line(given, words);
    const Result<> parsed = line.parse();
    EXPECT_FALSE(parsed);
    return parsed ? Error() : parsed.error();
}

TEST(CommandLine, EveryCommandHasUsageAndTwoExamplesOfItself) {
    Context given = context();
    const CommandLine line(given, {});
    std::size_t commands = 0;
    each_command(line.app(), [&](const CLI::App& command) {
        const std::string name = full_name(command);
        ++commands;
        const Help* help = help_of(command);
        ASSERT_NE(help, nullptr) << name;
        EXPECT_GE(help->examples.size(), 2u) << name;
        for (const Example& example : help->examples)
            EXPECT_NE((example.line + ' ').find(' ' + command.get_name() + ' '), std::string::npos)
                << example.line;
        for (const CLI::Option* option : options_of(command)) {
            const Words flags = flags_of(*option);
            if (!option->get_required()) continue;
            const std::string& part = flags.empty() ? option->get_name(true) : flags.back();
            EXPECT_NE((' ' + help->usage).find(' ' + part), std::string::npos) << name << part;
        }
        const std::string text = help_text(command);
        EXPECT_NE(text.find("\nUsage: " + name), std::string::npos) << text;
        EXPECT_NE(text.find("\nExamples:\n"), std::string::npos) << text;
        EXPECT_EQ(text.find("Exit codes"), std::string::npos) << text;

        for (std::size_t at = 0; at < text.size();) {
            const std::size_t end = text.find('\n', at);
            EXPECT_LE(end - at, 80u) << text.substr(at, end - at);
            at = end + 1;
        }
    });
    EXPECT_GE(commands, 35u);
}

TEST(CommandLine, EveryExampleParses) {
    Context given = context();
    const CommandLine all(given, {});
    Words lines;
    const auto collect = [&](const CLI::App& command) {
        if (const Help* help = help_of(command)) {
            for (const Example& example : help->examples)
                lines.push_back(example.line);
        }
    };
    collect(all.app());
    each_command(all.app(), collect);
    EXPECT_GE(lines.size(), 70u);
    for (const std::string& example : lines) {
        Words words = shell_words(example);
        ASSERT_EQ(words[0], "unwrite") << example;
        words.erase(words.begin());
        Context one = context();
        CommandLine line(one, words);
        const Result<> parsed = line.parse();
        EXPECT_TRUE(parsed) << example << ": " << (parsed ? "" : parsed.error().message());
        EXPECT_TRUE(one.action) << example;
    }
}

TEST(CommandLine, TheCommandsStandInGroups) {
    Context given = context();
    const CommandLine line(given, {});
    const std::string text = help_text(line.app());
    std::size_t at = 0;
    for (const char* group : {"\nEveryday:\n", "\nGo back:\n", "\nDecide:\n", "\nAgents:\n",
                              "\nCare:\n", "\nAdvanced:\n", "\nOptions:\n", "\nExamples:\n"}) {
        const std::size_t found = text.find(group);
        ASSERT_NE(found, std::string::npos) << group << text;
        EXPECT_GT(found, at) << group;
        at = found;
    }
    EXPECT_EQ(text.find("Subcommands"), std::string::npos);
}

TEST(CommandLine, AnUnknownCommandIsAnsweredWithWhatWasMeant) {
    for (const auto& [typed, meant] : std::initializer_list<std::pair<const char*, const char*>>{
             {"revert", "Did you mean \"undo\" or \"rollback\"?"},
             {"reset", "Did you mean \"rollback\" or \"discard\"?"},
             {"checkout", "Did you mean \"restore\" or \"rollback\"?"},
             {"stash", "Did you mean \"checkpoint\" or \"discard\"?"},
             {"save", "Did you mean \"checkpoint\" or \"commit\"?"},
             {"history", "Did you mean \"log\"?"},
             {"start", "Did you mean \"mount\" or \"run\"?"},
             {"stop", "Did you mean \"unmount\"?"},
             {"stauts", "Did you mean \"status\"?"},
             {"umount", "Did you mean \"mount\" or \"unmount\"?"},
             {"check-point", "Did you mean \"checkpoint\"?"}}) {
        const Error error = refused({typed});
        EXPECT_EQ(error.kind(), ErrorKind::kUsage);
        EXPECT_EQ(error.message(), "unknown command \"" + std::string(typed) + "\". " + meant);
        EXPECT_EQ(error.advice(), "`unwrite help` lists the commands");
    }
    EXPECT_EQ(refused({"xyzzy"}).message(), "unknown command \"xyzzy\".");
    EXPECT_NE(refused({"ls"}).message().find("\"status\""), std::string::npos);
    EXPECT_EQ(refused({"git", "und"}).message(),
              "git: unknown command \"und\". Did you mean \"undo\"?");
    EXPECT_EQ(refused({"config", "bell", "false"}).message(),
              "config: unknown command \"bell\". Did you mean \"config set bell\"?");
    EXPECT_EQ(refused({"revert", "--dry-run"}).message().find("unknown command \"revert\"."), 0u);
}

TEST(CommandLine, OtherMistakesNameTheCommandAndWhatIsWrong) {
    EXPECT_EQ(refused({"diff", "--sta"}).message(),
              "diff: unknown option \"--sta\". Did you mean \"--stat\"?");
    EXPECT_EQ(refused({"diff", "--xyzzy=3"}).message(), "diff: unknown option \"--xyzzy\".");
    EXPECT_EQ(refused({"status", "here"}).message(), "status: unexpected argument \"here\"");
    const Error run = refused({"run", "--on-exit", "keep", "make", "install"});
    EXPECT_EQ(run.message(), "run: the command comes after \"--\"");
    EXPECT_EQ(run.advice(), "unwrite run -- make ...");
    EXPECT_EQ(refused({"restore"}).message(), "restore: PATH is missing");
    EXPECT_EQ(refused({"restore", "a", "--from"}).message(), "restore: --from needs a value");
    EXPECT_EQ(refused({"git", "undo"}).message(), "git undo: --issue is missing");
    EXPECT_EQ(refused({"git"}).message(), "git: a command is missing: undo, feedback");
    EXPECT_EQ(refused({"redo", "x"}).message(), "redo: N takes a number, not \"x\"");
    EXPECT_EQ(refused({"recover", "--commit", "--keep"}).message(),
              "recover: --commit and --keep exclude each other");
    EXPECT_EQ(refused({}).message(), "no command given");
    EXPECT_EQ(refused({"git", "undo"}).advice(), "`unwrite help git undo` shows how to use it");
}

TEST(CommandLine, HelpIsTextInsteadOfAnAction) {
    for (const Words& words : {Words{"git", "undo", "--help"}, Words{"git", "undo", "-h"}}) {
        Context given = context();
        CommandLine line(given, words);
        ASSERT_TRUE(line.parse());
        ASSERT_TRUE(line.text());
        EXPECT_NE(line.text()->find("Usage: unwrite git undo [OPTIONS] --issue K [N]\n"),
                  std::string::npos)
            << *line.text();
    }
    // What follows "--" is the command's.
    Context given = context();
    CommandLine line(given, {"run", "--", "ls", "--help"});
    ASSERT_TRUE(line.parse());
    EXPECT_FALSE(line.text());
}

TEST(Suggest, DistancesAreThoseOfTyping) {
    EXPECT_EQ(edit_distance("", "abc"), 3u);
    EXPECT_EQ(edit_distance("undo", "undo"), 0u);
    EXPECT_EQ(edit_distance("udno", "undo"), 1u);
    EXPECT_EQ(edit_distance("redo", "undo"), 2u);
    EXPECT_EQ(nearest("dif", {"diff", "discard", "undo"}), (Words{"diff"}));
    EXPECT_EQ(nearest("q", {"diff", "undo"}), Words());
    EXPECT_EQ(nearest("--keep", {"--help", "--yes"}), Words());
    EXPECT_EQ(nearest("--hlep", {"--help", "--yes"}), (Words{"--help"}));
    EXPECT_EQ(nearest(std::string(1 << 20, 'a'), {"diff"}), Words());
    EXPECT_EQ(did_you_mean({}), "");
    EXPECT_EQ(did_you_mean({"a", "b", "c"}), " Did you mean \"a\", \"b\" or \"c\"?");
}

}  // namespace
}  // namespace unwrite::cli
