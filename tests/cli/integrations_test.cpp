#include "cli/integrations.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "cli/installing.h"
#include "cli/json_text.h"
#include "tests/cli/scratch.h"

namespace unwrite::cli {
namespace {

using Files = std::map<std::string, std::string>;

class Integrations : public testing::TestWithParam<std::string> {
 protected:
    void SetUp() override {
        ::setenv("HOME", (scratch_ / "home").c_str(), 1);
        ::setenv("XDG_STATE_HOME", (scratch_ / "state").c_str(), 1);
        ::unsetenv("CODEX_HOME");
        std::filesystem::create_directories(project());
        std::filesystem::create_directories(scratch_ / "home/.codex");
    }
    std::string project() const { return scratch_ / "project"; }
    Integration integration() const {
        auto one = integration_of(GetParam(), project());
        EXPECT_TRUE(one);
        return *std::move(one);
    }
    // The client's file of hooks, or nothing for one that has none.
    std::string hooks_file() const {
        const std::map<std::string, std::string> names = {
            {"claude-code", "project/.claude/settings.json"},
            {"codex", "home/.codex/hooks.json"},
            {"gemini-cli", "project/.gemini/settings.json"}};
        const auto found = names.find(GetParam());
        return found == names.end() ? "" : found->second;
    }
    // All but what is remembered.
    Files seen() const {
        Files files;
        for (const auto& entry : std::filesystem::recursive_directory_iterator(scratch_.path())) {
            const std::string name =
                std::filesystem::relative(entry.path(), scratch_.path()).string();
            if (name.starts_with("state")) continue;
            files[name] = entry.is_regular_file() ? scratch_.read(name) : "/";
        }
        return files;
    }
    void put_in() const {
        auto files = FileSet::open();
        ASSERT_TRUE(files);
        const auto plan = plan_install(*files, integration());
        ASSERT_TRUE(plan) << plan.error().message();
        const auto done = install(*files, integration(), *plan);
        ASSERT_TRUE(done) << done.error().message();
    }
    void take_out() const {
        auto files = FileSet::open();
        ASSERT_TRUE(files);
        const auto plan = plan_removal(*files, integration());
        ASSERT_TRUE(plan) << plan.error().message();
        const auto done = remove_install(*files, integration(), *plan);
        ASSERT_TRUE(done) << done.error().message();
    }
    void somebody_writes(const std::string& name, const std::string& text) const {
        std::filesystem::create_directories(std::filesystem::path(scratch_ / name).parent_path());
        scratch_.write(name, text);
    }

    Scratch scratch_;
};

// Those that keep hooks in a file of JSON.
class IntegrationsWithHooks : public Integrations {};

// How often our hook is in a list of hooks that the client would run for a prompt.
int our_hooks(const std::string& text) {
    const auto json = parse_commented(text);
    EXPECT_TRUE(json) << text;
    int count = 0;
    const OrderedJson events = json ? json->value("hooks", OrderedJson::object()) : OrderedJson();
    for (const char* event : {"UserPromptSubmit", "BeforeAgent"}) {
        for (const OrderedJson& group : events.value(event, OrderedJson::array())) {
            for (const OrderedJson& hook : group.value("hooks", OrderedJson::array()))
                count += hook.value("command", "").find("unwrite ") == 0 ||
                         hook.value("command", "").find("; unwrite ") != std::string::npos;
        }
    }
    return count;
}

// Whatever else stands between them.
bool holds_in_order(const std::string& text, const std::vector<std::string>& parts) {
    std::size_t at = 0;
    for (const std::string& part : parts) {
        at = text.find(part, at);
        if (at == std::string::npos) return false;
        at += part.size();
    }
    return true;
}

TEST_P(Integrations, S1_WithNothingThereItComesOnceAndGoesWithoutATrace) {
    const Files before = seen();
    put_in();
    const Files after = seen();
    EXPECT_NE(after, before);
    if (!hooks_file().empty()) {
        EXPECT_EQ(our_hooks(after.at(hooks_file())), 1);
    } else {
        EXPECT_EQ(after.at("project/.opencode/plugins/unwrite.js"),
                  integration_text("opencode/plugins/unwrite.js"));
    }
    put_in();
    EXPECT_EQ(seen(), after);
    take_out();
    EXPECT_EQ(seen(), before);
}

TEST_P(IntegrationsWithHooks, S1_AHookComesBesideThoseOfOthersWhichKeepEveryByte) {
    const std::string event = GetParam() == "gemini-cli" ? "BeforeAgent" : "UserPromptSubmit";
    const std::string head =
        "{\r\n\t// of mine\r\n\t\"hooks\" : {\r\n\t\t\"SubagentStop\":[ ],\r\n\t\t\"";
    const std::string list =
        "\": [\r\n\t\t\t{ \"matcher\":\"*\",  \"hooks\": [ {\"type\":\"command\"} ] }";
    const std::string tail = "\r\n\t\t]\r\n\t}";
    const std::string end = " /* end */";
    somebody_writes(hooks_file(), head + event + list + tail + end + "\r\n}\r\n");
    const Files before = seen();
    put_in();
    const Files after = seen();
    const std::string text = after.at(hooks_file());
    EXPECT_EQ(our_hooks(text), 1);
    EXPECT_TRUE(holds_in_order(text, {head + event + list, tail, end, "\r\n}\r\n"})) << text;
    put_in();
    EXPECT_EQ(seen(), after);
    take_out();
    EXPECT_EQ(seen(), before);
}

TEST_P(IntegrationsWithHooks, S1_WhatWasAddedSinceStaysAndOurHookGoes) {
    somebody_writes(hooks_file(), "{\n  \"theirs\": 1\n}\n");
    put_in();
    std::string text = scratch_.read(hooks_file());
    text.insert(text.find('{') + 1, "\n  \"since\": [1,  2],");
    scratch_.write(hooks_file(), text);
    take_out();
    EXPECT_EQ(scratch_.read(hooks_file()), "{\n  \"since\": [1,  2],\n  \"theirs\": 1\n}\n");
}

TEST_P(Integrations, S1_AHookOfAnOtherFormIsInTheWayAndNothingIsDone) {
    if (hooks_file().empty()) {
        somebody_writes("project/.opencode/plugins/unwrite.js", "export const Mine = 1;\n");
    } else {
        somebody_writes(hooks_file(), R"({"hooks": "none"})");
    }
    const Files before = seen();
    auto files = FileSet::open();
    ASSERT_TRUE(files);
    const auto plan = plan_install(*files, integration());
    ASSERT_FALSE(plan);
    EXPECT_EQ(plan.error().kind(), ErrorKind::kConflict);
    EXPECT_NE(plan.error().advice().find("unwrite "), std::string::npos) << plan.error().advice();
    EXPECT_EQ(seen(), before);
}

std::string suffix(const testing::TestParamInfo<std::string>& one) {
    std::string name = one.param;
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
}
INSTANTIATE_TEST_SUITE_P(All, Integrations,
                         testing::Values("claude-code", "codex", "gemini-cli", "opencode"), suffix);
INSTANTIATE_TEST_SUITE_P(All, IntegrationsWithHooks,
                         testing::Values("claude-code", "codex", "gemini-cli"), suffix);

}  // namespace
}  // namespace unwrite::cli
