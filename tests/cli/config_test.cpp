#include "cli/config.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/syscalls.h"
#include "cli/agreement.h"
#include "cli/config_tools.h"
#include "tests/cli/scratch.h"

namespace unwrite::cli {
namespace {

std::string failure(std::string_view text) {
    Config config;
    const Result<> read = read_config(text, "x.toml", config);
    // config_text_test.cpp looks at the values that are good.
    const std::string message = read ? "" : read.error().message();
    return message.substr(0, message.find(": it takes "));
}

TEST(Config, Defaults) {
    Config config;
    ASSERT_TRUE(read_config("", "x.toml", config));
    EXPECT_FALSE(config.durable);
    EXPECT_EQ(config.idle, fs::Idle::kChoose);
    EXPECT_FALSE(config.mtime_now);
    EXPECT_EQ(config.retention.max_age_seconds, 30u * 86400);
    EXPECT_FALSE(config.reserve) << "as the filesystem's size has it";
    ::unsetenv("UNWRITE_COMPRESS_AFTER");  // else as it says
    EXPECT_EQ(config.session_options(true).compress_after, overlay::kCold);
}

TEST(Config, EveryKey) {
    Config config;
    const Result<> read = read_config(
        "durability = 'power'\nidle = 'asleep'\n[restore]\nmtime = \"now\"\n[gc]\nmax_age_days = "
        "2\nmax_abandoned = "
        "5\nmax_bytes = '10K'\n[journal]\nreserve = '5M'\ncompress = 'off'\n",
        "x.toml", config);
    ASSERT_TRUE(read) << read.error().message();
    EXPECT_TRUE(config.durable);
    EXPECT_EQ(config.idle, fs::Idle::kAsleep);
    EXPECT_TRUE(config.mtime_now);
    EXPECT_EQ(config.retention.max_age_seconds, 2u * 86400);
    EXPECT_EQ(config.retention.max_abandoned, 5u);
    EXPECT_EQ(config.retention.max_bytes, 10240u);
    EXPECT_EQ(config.reserve, std::uint64_t{5} << 20);
    EXPECT_EQ(config.session_options(true).reserve, std::uint64_t{5} << 20);
    EXPECT_FALSE(config.session_options(true).compress_after);
    EXPECT_NE(failure("[journal]\ncompress = 'now'\n").find("journal.compress"), std::string::npos);
    EXPECT_NE(failure("idle = 'polite'\n").find("idle"), std::string::npos);
    EXPECT_NE(failure("[journal]\nreserve = 'some'\n").find("journal.reserve"), std::string::npos);
    ASSERT_TRUE(read_config("gc.max_bytes = 77\n", "x.toml", config));
    EXPECT_EQ(config.retention.max_bytes, 77u);
    EXPECT_TRUE(config.durable);
}

TEST(Config, S32_S146_the_tools_of_an_agent) {
    ToolsConfig config;
    ASSERT_TRUE(read_tools_config("", "x.toml", config));
    EXPECT_TRUE(config.edit.enabled);
    EXPECT_EQ(config.edit.max_snippet, 262144U);
    EXPECT_EQ(config.edit.max_line_edit, 262144U);
    EXPECT_FALSE(config.edit.require_file_hash);
    EXPECT_FALSE(config.revert_to_state);
    EXPECT_EQ(config.approval, "client");
    const Result<> read = read_tools_config(
        "approval = 'elicit'\nedit.lp1_eol = 'strict'\n[tools.edit]\nenabled = false\n"
        "max_snippet_bytes = 10\nmax_line_edit_bytes = '1K'\nrequire_file_hash = true\n"
        "[tools.revert_to_state]\nenabled = true\n",
        "x.toml", config);
    ASSERT_TRUE(read) << read.error().message();
    EXPECT_FALSE(config.edit.enabled);
    EXPECT_EQ(config.edit.max_snippet, 10U);
    EXPECT_EQ(config.edit.max_line_edit, 1024U);
    EXPECT_TRUE(config.edit.require_file_hash);
    EXPECT_EQ(config.edit.lp1_eol, edit::MixedEndings::kStrict);
    EXPECT_TRUE(config.revert_to_state);
    EXPECT_EQ(config.approval, "elicit");
}

TEST(Config, S165_bad_values_of_the_tools_name_their_key) {
    for (const char* line :
         {"approval = 'me'", "edit.lp1_eol = 'x'", "tools.edit.enabled = 1",
          "tools.edit.max_snippet_bytes = 0", "tools.edit.max_line_edit_bytes = '2G'",
          "tools.revert_to_state.enabled = 'yes'"})
        EXPECT_NE(failure(line).find("bad value for `"), std::string::npos) << line;
    EXPECT_NE(failure("tools.undo = 1").find("unknown key"), std::string::npos);
}

TEST(Config, RulesOfBothFilesFollowTheProfilesS44) {
    Config config;
    ASSERT_TRUE(read_config("[[policy.rule]]\npattern = 'a'\n", "user.toml", config));
    ASSERT_TRUE(
        read_config("[policy]\nprofile = 'none'\n[[policy.rule]]\npattern = 'b'\naction = "
                    "'deny'\nfor = 'agents'\nreason = 'why'\n[[policy.rule]]\npattern = "
                    "'!a'\n",
                    "own.toml", config));
    const auto policy = config.policy();
    ASSERT_TRUE(policy.ok());
    const std::vector<overlay::Rule>& rules = (*policy)->rules();
    ASSERT_EQ(rules.size(), 3U);
    EXPECT_EQ(rules[0].source, "user.toml:1");
    EXPECT_EQ(rules[1].action, overlay::Action::kDeny);
    EXPECT_EQ(rules[1].subjects, overlay::Subjects::kAgents);
    EXPECT_EQ(rules[1].reason, "why");
    ASSERT_TRUE(
        read_config("[policy]\nask_timeout = '90s'\n[[policy.rule]]\npattern = 'c'\naction = "
                    "'ask'\n",
                    "more.toml", config));
    EXPECT_EQ(config.session_options(true).ask_patience, std::chrono::seconds(90));
    EXPECT_TRUE(config.rules.back().action == overlay::Action::kAsk);
    EXPECT_EQ(config.session_options(true).size_cap.bytes, 10U << 20U);
    ASSERT_TRUE(
        read_config("[policy]\nprofile = 'default'\nsize_cap = '0'\nsize_cap_for = "
                    "'everyone'\ndatabases = 'everyone'\n",
                    "most.toml", config));
    EXPECT_EQ(config.size_cap.bytes, 0U);
    EXPECT_TRUE(config.size_cap.subjects == overlay::Subjects::kEveryone);
    EXPECT_TRUE((*config.policy())->judge("x/a.db-wal", 0100000, false).asks);
    EXPECT_EQ(config.session_options(true).breaker.deleted_share, 50U);
    EXPECT_FALSE(config.breaker.weighs_bytes() || config.breaker.weighs_directories());
    ASSERT_TRUE(
        read_config("[policy]\nprofile = 'none'\n[policy.breaker]\nfor = 'everyone'\n"
                    "deleted_share = '7%'\ndeletions = 1\ndeletions_per_second = 2\n"
                    "overwritten = '3K'\noverwritten_per_second = '1M'\ndirectories = 4\n"
                    "directories_per_second = 5\n",
                    "breaker.toml", config));
    const overlay::BreakerLimits limits = config.session_options(true).breaker;
    EXPECT_TRUE(limits.subjects == overlay::Subjects::kEveryone);
    EXPECT_EQ(limits.deleted_share, 7U);
    EXPECT_EQ(limits.deletions, 1U);
    EXPECT_EQ(limits.deletions_per_second, 2U);
    EXPECT_EQ(limits.overwritten, 3U << 10U);
    EXPECT_EQ(limits.overwritten_per_second, 1U << 20U);
    EXPECT_EQ(limits.directories, 4U);
    EXPECT_EQ(limits.directories_per_second, 5U);
    config.databases = "allow";
    EXPECT_FALSE((*config.policy())->judge("x/a.db-wal", 0100000, true).asks);
    EXPECT_TRUE((*policy)->judge("a", 0100000, true).is_free());
    EXPECT_FALSE((*policy)->judge("b", 0100000, true).may_read);
    EXPECT_GT(Config().policy().value_or(nullptr)->rules().size(), 20U);
}

TEST(Config, WhomRulesBindS44) {
    Config config;
    const auto binds = [&](std::size_t rule) {
        const auto policy = config.policy();
        EXPECT_TRUE(policy.ok());
        const auto& rules = (*policy)->rules();
        return rules[rules.size() - config.rules.size() + rule].subjects;
    };
    ASSERT_TRUE(
        read_config("[[policy.rule]]\npattern = 'a'\n[[policy.rule]]\npattern = 'b'\nfor = "
                    "'everyone'\n[[policy.rule]]\npattern = 'c'\nfor = 'agents'\n"
                    "[[policy.rule]]\npattern = 'd'\naction = 'hide'\n[[policy.rule]]\n"
                    "pattern = '!e'\n",
                    "user.toml", config));
    const auto agents = overlay::Subjects::kAgents;
    const auto everyone = overlay::Subjects::kEveryone;
    EXPECT_EQ(binds(0), agents);
    EXPECT_EQ(binds(1), everyone);
    EXPECT_EQ(binds(2), agents);
    EXPECT_EQ(binds(3), everyone) << "what is hidden is hidden from all";
    EXPECT_EQ(binds(4), everyone);
    EXPECT_TRUE((*config.policy())->judge(".env", 0100000, false).may_write);
    EXPECT_FALSE((*config.policy())->judge("a.db", 0100000, false).asks);
    ASSERT_TRUE(read_config("policy.bind = 'everyone'\n", "own.toml", config));
    EXPECT_EQ(binds(0), everyone) << "the workspace's file decides for the user's rules too";
    EXPECT_EQ(binds(2), agents);
    EXPECT_FALSE((*config.policy())->judge(".env", 0100000, false).may_write);
    EXPECT_TRUE((*config.policy())->judge(".env", 0100000, false).may_read);
    EXPECT_TRUE((*config.policy())->judge("a.db", 0100000, false).asks);
    EXPECT_EQ(failure("policy.bind = 'me'\n"), "x.toml:1: bad value for `policy.bind`");
}

TEST(Config, ErrorsNameFileAndLine) {
    EXPECT_EQ(failure("durability = 'power'\n\ncolour = 1\n"), "x.toml:3: unknown key colour");
    EXPECT_EQ(failure("[gc]\nage = 1\n"), "x.toml:2: unknown key gc.age");
    EXPECT_EQ(failure("durability = 'perhaps'\n"), "x.toml:1: bad value for `durability`");
    EXPECT_EQ(failure("\ndurability = true\n"), "x.toml:2: bad value for `durability`");
    EXPECT_EQ(failure("[gc]\nmax_age_days = -1\n"), "x.toml:2: bad value for `gc.max_age_days`");
    EXPECT_EQ(failure("[gc]\nmax_bytes = 'much'\n"), "x.toml:2: bad value for `gc.max_bytes`");
    EXPECT_EQ(failure("restore = 1\n"), "x.toml:1: bad value for `restore`");
    EXPECT_EQ(failure("[policy]\nprofile = 'lax'\n"), "x.toml:2: bad value for `policy.profile`");
    for (const char* bad : {"'0s'", "'soon'", "60", "'30d'"}) {
        EXPECT_EQ(failure(std::string("[policy]\nask_timeout = ") + bad + "\n"),
                  "x.toml:2: bad value for `policy.ask_timeout`");
    }
    for (const char* bad :
         {"size_cap = 'much'", "size_cap = 5", "size_cap_for = 'me'", "databases = 'deny'"}) {
        EXPECT_EQ(failure(std::string("[policy]\n") + bad + "\n")
                      .find("x.toml:2: bad value for `policy."),
                  0U)
            << bad;
    }
    for (const char* bad :
         {"for = 'me'", "deleted_share = 50", "deleted_share = '50'", "deleted_share = '100%'",
          "deletions = -1", "deletions = '5'", "overwritten = 'much'", "directories = 1.5"}) {
        EXPECT_EQ(failure(std::string("[policy.breaker]\n") + bad + "\n")
                      .find("x.toml:2: bad value for `policy.breaker."),
                  0U)
            << bad;
    }
    EXPECT_EQ(failure("[policy.breaker]\nfuse = 1\n"), "x.toml:2: unknown key policy.breaker.fuse");
    EXPECT_EQ(failure("[policy]\nbreaker = 'off'\n"), "x.toml:2: bad value for `policy.breaker`");
    EXPECT_EQ(failure("[[policy.rule]]\naction = 'deny'\n"), "x.toml:1: a rule without `pattern`");
    EXPECT_EQ(failure("[[policy.rule]]\npattern = 'a'\naction = 'ask nicely'\n"),
              "x.toml:3: bad value for `policy.rule.action`");
    EXPECT_EQ(failure("[[policy.rule]]\npattern = 'a'\nwho = 'me'\n"),
              "x.toml:3: unknown key policy.rule.who");
    EXPECT_NE(failure("[[policy.rule]]\npattern = 'a//b'\n").find("x.toml:1"), std::string::npos);
    EXPECT_TRUE(failure("a = = b\n").starts_with("x.toml:1: "));
    EXPECT_TRUE(failure("\xff\n").starts_with("x.toml:1: "));
    EXPECT_FALSE(failure(std::string(2 << 20, '#')).empty());
}

/// Where the user's file and what they agreed to are, and a workspace.
class Travelling : public ::testing::Test {
 protected:
    Travelling() {
        std::filesystem::create_directories(scratch_ / "config/unwrite");
        std::filesystem::create_directories(scratch_ / "w/.unwrite");
        ::setenv("XDG_CONFIG_HOME", (scratch_ / "config").c_str(), 1);
        ::setenv("XDG_STATE_HOME", (scratch_ / "state").c_str(), 1);
    }
    ~Travelling() override { ::unsetenv("XDG_STATE_HOME"); }

