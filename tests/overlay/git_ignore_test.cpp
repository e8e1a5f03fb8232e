// Patterns are those of gitignore(5), as far as policies have them: git itself is asked.
// What the rules make of matching patterns is held against a plain loop over git's answers.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>

#include "base/process.h"
#include "overlay/policy.h"
#include "tests/support/scratch.h"

namespace unwrite::overlay {
namespace {

using Random = std::mt19937;

template <class T>
const T& one_of(Random& random, const std::vector<T>& all) {
    return all[random() % all.size()];
}

/// A pattern as a policy has it, and what gitignore(5) has for it: there `X/**` is not X itself.
struct Pattern {
    std::string ours;
    std::string gits;
};

bool is_any_directories(std::string_view component) {
    return component.size() > 1 && component.find_first_not_of('*') == std::string_view::npos;
}

std::string random_component(Random& random) {
    static const std::vector<std::string> pieces = {
        "a",    "b",     "c",   "A",   "ab", "*", "?",  "**",    "[ab]",
        "[!b]", "[a-c]", "\\*", "\\b", ".",  "x", "*.", "[^x]?", "\xc3\xa4"};
    if (random() % 5 == 0) return "**";
    std::string component;
    for (auto n = random() % 3 + 1; n > 0; --n)
        component += one_of(random, pieces);
    // Stars within a component are one: git takes some of them for `**` (`ab**/c` for `ab/**/c`).
    for (auto at = component.find("**"); at != std::string::npos && !is_any_directories(component);
         at = component.find("**"))
        component.erase(at, 1);
    // Not components, but `.` and `..`.
    return component.find_first_not_of('.') == std::string::npos ? component + "a" : component;
}

std::string for_git(const std::string& pattern) {
    std::string text = pattern;
    for (auto slash = text.rfind('/');
         slash != std::string::npos && is_any_directories(std::string_view(text).substr(slash + 1));
         slash = text.rfind('/'))
        text.resize(slash);
    if (text == pattern) return text;
    if (text.empty() || is_any_directories(text)) return "**";
    return text.starts_with('/') ? text : '/' + text;
}

Pattern random_pattern(Random& random) {
    std::string text = random() % 4 == 0 ? "/" : "";
    for (auto n = random() % 3 + 1; n > 0; --n)
        text += random_component(random) + (n > 1 ? "/" : "");
    switch (random() % 4) {
        case 0:
            return {text + "/", text + "/"};
        case 1:
            text += "/**";
            break;
        default:
            break;
    }
    return {text, for_git(text)};
}

struct Path {
    std::string text;
    bool directory = false;
};

class GitIgnore : public ::testing::Test {
 protected:
    void SetUp() override { ASSERT_EQ(git({"init", "-q", root_}, "").exit_code, 0); }

    ProcessOutcome git(const std::vector<std::string>& arguments, const std::string& input) {
        ProcessRequest request;
        request.arguments = {"git"};
        if (arguments.front() != "init")
            request.arguments.insert(request.arguments.end(), {"-C", root_});
        request.arguments.insert(request.arguments.end(), arguments.begin(), arguments.end());
        request.set = {{"GIT_CONFIG_NOSYSTEM", "1"}, {"GIT_CONFIG_GLOBAL", "/dev/null"}};
        request.input = input;
        const auto outcome = run_process(request);
        EXPECT_TRUE(outcome.ok());
        return outcome ? *outcome : ProcessOutcome{255, {}, {}};
    }

    /// Files and directories, some levels deep.
    std::vector<Path> plant(Random& random) {
        const std::vector<std::string> names = {"a",  "b",   "c",   "A",   "ab",       "aB", "abc",
                                                "a*", "a.b", ".a",  "x",   "\xc3\xa4", "ba", "bab",
                                                "**", "*",   "Xab", "\\b", "[ab]"};
        std::vector<Path> paths;
        std::vector<std::string> directories = {""};
        for (int i = 0; i < 60; ++i) {
            const std::string path = one_of(random, directories) + one_of(random, names);
            if (std::filesystem::exists(root_ + "/" + path)) continue;
            const bool directory = random() % 2 == 0;
            if (directory) {
                std::filesystem::create_directory(root_ + "/" + path);
                directories.push_back(path + "/");
            } else {
                std::ofstream(root_ + "/" + path) << "x";
            }
            paths.push_back({path, directory});
        }
        return paths;
    }

    /// For each path, whether git takes it for ignored by this pattern alone.
    std::vector<bool> ignored(const std::string& pattern, const std::vector<Path>& paths) {
        std::ofstream(root_ + "/.git/info/exclude") << pattern << "\n";
        std::string input;
        for (const Path& path : paths)
            input += path.text + '\0';
        const ProcessOutcome outcome = git(
            {"-c", "core.ignorecase=true", "check-ignore", "--no-index", "--stdin", "-z"}, input);
        EXPECT_LE(outcome.exit_code, 1) << outcome.err;
        std::vector<std::string> listed;
        for (std::size_t at = 0; at < outcome.out.size();) {
            const std::size_t end = outcome.out.find('\0', at);
            listed.push_back(outcome.out.substr(at, end - at));
            at = end + 1;
        }
        std::vector<bool> all;
        for (const Path& path : paths)
            all.push_back(std::find(listed.begin(), listed.end(), path.text) != listed.end());
        return all;
    }

