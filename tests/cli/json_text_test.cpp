#include "cli/json_text.h"

#include <gtest/gtest.h>

#include "tests/edit/random.h"

namespace unwrite::cli {
namespace {

const OrderedJson kServer =
    OrderedJson::parse(R"({"mcpServers": {"unwrite": {"command": "unwrite", "args": ["mcp"]}}})");
const OrderedJson kHook = OrderedJson::parse(
    R"({"hooks": {"UserPromptSubmit": [{"hooks": [{"type": "command", "command": "x"}]}]}})");

std::string with(const std::string& text, const OrderedJson& wanted = kServer) {
    const auto done = with_entries(text, wanted);
    return done ? *done : "?" + done.error().message();
}
std::string without(const std::string& text, const std::string& before,
                    const OrderedJson& wanted = kServer) {
    const auto was = parse_commented(before);
    EXPECT_TRUE(was);
    const auto done = without_entries(text, wanted, was ? *was : OrderedJson());
    return done ? *done : "?" + done.error().message();
}

TEST(JsonText, AMemberComesLastAndNothingElseMoves) {
    EXPECT_EQ(with("{\n    \"a\" : [1,2] // mine\n}\n", OrderedJson{{"k", {{"x", 1}}}}),
              "{\n    \"a\" : [1,2], // mine\n    \"k\": {\n        \"x\": 1\n    }\n}\n");
    EXPECT_EQ(with("{\t\"a\": 1}", OrderedJson{{"k", 2}}), "{\t\"a\": 1, \"k\": 2}");
    EXPECT_EQ(with("{\r\n\t\"mcpServers\": {\r\n\t\t\"o\": {}\r\n\t}\r\n}"),
              "{\r\n\t\"mcpServers\": {\r\n\t\t\"o\": {},\r\n\t\t\"unwrite\": {\r\n"
              "\t\t\t\"command\": \"unwrite\",\r\n\t\t\t\"args\": [\r\n\t\t\t\t\"mcp\"\r\n\t\t\t]"
              "\r\n\t\t}\r\n\t}\r\n}");
    EXPECT_EQ(with("{} // end\n", OrderedJson{{"k", 2}}), "{\n  \"k\": 2\n} // end\n");
    EXPECT_EQ(with("{ /* none */ }", OrderedJson{{"k", 2}}), "{\n  \"k\": 2 /* none */ }");
    EXPECT_EQ(with("\xef\xbb\xbf{}", OrderedJson{{"k", 2}}), "\xef\xbb\xbf{\n  \"k\": 2\n}");
    EXPECT_EQ(with("", OrderedJson{{"k", 2}}), "{\n  \"k\": 2\n}\n");
}

TEST(JsonText, WhatIsThereIsNotAddedAgain) {
    for (const std::string text :
         {R"({"mcpServers": {"unwrite": {"args": ["mcp"], "command": "unwrite", "env": {}}}})",
          R"(/* c */ {"mcpServers":{"unwrite":{"command":"unwrite","args":["mcp"]}}})"})
        EXPECT_EQ(with(text), text);
    const std::string hooked = with("{}", kHook);
    EXPECT_EQ(with(hooked, kHook), hooked);
    const std::string other = R"({"hooks": {"UserPromptSubmit": [{"hooks": []}]}})";
    EXPECT_EQ(with(other, kHook),
              R"({"hooks": {"UserPromptSubmit": [{"hooks": []}, {"hooks":[{"type":"command",)"
              R"("command":"x"}]}]}})");
}

TEST(JsonText, WhatIsInTheWayIsRefused) {
    for (const std::string text :
         {R"({"mcpServers": {"unwrite": {"command": "other", "args": ["mcp"]}}})",
          R"({"mcpServers": {"unwrite": {"command": "unwrite"}}})", R"({"mcpServers": []})",
          R"({"mcpServers": null})"}) {
        const auto refused = with_entries(text, kServer);
        ASSERT_FALSE(refused) << text;
        EXPECT_EQ(refused.error().kind(), ErrorKind::kConflict);
        EXPECT_TRUE(refused.error().message().starts_with("it has something else in mcpServers"));
    }
}

TEST(JsonText, WhatIsNoJsonIsRefused) {
    EXPECT_EQ(with("{\"a\": 1,}"), "?it is not JSON");
    EXPECT_EQ(with("{"), "?it is not JSON");
    EXPECT_EQ(with("[]"), "?it is not a JSON object");
    EXPECT_EQ(with("\xff"), "?it is not JSON");
    EXPECT_EQ(with("{\"a\": 1, \"a\": 2}"), "?it has \"a\" twice");
    EXPECT_EQ(with("{\"a\":" + std::string(100000, '[') + std::string(100000, ']') + "}"),
              "?it is nested too deeply");
}

TEST(JsonText, WhatWasAddedGoesAndWhatWasThereStays) {
    for (const std::string before :
         {"{}", "{\n  \"mcpServers\": {}\n}\n", "{\"a\": {\"b\": 1}}",
          "{\n  // mine\n  \"a\": 1\n}\n", "{\"mcpServers\": {\"o\": 1}}",
          "{\n\t\"mcpServers\": {\n\t\t\"o\": {} // it\n\t}\n}\n"}) {
        const std::string after = with(before);
        EXPECT_NE(after, before);
        EXPECT_EQ(without(after, before), before);
    }
    const std::string mine = with("{\n  \"a\": 1\n}\n");
    std::string grown = mine;
    grown.replace(grown.find("\"a\""), 3, "\"new\": 2, \"a\"");
    EXPECT_EQ(without(grown, "{\n  \"a\": 1\n}\n"), "{\n  \"new\": 2, \"a\": 1\n}\n");
    EXPECT_EQ(
        without(R"({"mcpServers": {"unwrite": {"command": "unwrite", "args": ["mcp"]}, "o": 1}})",
                "{}"),
        R"({"mcpServers": { "o": 1}})");
}

TEST(JsonText, AnEntryThatTheUserChangedStays) {
    const std::string text =
        R"({"mcpServers": {"unwrite": {"command": "unwrite", "args": ["mcp"], "env": {"A": "b"}}}})";
    EXPECT_EQ(without(text, "{}"), text);
}

TEST(JsonText, AnyObjectIsItselfAgain) {
    edit::Random random(4);
    SCOPED_TRACE(random.trace());
    const std::vector<std::string> blanks = {"", " ", "\n", "\n  ", "\t", " // c\n", "/* { */"};
    for (int round = 0; round < 1000; ++round) {
        const auto gap = [&] { return random.one_of(blanks); };
        std::string text = gap() + "{" + gap();
        const std::size_t count = random.below(4);
        for (std::size_t i = 0; i < count; ++i) {
            const std::string value = random.one_of(std::vector<std::string>{
                "1", "\"}\\\"\"", "[1,{}]", "{\"x\":null}", "{ }", "-1.5e3", "true"});
            const std::string key = random.chance(3) ? "mcpServers" : "k" + std::to_string(i);
            if (text.find('"' + key + '"') != std::string::npos) continue;
            if (text.find(':') != std::string::npos) text += "," + gap();
            text += '"' + key + '"' + gap() + ":" + gap();
            text += (key == "mcpServers" ? "{\"o\":" + value + gap() + "}" : value) + gap();
        }
        text += "}" + gap();
        const auto was = parse_commented(text);
        if (!was) continue;  // two slashes met
        const auto after = with_entries(text, kServer);
        ASSERT_TRUE(after) << text << after.error().message();
        const auto now = parse_commented(*after);
        ASSERT_TRUE(now) << *after;
        ASSERT_TRUE((*now)["mcpServers"].contains("unwrite")) << *after;
        const auto back = without_entries(*after, kServer, *was);
        ASSERT_TRUE(back) << text << " -> " << *after << ": " << back.error().message();
        ASSERT_EQ(*parse_commented(*back), *was) << text << " -> " << *after << " -> " << *back;
    }
}

}  // namespace
}  // namespace unwrite::cli
