#include "cli/config_agents.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "cli/config.h"

namespace unwrite::cli {
namespace {

using Words = std::vector<std::string>;

std::vector<KnownAgent> agents(std::string_view text) {
    Config config;
    const Result<> read = read_config(text, "x.toml", config);
    EXPECT_TRUE(read) << read.error().message();
    return with_configured(known_agents(), config.agents);
}
std::string failure(const std::string& text) {
    Config config;
    const Result<> read = read_config(text, "x.toml", config);
    return read ? "" : read.error().message();
}
const KnownAgent& one(const std::vector<KnownAgent>& all, const std::string& name) {
    return *std::find_if(all.begin(), all.end(),
                         [&](const KnownAgent& agent) { return agent.name == name; });
}

TEST(ConfiguredAgents, S43_one_that_the_table_does_not_have) {
    const auto all = agents(
        "[agents.aider]\nstate = ['~/.aider', '~/.local/share/aider/']\nkeep = "
        "['~/.aider.*.json']\n"
        "options = ['--no-x', 'y']\nenvironment = { AIDER_LIGHT = '1' }\npackages = "
        "['@a/aider']\n");
    ASSERT_EQ(all.size(), known_agents().size() + 1);
    const KnownAgent& aider = one(all, "aider");
    EXPECT_EQ(aider.programs, Words{"aider"});
    EXPECT_EQ(aider.packages, Words{"@a/aider"});
    EXPECT_EQ(aider.options, (Words{"--no-x", "y"}));
    ASSERT_EQ(aider.places.size(), 3u);
    EXPECT_EQ(aider.places[0].path, ".aider");
    EXPECT_EQ(aider.places[0].live, Words{""});
    EXPECT_EQ(aider.places[1].path, ".local/share/aider");
    EXPECT_EQ(aider.places[2].path, "");
    EXPECT_EQ(aider.places[2].kept, Words{".aider.*.json"});
    ASSERT_EQ(aider.environment.size(), 1u);
    EXPECT_EQ(aider.environment[0].first, "AIDER_LIGHT");
    const Recognised found = recognise(all, {"npx", "@a/aider", "x"}, "/none");
    ASSERT_NE(found.agent, nullptr);
    EXPECT_EQ(found.agent->name, "aider");
}

TEST(ConfiguredAgents, S167_endpoints) {
    const auto all = agents(
        "[agents.aider]\nendpoints = ['api.example.com', '127.0.0.1:11434']\n"
        "[agents.claude]\nendpoints = ['[::1]:80']\n");
    EXPECT_EQ(one(all, "aider").own_endpoints, (Words{"api.example.com", "127.0.0.1:11434"}));
    EXPECT_TRUE(one(all, "aider").endpoints.empty());
    EXPECT_EQ(one(all, "claude").own_endpoints, Words{"[::1]:80"});
    EXPECT_EQ(one(all, "claude").endpoints, known_agents()[0].endpoints);
    for (const char* bad : {"'*.example.com'", "'https://a'", "'a:0'", "''", "7", "'a b'"}) {
        const std::string words = failure("[agents.x]\nendpoints = [" + std::string(bad) + "]\n");
        EXPECT_NE(words.find("agents.x.endpoints"), std::string::npos) << bad << ": " << words;
        EXPECT_NE(words.find("x.toml:2"), std::string::npos) << words;
    }
}

TEST(ConfiguredAgents, S43_more_for_one_of_the_table) {
    const auto all = agents(
        "[agents.claude]\nprograms = ['claude-next']\nstate = ['~/.claude-flow']\n"
        "[agents.work]\nprograms = ['w', 'v']\n");
    ASSERT_EQ(all.size(), known_agents().size() + 1);
    EXPECT_EQ(one(all, "claude").programs, (Words{"claude", "claude-next"}));
    EXPECT_EQ(one(all, "claude").places.back().path, ".claude-flow");
    EXPECT_EQ(one(all, "work").programs, (Words{"w", "v"}));
}

TEST(ConfiguredAgents, S43_what_is_wrong_is_named_with_its_line) {
    EXPECT_EQ(failure("\n[agents.a]\nstat = []\n"), "x.toml:3: unknown key agents.a.stat");
    EXPECT_NE(failure("agents = 1\n").find("x.toml:1: bad value for `agents`"), std::string::npos);
    EXPECT_NE(failure("[agents]\nclaude = 1\n").find("tables such as"), std::string::npos);
    EXPECT_NE(failure("[agents.'a/b']\n").find("bad value for `agents`"), std::string::npos);
    EXPECT_NE(failure("[agents.a]\nstate = '~/.a'\n").find("agents.a.state`: it takes a list"),
              std::string::npos);
    EXPECT_NE(failure("[agents.a]\noptions = [1]\n").find("a list of texts"), std::string::npos);
    for (const char* place : {"/etc/a", "~", "~/", ".a", "~/a/../..", "~/./a", "~//a", ""}) {
        EXPECT_NE(failure("[agents.a]\nkeep = ['" + std::string(place) + "']\n").find("it takes"),
                  std::string::npos)
            << place;
    }
    for (const char* place : {"~/.ssh", "~/.config/", "~/.local/bin", "~/.config/unwrite/x",
                              "~/.local/state/unwrite"}) {
        EXPECT_NE(failure("[agents.a]\nstate = ['" + std::string(place) + "']\n").find("cannot be"),
                  std::string::npos)
            << place;
    }
    EXPECT_NE(failure("[agents.a]\nenvironment = { UNWRITE_SESSION = 'x' }\n").find("cannot set"),
              std::string::npos);
    EXPECT_NE(failure("[agents.a]\nenvironment = { '1=' = 'x' }\n").find("cannot set"),
              std::string::npos);
    EXPECT_NE(failure("[agents.a]\nenvironment = { A = 1 }\n").find("a table of texts"),
              std::string::npos);
}

}  // namespace
}  // namespace unwrite::cli