    void user(const std::string& text) { scratch_.write("config/unwrite/unwrite.toml", text); }
    Config with(const std::string& text) {
        scratch_.write("w/.unwrite/config.toml", text);
        const Result<UniqueFd> workspace =
            sys::open_at(AT_FDCWD, scratch_ / "w", O_RDONLY | O_DIRECTORY);
        EXPECT_TRUE(workspace);
        const Result<Config> config = load_config(workspace->get());
        EXPECT_TRUE(config) << config.error().message();
        return config ? *config : Config();
    }
    static bool may_write(const Config& config, const std::string& path, bool agent = true) {
        const auto policy = config.policy();
        EXPECT_TRUE(policy) << policy.error().message();
        const overlay::Verdict verdict = (*policy)->judge(path, S_IFREG, agent);
        return verdict.may_write && !verdict.asks;
    }

    const Scratch scratch_;
};

TEST_F(Travelling, S44_S167_WhatLoosensIsNotInForceWithoutTheUser) {
    user(
        "durability = 'power'\n[policy]\nbind = 'everyone'\nsize_cap = '1M'\n"
        "[[policy.rule]]\npattern = 'mine/**'\naction = 'deny-write'\n");
    const std::string text =
        "durability = 'process'\ngc.max_bytes = '1'\njournal.reserve = '0'\n"
        "[policy]\nprofile = 'none'\nbind = 'agents'\ndatabases = 'allow'\nsize_cap = '0'\n"
        "[policy.breaker]\ndeleted_share = '0%'\n"
        "[[policy.rule]]\npattern = '.env'\naction = 'allow'\n"
        "[[policy.rule]]\npattern = '!mine/**'\naction = 'deny'\n"
        "[[policy.rule]]\npattern = 'mine/asked'\naction = 'ask'\n";
    const Config config = with(text);
    EXPECT_TRUE(config.durable);
    EXPECT_EQ(config.profile, "default");
    EXPECT_EQ(config.bind, overlay::Subjects::kEveryone);
    EXPECT_EQ(config.size_cap.bytes, std::uint64_t{1} << 20);
    EXPECT_EQ(config.breaker.deleted_share, 50u);
    EXPECT_EQ(config.retention.max_bytes, 0u);
    EXPECT_FALSE(may_write(config, ".env"));
    EXPECT_FALSE(may_write(config, "mine/f"));
    const auto policy = config.policy();
    ASSERT_TRUE(policy);
    EXPECT_FALSE((*policy)->judge("mine/asked", S_IFREG, true).asks)
        << "it frees what is forbidden";
    EXPECT_EQ(config.held_back,
              (std::vector<std::string>{
                  "durability", "gc.max_bytes", "journal.reserve", "policy.profile", "policy.bind",
                  "policy.databases", "policy.size_cap", "policy.breaker.deleted_share",
                  "the rule in .unwrite/config.toml:11", "the rule in .unwrite/config.toml:14"}));
    ASSERT_TRUE(agree(text));
    const Config agreed = with(text);
    EXPECT_EQ(agreed.held_back, std::vector<std::string>());
    EXPECT_EQ(agreed.profile, "none");
    EXPECT_TRUE(may_write(agreed, ".env"));
    // One byte more is another text.
    EXPECT_EQ(with(text + "\n").profile, "default");
}

TEST_F(Travelling, S44_S167_WhatTightensIsInForce) {
    const Config config = with(
        "durability = 'power'\n[policy]\nbind = 'everyone'\nsize_cap = '1M'\n"
        "databases = 'everyone'\n[policy.breaker]\ndeletions = 10\n"
        "[[policy.rule]]\npattern = 'a/**'\naction = 'deny-write'\n"
        "[[policy.rule]]\npattern = 'b/**'\naction = 'ask'\n"
        "[[policy.rule]]\npattern = 'c'\naction = 'hide'\n");
    EXPECT_EQ(config.held_back, std::vector<std::string>());
    EXPECT_TRUE(config.durable);
    EXPECT_EQ(config.size_cap.bytes, std::uint64_t{1} << 20);
    EXPECT_EQ(config.breaker.deletions, 10u);
    EXPECT_FALSE(may_write(config, "a/f"));
    EXPECT_FALSE(may_write(config, "a/f", /*agent=*/false));
    EXPECT_FALSE(may_write(config, "b/f"));
    EXPECT_FALSE(may_write(config, "c"));
    EXPECT_TRUE(may_write(config, "d"));
}

TEST(Config, TheWorkspaceWinsOverTheUser) {
    const Scratch scratch;
    std::filesystem::create_directories(scratch / "config/unwrite");
    std::filesystem::create_directories(scratch / "w/.unwrite");
    scratch.write("config/unwrite/unwrite.toml", "durability = 'power'\nrestore.mtime = 'now'\n");
    scratch.write("w/.unwrite/config.toml", "durability = 'process'\n");
    ::setenv("XDG_CONFIG_HOME", (scratch / "config").c_str(), 1);
    const Result<UniqueFd> workspace =
        sys::open_at(AT_FDCWD, scratch / "w", O_RDONLY | O_DIRECTORY);
    ASSERT_TRUE(workspace);
    ::setenv("XDG_STATE_HOME", (scratch / "state").c_str(), 1);
    ASSERT_TRUE(agree("durability = 'process'\n"));
    const Result<Config> config = load_config(workspace->get());
    ::unsetenv("XDG_STATE_HOME");
    ASSERT_TRUE(config) << config.error().message();
    EXPECT_FALSE(config->durable);
    EXPECT_TRUE(config->mtime_now);
}

TEST(Config, AbsentFilesAreFine) {
    const Scratch scratch;
    ::setenv("XDG_CONFIG_HOME", (scratch / "none").c_str(), 1);
    EXPECT_TRUE(load_user_config());
    const Result<UniqueFd> workspace =
        sys::open_at(AT_FDCWD, scratch.path(), O_RDONLY | O_DIRECTORY);
    EXPECT_TRUE(load_config(workspace->get()));
}

}  // namespace
}  // namespace unwrite::cli
