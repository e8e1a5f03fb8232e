#include "cli/known_agents.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/cli/scratch.h"

namespace unwrite::cli {
namespace {

using Words = std::vector<std::string>;

class KnownAgents : public ::testing::Test {
 protected:
    std::string named(const Words& command, const std::string& path = "/none") {
        const Recognised found = recognise(agents_, command, path);
        return found.agent == nullptr ? "" : found.agent->name + std::to_string(found.arguments);
    }
    std::string script(const std::string& name, const std::string& text) {
        const std::string file = scratch_.path() + "/" + name;
        std::ofstream(file) << text;
        std::filesystem::permissions(file, std::filesystem::perms::owner_all);
        return file;
    }
    const std::vector<KnownAgent> agents_ = known_agents();
    Scratch scratch_;
};

TEST_F(KnownAgents, AreRecognisedByTheProgram) {
    EXPECT_EQ(named({"claude", "-p", "x"}), "claude1");
    EXPECT_EQ(named({"/opt/bin/codex"}), "codex1");
    EXPECT_EQ(named({"env", "A=b", "gemini", "-p", "x"}), "gemini3");
    EXPECT_EQ(named({"timeout", "60", "opencode", "run", "x"}), "opencode3");
    EXPECT_EQ(named({"make", "claude"}), "");
    EXPECT_EQ(named({"cat", "codex"}), "");
    EXPECT_EQ(named({}), "");
}

TEST_F(KnownAgents, AreRecognisedBehindRunnersOfPackages) {
    EXPECT_EQ(named({"npx", "-y", "@anthropic-ai/claude-code@2.1.197", "-p", "x"}), "claude3");
    EXPECT_EQ(named({"npx", "@google/gemini-cli"}), "gemini2");
    EXPECT_EQ(named({"npm", "exec", "--", "@openai/codex", "x"}), "codex4");
    EXPECT_EQ(named({"pnpm", "dlx", "opencode-ai@latest"}), "opencode3");
    EXPECT_EQ(named({"bunx", "codex"}), "codex2");
    EXPECT_EQ(named({"npm", "install", "@openai/codex"}), "");
    EXPECT_EQ(named({"npx"}), "");
}

TEST_F(KnownAgents, AreRecognisedBehindNodeLinksAndScripts) {
    std::filesystem::create_directories(scratch_.path() +
                                        "/node_modules/@google/gemini-cli/bundle");
    const std::string bundle = script("node_modules/@google/gemini-cli/bundle/main.js", "");
    EXPECT_EQ(named({"node", "--no-warnings", bundle, "-p", "x"}), "gemini3");
    std::filesystem::create_symlink(bundle, scratch_.path() + "/g");
    EXPECT_EQ(named({"g", "-p", "x"}, "/none:" + scratch_.path()), "gemini1");
    EXPECT_EQ(named({script("ask", "#!/bin/sh\n# not gemini\nA=b exec /opt/claude \"$@\"\n"), "x"}),
              "claude1");
    EXPECT_EQ(named({"bash", script("w", "#!/bin/sh\ncd /; npx -y codex \"$@\"\n"), "x"}),
              "codex2");
    EXPECT_EQ(named({script("v", "#!/bin/sh\necho codex; grep claude notes\n")}), "");
    EXPECT_EQ(named({"bash", "-c", "cd src && claude -p 'do it'"}), "claude0");
}

TEST_F(KnownAgents, GetTheirOptionsInPlaceOfASandboxOfTheirOwn) {
    const KnownAgent& codex = agents_[1];
    Words command = {"npx", "codex", "exec", "-s", "workspace-write", "--sandbox=x", "-s"};
    ASSERT_TRUE(adapt(codex, 2, command));
    ASSERT_EQ(command.size(), 3 + codex.options.size());
    EXPECT_EQ(command[2], codex.options[0]);
    EXPECT_EQ(command.back(), "exec");
    Words strict = {"codex", "--sandbox", "read-only"};
    EXPECT_FALSE(adapt(codex, 1, strict));
    Words inside = {"sh", "-c", "codex -s read-only"};
    ASSERT_TRUE(adapt(codex, 0, inside));
    EXPECT_EQ(inside.size(), 3u);
}

TEST_F(KnownAgents, PatternsCoverWhatIsBelow) {
    EXPECT_TRUE(covers("tmp", "tmp/a/b"));
    EXPECT_TRUE(covers("*.lock", "x.lock/y"));
    EXPECT_FALSE(covers("*.lock", "a/x.lock"));
    EXPECT_FALSE(covers("tmp", "tmpx"));
    EXPECT_TRUE(covers("*", ".x"));
}

}  // namespace
}  // namespace unwrite::cli
