#include "cli/command_class.h"

#include <gtest/gtest.h>

#include <iterator>
#include <set>
#include <sstream>

namespace unwrite::tests {
namespace {

std::string class_name(const std::string& line) {
    std::istringstream words(line);
    std::vector<std::string> command;
    for (std::string word; words >> word;)
        command.push_back(word);
    return cli::class_of(command).name;
}

TEST(CommandClass, CommandsByTheirWordsS46) {
    for (const char* line : {"ls -l", "cat a", "grep -r x", "rg x", "find . -name x", "git status",
                             "git -C d log -p", "git diff --stat", "sort a", "diff -u a b"}) {
        EXPECT_EQ(class_name(line), "run-read-only") << line;
    }
    for (const char* line :
         {"rm -r a", "make -j2", "npm install", "sed -i s/a/b/ f", "git commit -m x",
          "git checkout .", "git fetch", "curl example.invalid"}) {
        EXPECT_EQ(class_name(line), "run-side-effecting") << line;
    }
    for (const char* line : {"git push", "git -C d push origin main", "git -c a=b push",
                             "/usr/bin/git push", "npm publish", "cargo publish", "gh pr create",
                             "ssh host ls", "twine upload dist", "terraform destroy"}) {
        EXPECT_EQ(class_name(line), "remote") << line;
    }
}

// In doubt a command is not known: nobody is told that it only reads.
TEST(CommandClass, WhatMayDoAnythingIsUnknownS46) {
    for (const char* line :
         {"", "sh -c ls", "python3 x.py", "./ls", "/tmp/cat a", "env git status", "xargs rm",
          "git -c core.pager=sh log", "git diff --output=f", "git grep -Osh x", "sudo ls"}) {
        EXPECT_EQ(class_name(line), "run-unknown") << line;
    }
    for (const char* line :
         {"find . -delete", "find . -exec rm {} +", "find . -fprintf f x", "sort -o f a",
          "sort --output=f a", "rg --pre=sh x", "find . -execdir rm {} +"}) {
        EXPECT_NE(class_name(line), "run-read-only") << line;
    }
}

TEST(CommandClass, TheTableIsCompleteS46) {
    std::set<std::string> names;
    for (const auto& one : cli::operation_classes()) {
        EXPECT_TRUE(names.insert(one.name).second) << one.name;
        const bool taken_back = std::string(one.reversible) == "yes";
        EXPECT_FALSE(taken_back && std::string(one.mechanism) != "journal") << one.name;
    }
    for (const char* wanted :
         {"write-tracked", "write-untracked", "write-outside", "write-denied", "read",
          "run-read-only", "run-side-effecting", "run-unknown", "remote"}) {
        EXPECT_TRUE(names.contains(wanted)) << wanted;
    }
    for (const char* name : {"ls", "make", "what", "git push"}) {
        std::istringstream words(name);
        std::vector<std::string> command{std::istream_iterator<std::string>(words), {}};
        EXPECT_STRNE(cli::class_of(command).reversible, "yes") << name;
    }
}

}  // namespace
}  // namespace unwrite::tests
