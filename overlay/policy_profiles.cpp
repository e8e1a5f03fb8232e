// The rules that come with the program.
#include "overlay/databases.h"
#include "overlay/policy.h"

namespace unwrite::overlay {

namespace {

constexpr const char* kSecret = "it may hold a secret";
constexpr const char* kDefault = "profile default";
constexpr const char* kRuns = "other programs run it";

// Names that hold secrets: agents neither change nor read them.
constexpr const char* kSecrets[] = {
    ".ssh",    ".gnupg",      ".aws",      ".azure", ".config/gcloud", ".git-credentials",
    ".npmrc",  ".pypirc",     ".netrc",    ".env",   ".env.*",         "*.env",
    "id_rsa*", "id_ed25519*", "id_ecdsa*", "*.pem",  "*.key",          "*.p12",
    "*.pfx",   "*.der"};
// What editors, agents, servers and package managers run by themselves.
constexpr const char* kTold[] = {".vscode",        ".idea",       ".mcp.json",
                                 ".claude",        ".codex",      ".gemini",
                                 ".cursor",        ".opencode",   "**/.github/workflows",
                                 ".gitlab-ci.yml", "package.json"};
// Samples without secrets, and what package managers unpack (decision 0006).
constexpr const char* kExceptions[] = {"!.env.example",        "!.env.sample",
                                       "!.env.template",       "!**/node_modules/**",
                                       "!**/site-packages/**", "!**/vendor/**"};

// The original's list, as it was.
constexpr const char* kStrictForge[] = {"**/.ssh/**",
                                        "**/.gnupg/**",
                                        "**/.aws/**",
                                        "**/.azure/**",
                                        "**/.config/gcloud/**",
                                        "**/.git/**",
                                        "**/.git-credentials",
                                        "**/.npmrc",
                                        "**/.pypirc",
                                        "**/.netrc",
                                        "**/.env",
                                        "**/.env.*",
                                        "**/*.env",
                                        "**/id_rsa*",
                                        "**/id_ed25519*",
                                        "**/id_ecdsa*",
                                        "**/*.pem",
                                        "**/*.key",
                                        "**/*.p12",
                                        "**/*.pfx",
                                        "**/*.der",
                                        "**/core",
                                        "**/core.*",
                                        "**/*.core",
                                        "**/*.dmp",
                                        "**/*.mdmp",
                                        "**/*.stackdump"};

Rule rule(std::string pattern, Action action, Subjects subjects, const char* reason) {
    Rule made;
    made.pattern = std::move(pattern);
    made.action = action;
    made.subjects = subjects;
    made.reason = reason;
    made.source = kDefault;
    return made;
}

// What git executes, or finds what it executes by.
void add_git_rules(std::vector<Rule>& rules, Subjects bind) {
    constexpr const char* kHook = "git would run it";
    rules.push_back(rule("*/**/.unwrite", Action::kAsk, bind, "unwrite would obey it"));
    rules.push_back(rule("**/.git/**", Action::kAsk, bind, "git would follow the link"));
    rules.back().asks_about = AsksAbout::kNewLinks;
    for (const char* pattern :
         {"**/.git/hooks/*", "**/.git/worktrees/*/hooks/*", "**/.git/modules/**/hooks/*-*",
          "**/.git/modules/**/hooks/update"}) {
        rules.push_back(rule(pattern, Action::kAsk, bind, kHook));
        rules.back().executable_only = true;
    }
    for (const char* pattern : {"!**/.git/hooks/*.sample", "!**/.git/modules/**/hooks/*.sample",
                                "!**/.git/modules/**/hooks/packed-refs*"})
        rules.push_back(rule(pattern, Action::kAllow, Subjects::kEveryone, ""));
    for (const char* pattern :
         {".git", "**/.git/**/config", "**/.git/**/config.worktree", "**/.git/**/commondir"}) {
        rules.push_back(rule(pattern, Action::kAsk, bind, "git runs what it names"));
        rules.back().asks_about = AsksAbout::kNewSettings;
        rules.back().itself_only = true;
    }
    rules.push_back(rule("**/.git/**/git-rebase-todo", Action::kTell, Subjects::kEveryone,
                         "git runs its commands"));
    rules.back().asks_about = AsksAbout::kNewSettings;
}

}  // namespace

std::vector<Rule> default_rules(Subjects bind) {
    std::vector<Rule> rules;
    constexpr const char* kCore = "a core dump holds the memory of a program";
    for (const char* pattern : {"core", "core.[0-9]*"}) {
        rules.push_back(rule(pattern, Action::kDenyWrite, bind, kCore));
        rules.back().files_only = rules.back().itself_only = true;
    }
    rules.push_back(rule("!core.*[^0-9]*", Action::kAllow, Subjects::kEveryone, ""));
    rules.back().files_only = true;
    // With a slash in it a pattern would hold at the root alone.
    const auto anywhere = [](const std::string& pattern) {
        return pattern.find('/') == std::string::npos ? pattern : "**/" + pattern;
    };
    for (const char* pattern : kSecrets) {
        if (bind == Subjects::kEveryone)
            rules.push_back(rule(anywhere(pattern), Action::kDenyWrite, bind, kSecret));
        rules.push_back(rule(anywhere(pattern), Action::kDeny, Subjects::kAgents, kSecret));
        rules.back().spares_tracked = true;
    }
    for (const char* pattern : {".envrc", ".husky"}) {
        rules.push_back(rule(pattern, Action::kAsk, bind, kRuns));
        rules.back().asks_about = AsksAbout::kNewBytes;
        rules.back().old_places_only = true;
    }
    for (const char* pattern : kTold)
        rules.push_back(rule(pattern, Action::kTell, Subjects::kEveryone, kRuns));
    for (const char* pattern : kExceptions)
        rules.push_back(rule(pattern, Action::kAllow, Subjects::kEveryone, ""));
    add_git_rules(rules, bind);
    return rules;
}

std::vector<Rule> database_rules(Subjects subjects) {
    std::vector<Rule> rules;
    for (const char* part : kDatabaseParts) {
        for (const char* ending : kDatabaseEndings) {
            rules.push_back(rule(std::string("*") + ending + part, Action::kAsk, subjects,
                                 "a database that was there before"));
            rules.back().source = "policy.databases";
            rules.back().existing_only = true;
        }
    }
    return rules;
}

std::vector<Rule> strict_forge_rules() {
    std::vector<Rule> rules;
    for (const char* pattern : kStrictForge) {
        rules.push_back(rule(pattern, Action::kDeny, Subjects::kEveryone, "on the deny list"));
        rules.back().source = "profile strict-forge";
        rules.back().style = Glob::Style::kCrossing;
    }
    return rules;
}

}  // namespace unwrite::overlay