    tests::Scratch scratch_;
    const std::string root_ = (scratch_.path() / "r").string();
};

/// What the rules say, by what the pattern of each matches here.
std::string expected(const std::vector<Rule>& rules, const std::vector<bool>& matched, bool agent) {
    std::string reading = "r";
    std::string writing = "w";
    for (std::size_t i = 0; i < rules.size(); ++i) {
        if (!matched[i] || (rules[i].subjects == Subjects::kAgents && !agent)) continue;
        const bool allows = rules[i].pattern.starts_with('!') || rules[i].action == Action::kAllow;
        writing = allows ? "w" : rules[i].action == Action::kAsk ? "?" : "-";
        if (allows || rules[i].action == Action::kDeny) reading = allows ? "r" : "-";
    }
    return reading + writing;
}

std::string judged(const Policy& policy, const Path& path, bool agent) {
    const Verdict verdict = policy.judge(path.text, path.directory ? S_IFDIR : S_IFREG, agent);
    return std::string(verdict.may_read ? "r" : "-") + (verdict.may_write ? "w"
                                                        : verdict.asks    ? "?"
                                                                          : "-");
}

std::string listing(const std::vector<Rule>& rules) {
    std::string text;
    for (const Rule& rule : rules)
        text += std::string("\n  ") + action_word(rule.action) + " " + rule.pattern +
                (rule.subjects == Subjects::kAgents ? " (agents)" : "");
    return text;
}

/// The rules without those that the difference does not need.
template <class Differs>
void minimise(std::vector<Rule>& rules, std::vector<bool>& matched, const Differs& differs) {
    for (std::size_t i = 0; i < rules.size();) {
        auto fewer = rules;
        auto fewer_matched = matched;
        fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
        fewer_matched.erase(fewer_matched.begin() + static_cast<std::ptrdiff_t>(i));
        if (!differs(fewer, fewer_matched)) {
            ++i;
            continue;
        }
        rules = std::move(fewer);
        matched = std::move(fewer_matched);
    }
}

std::vector<Rule> random_rules(Random& random, const std::vector<Pattern>& patterns,
                               std::vector<std::size_t>& chosen) {
    constexpr Action kActions[] = {Action::kAllow, Action::kAsk, Action::kDenyWrite, Action::kDeny};
    std::vector<Rule> rules;
    for (auto n = random() % 6 + 1; n > 0; --n) {
        chosen.push_back(random() % patterns.size());
        Rule rule;
        rule.pattern = (random() % 4 == 0 ? "!" : "") + patterns[chosen.back()].ours;
        rule.action = kActions[random() % std::size(kActions)];
        rule.subjects = random() % 2 == 0 ? Subjects::kAgents : Subjects::kEveryone;
        rule.source = "test";
        rules.push_back(std::move(rule));
    }
    return rules;
}

TEST_F(GitIgnore, RandomRuleSetsAgreeWithGitS44_A10) {
    const unsigned seed = std::random_device()();
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const std::vector<Path> paths = plant(random);
    std::vector<Pattern> patterns;
    std::vector<std::vector<bool>> by_git;
    for (int i = 0; i < 60; ++i) {
        patterns.push_back(random_pattern(random));
        by_git.push_back(ignored(patterns.back().gits, paths));
        const auto glob = Glob::compile(patterns.back().ours, Glob::Style::kRelative);
        ASSERT_TRUE(glob.ok()) << patterns.back().ours;
        for (std::size_t at = 0; at < paths.size(); ++at) {
            EXPECT_EQ(glob->matches(Glob::fold(paths[at].text), paths[at].directory),
                      by_git.back()[at])
                << "the pattern " << patterns.back().ours << " and the "
                << (paths[at].directory ? "directory " : "file ") << paths[at].text;
        }
    }
    for (int i = 0; i < 300; ++i) {
        std::vector<std::size_t> chosen;
        const std::vector<Rule> rules = random_rules(random, patterns, chosen);
        for (std::size_t at = 0; at < paths.size(); ++at) {
            std::vector<bool> matched;
            for (const std::size_t pattern : chosen)
                matched.push_back(by_git[pattern][at]);
            for (const bool agent : {false, true}) {
                const auto differs = [&](const std::vector<Rule>& some,
                                         const std::vector<bool>& some_matched) {
                    const auto policy = Policy::compile(some);
                    return !policy.ok() || judged(**policy, paths[at], agent) !=
                                               expected(some, some_matched, agent);
                };
                if (!differs(rules, matched)) continue;
                std::vector<Rule> fewest = rules;
                minimise(fewest, matched, differs);
                const auto policy = Policy::compile(fewest);
                FAIL() << "on " << paths[at].text << (agent ? " for an agent" : " for the user")
                       << ": " << (policy ? judged(**policy, paths[at], agent) : "no policy")
                       << " and not " << expected(fewest, matched, agent) << listing(fewest);
            }
        }
    }
}

}  // namespace
}  // namespace unwrite::overlay
