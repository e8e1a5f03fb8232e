// Patterns, rules and profiles; no tree.
#include "overlay/policy.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <random>

#include "tests/support/scratch.h"

namespace unwrite::overlay {
namespace {

bool matches(const std::string& pattern, const std::string& path, bool directory = false,
             Glob::Style style = Glob::Style::kRelative) {
    const auto glob = Glob::compile(pattern, style);
    EXPECT_TRUE(glob.ok()) << pattern;
    return glob && glob->matches(Glob::fold(path), directory);
}

TEST(Globs, InTheSpiritOfGitignore) {
    EXPECT_TRUE(matches("*.key", "a.key"));
    EXPECT_TRUE(matches("*.key", "deep/down/a.KEY"));
    EXPECT_FALSE(matches("*.key", "a.keys"));
    EXPECT_TRUE(matches("/a.key", "a.key"));
    EXPECT_FALSE(matches("/a.key", "b/a.key"));
    EXPECT_FALSE(matches("src/*.c", "src/sub/x.c"));
    EXPECT_TRUE(matches("src/**/*.c", "src/x.c"));
    EXPECT_TRUE(matches("src/**/*.c", "src/a/b/x.c"));
    EXPECT_TRUE(matches("**/x/y", "x/y"));
    EXPECT_TRUE(matches("**/x/y", "a/x/y"));
    EXPECT_FALSE(matches("x/y", "a/x/y"));
    EXPECT_TRUE(matches("x/**", "x", true));
    EXPECT_TRUE(matches("x/**", "x/a/b"));
    EXPECT_TRUE(matches("x", "x/a/b")) << "what matches covers what is below";
    EXPECT_TRUE(matches("x/", "x", true));
    EXPECT_TRUE(matches("**/", "x", true));
    EXPECT_FALSE(matches("**/", "x", false));
    EXPECT_FALSE(matches("x/**/", "x", true));
    EXPECT_TRUE(matches("x/**/", "x/y/z", false));
    EXPECT_FALSE(matches("x/", "x", false));
    EXPECT_TRUE(matches("x/", "x/a", false));
    EXPECT_TRUE(matches("[ab]?[!c]", "axd"));
    EXPECT_FALSE(matches("[ab]?[!c]", "axc"));
    EXPECT_TRUE(matches("a\\*b", "a*b"));
    EXPECT_FALSE(matches("a\\*b", "axb"));
    EXPECT_TRUE(matches("[]]", "]"));
    EXPECT_TRUE(matches("*\n*", "a\nb\xff"));
    EXPECT_FALSE(matches("*", ""));
}

TEST(Globs, TheOriginalsStarsCrossSlashesS164) {
    const auto forge = [](const std::string& pattern, const std::string& path) {
        return matches(pattern, path, false, Glob::Style::kCrossing);
    };
    EXPECT_TRUE(forge("**/core.*", "core.d/sub/file.txt"));
    EXPECT_TRUE(forge("**/id_rsa*", "id_rsa_tools/readme.md"));
    EXPECT_TRUE(forge("**/*.env", "a/b/prod.ENV"));
    EXPECT_TRUE(forge("**/.ssh/**", ".ssh/config"));
    EXPECT_FALSE(forge("**/.ssh/**", ".ssh"));
    EXPECT_FALSE(forge("**/*.key", "keys.key/child.txt"));
}

TEST(Globs, APatternMayBeAboutItsOwnNameAloneS44) {
    const auto core = Glob::compile("core", Glob::Style::kRelative);
    ASSERT_TRUE(core.ok());
    const auto reach = Glob::Reach::kItself;
    EXPECT_TRUE(core->matches("core", false, reach));
    EXPECT_TRUE(core->matches("a/core/core", false, reach));
    EXPECT_FALSE(core->matches("core/a", false, reach));
    EXPECT_FALSE(core->matches("a/core/b/c", false, reach));
    EXPECT_FALSE(core->tells_apart("core", "other", reach));
    EXPECT_TRUE(core->tells_apart("core", "other"));
}

TEST(Globs, WhatIsNoPatternIsAnErrorS165) {
    for (const std::string& wrong :
         {std::string(), std::string("/"), std::string("a//b"), std::string("[a"),
          std::string("a\\"), std::string("../x"), std::string("./x"), std::string("a\0b", 3),
          std::string(5000, 'a')}) {
        EXPECT_FALSE(Glob::compile(wrong, Glob::Style::kRelative).ok()) << wrong;
    }
}

// A plain matcher by recursion, to hold the automaton against.
bool slow_match(const std::vector<std::string>& pattern, std::size_t p,
                const std::vector<std::string>& path, std::size_t t) {
    if (p == pattern.size()) return true;
    if (pattern[p] == "**") {
        for (std::size_t skip = t; skip <= path.size(); ++skip) {
            if (slow_match(pattern, p + 1, path, skip)) return true;
        }
        return false;
    }
    if (t == path.size()) return false;
    const bool one = pattern[p] == path[t] || (pattern[p] == "a*" && path[t][0] == 'a');
    return one && slow_match(pattern, p + 1, path, t + 1);
}

std::string joined(const std::vector<std::string>& parts) {
    std::string text;
    for (const std::string& part : parts)
        text += (text.empty() ? "" : "/") + part;
    return text;
}

TEST(Globs, RandomPatternsAgreeWithASlowMatcher) {
    const unsigned seed = std::random_device()();
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const std::vector<std::string> words = {"a", "b", "ab", "a*", "**"};
    for (int i = 0; i < 20'000; ++i) {
        std::vector<std::string> pattern;
        std::vector<std::string> path;
        for (auto n = random() % 4 + 2; n > 0; --n)
            pattern.push_back(words[random() % words.size()]);
        for (auto n = random() % 5 + 1; n > 0; --n)
            path.push_back(words[random() % 3]);
        std::vector<std::string> trimmed = pattern;
        while (trimmed.size() > 1 && trimmed.back() == "**")
            trimmed.pop_back();
        ASSERT_EQ(matches(joined(pattern), joined(path)), slow_match(trimmed, 0, path, 0))
            << joined(pattern) << " on " << joined(path);
    }
}

std::shared_ptr<const Policy> policy(std::vector<Rule> rules) {
    auto compiled = Policy::compile(std::move(rules));
    EXPECT_TRUE(compiled.ok()) << compiled.error().message();
    return compiled ? *compiled : nullptr;
}

Rule rule(const std::string& pattern, Action action, Subjects subjects = Subjects::kEveryone) {
    Rule made;
    made.pattern = pattern;
    made.action = action;
    made.subjects = subjects;
    made.source = "test";
    return made;
}

// "rw", "r-", "--", "hidden".
std::string seen(const Policy& policy, const std::string& path, bool agent,
                 std::uint32_t type = S_IFREG) {
    const Verdict verdict = policy.judge(path, type, agent);
    if (verdict.hidden) return "hidden";
    return std::string(verdict.may_read ? "r" : "-") + (verdict.may_write ? "w" : "-");
}

TEST(Policies, TheLastMatchDecidesForReadingAndWritingApartS65) {
    const auto one = policy({rule("*.x", Action::kDeny, Subjects::kAgents),
                             rule("*.x", Action::kDenyWrite), rule("!free.x", Action::kAllow)});
    EXPECT_EQ(seen(*one, "a.x", true), "--") << "a later deny-write does not allow reading again";
    EXPECT_EQ(seen(*one, "a.x", false), "r-");
    EXPECT_EQ(seen(*one, "free.x", true), "rw");
    EXPECT_EQ(seen(*one, "a.y", true), "rw");
    EXPECT_TRUE(one->tells_agents_apart());
    const auto hiding = policy({rule("secret/", Action::kHide)});
    EXPECT_EQ(seen(*hiding, "secret/a", false), "hidden");
    EXPECT_FALSE(Policy::compile({rule("x", Action::kHide, Subjects::kAgents)}).ok());
    const auto wrong = Policy::compile({rule("[", Action::kDeny)});
    ASSERT_FALSE(wrong.ok());
    EXPECT_NE(wrong.error().message().find("test: the pattern `[`"), std::string::npos);
}

TEST(Policies, WhatMayNotConcernANameNeverMatchesItS44) {
    const auto all = policy(default_rules());
    const std::vector<std::string> names = {
        "a",       ".env",       "x.env",    ".ssh",         "config",   "gcloud",
        ".config", "hooks",      ".git",     "pre-commit",   "core",     "core.12",
        "core.js", "id_rsa.pub", "cert.pem", "node_modules", "README.md"};
    std::mt19937 random(1);
    for (int i = 0; i < 5000; ++i) {
        std::string path;
        bool concerned = false;
        for (auto n = random() % 4 + 1; n > 0; --n) {
            const std::string& name = names[random() % names.size()];
            path += (path.empty() ? "" : "/") + name;
            concerned = concerned || all->may_concern(name);
        }
        const Verdict verdict = all->judge(path, S_IFREG, true);
        if (!verdict.is_free()) {
            ASSERT_TRUE(concerned) << path;
        }
    }
    EXPECT_FALSE(all->may_concern("README.md"));
    EXPECT_FALSE(all->may_concern("node_modules"));
    EXPECT_TRUE(all->may_concern("hooks"));
}

TEST(Policies, TheDefaultProfileS44) {
    const auto all = policy(default_rules());
    const auto wall = policy(default_rules(Subjects::kEveryone));
    for (const char* secret :
         {".env", "sub/.ENV", ".env.local", "prod.env", ".ssh/config", ".ssh", "a/.config/gcloud/x",
          "id_ed25519", "tls/server.key", "ca.pem", ".npmrc", "core.key"}) {
        EXPECT_EQ(seen(*all, secret, true), "--") << secret;
        EXPECT_EQ(seen(*all, secret, false), "rw") << secret << ": it is the user's";
        EXPECT_EQ(seen(*wall, secret, true), "--") << secret;
        EXPECT_EQ(seen(*wall, secret, false), "r-") << secret;
    }
    EXPECT_FALSE(all->binds_user());
    EXPECT_TRUE(wall->binds_user());
    for (const char* open :
         {".env.example", ".config/other", "node_modules/p/ca.pem",
          "lib/python3/site-packages/certifi/cacert.pem", "node_modules/p/.env", "vendor/a/b.key",
          "vendor/.ssh/config", "core/a", "src/core/core.1/a", ".git/HEAD",
          ".git/hooks/pre-commit.sample", "core.js", "core.12a", "src/core.c", ".git/hooks"}) {
        EXPECT_EQ(seen(*all, open, true), "rw") << open;
    }
    for (const char* asking :
         {".git/hooks/pre-commit", ".git/modules/a/b/hooks/post-merge", ".git/config", "a/.git",
          "a/.git/worktrees/b/config.worktree", ".git/commondir", ".envrc", "a/.husky/pre-commit",
          "a/.unwrite/config.toml"}) {
        EXPECT_EQ(seen(*all, asking, true), "r-") << asking;
        EXPECT_TRUE(all->judge(asking, S_IFREG, true).asks) << asking;
    }
    for (const char* name : {".git", ".git/config", ".git/modules/a"})
        EXPECT_EQ(seen(*all, name, true, S_IFDIR), "rw") << name;
    EXPECT_TRUE(all->judge(".git/hooks", S_IFLNK, true).asks);
    for (const char* dump : {"core", "core.4711", "core/core"}) {
        EXPECT_EQ(seen(*all, dump, true), "r-") << dump;
        EXPECT_EQ(seen(*all, dump, false), "rw") << dump;
        EXPECT_EQ(seen(*wall, dump, false), "r-") << dump;
        EXPECT_EQ(seen(*wall, dump, false, S_IFDIR), "rw") << dump;
        EXPECT_EQ(seen(*all, dump, true, S_IFLNK), "rw") << dump;
    }
}

TEST(Policies, StrictForgeIsTheOriginalsListS164) {
    ASSERT_EQ(strict_forge_rules().size(), 27U);
    const auto all = policy(strict_forge_rules());
    for (const char* hit : {"core.py", "src/core.c", "Core.js", "core.d/sub/file.txt", "src/core",
                            ".env.example", ".env.d/a/b", "id_rsa_tools/readme.md", "id_rsa.pub",
                            "cacert.pem", "i18n/en.key", "node_modules/pkg/.npmrc"})
        EXPECT_EQ(seen(*all, hit, false), "--") << hit;
    for (const char* miss : {".ssh", ".git", ".config/gcloud", ".envrc", ".gitignore", "foo.keys",
                             "keys.key/child.txt"})
        EXPECT_EQ(seen(*all, miss, false), "rw") << miss;
}

TEST(Policies, WhatEditorsAndAgentsRunIsToldS44) {
    const auto all = policy(default_rules());
    const auto tells = [&](const std::string& path) {
        const Rule* const telling = all->telling(path, S_IFREG);
        EXPECT_TRUE(all->judge(path, S_IFREG, true).asks || seen(*all, path, true) == "rw") << path;
        return telling != nullptr;
    };
    for (const char* told :
         {".vscode/tasks.json", "a/.idea/x", ".mcp.json", ".claude/settings.json", ".cursor/rules",
          "a/.github/workflows/ci.yml", ".gitlab-ci.yml", "package.json", ".envrc",
          ".husky/pre-commit", ".git/hooks/pre-commit"})
        EXPECT_TRUE(tells(told)) << told;
    for (const char* plain : {"AGENTS.md", "CLAUDE.md", ".github/CODEOWNERS", "src/a.js",
                              "node_modules/x/package.json", "node_modules/x/.vscode/y"})
        EXPECT_FALSE(tells(plain)) << plain;
    std::vector<Rule> rules = default_rules();
    rules.push_back(rule(".vscode", Action::kAllow));
    rules.push_back(rule("Makefile", Action::kTell));
    const auto own = policy(rules);
    EXPECT_EQ(own->telling(".vscode/tasks.json", S_IFREG), nullptr);
    EXPECT_NE(own->telling("Makefile", S_IFREG), nullptr);
    EXPECT_FALSE(own->may_concern("Makefile"));
    EXPECT_EQ(parse_action("tell"), Action::kTell);
}

TEST(Policies, DirectoriesThatMoveAreToldApartOnlyWhereItMatters) {
    const auto all = policy(default_rules());
    EXPECT_FALSE(all->tells_apart("src", "lib/source"));
    EXPECT_FALSE(all->tells_apart("core", "lib"));
    EXPECT_FALSE(all->tells_apart("node_modules/.tmp", "node_modules/pkg"));
    EXPECT_TRUE(all->tells_apart("x", ".git"));
    EXPECT_TRUE(all->tells_apart("x", "node_modules/x"));
    EXPECT_TRUE(all->tells_apart(".config", "config"));
}

}  // namespace
}  // namespace unwrite::overlay
