#include "cli/toml_text.h"

#include <gtest/gtest.h>

namespace unwrite::cli {
namespace {

const std::string kTable = "[mcp_servers.unwrite]\ncommand = \"unwrite\"\nargs = [\"mcp\"]\n";

std::string with(const std::string& text) {
    const auto done = with_table(text, kTable);
    return done ? *done : "?" + done.error().message();
}
std::string without(const std::string& text) {
    const auto done = without_table(text, kTable);
    return done ? *done : "?" + done.error().message();
}

TEST(TomlText, TheTableComesLastAndGoesAgain) {
    EXPECT_EQ(with(""), kTable);
    EXPECT_EQ(without(kTable), "");
    for (const std::string text : {"model = 'x' # mine\n", "[mcp_servers.other]\ncommand='y'\n",
                                   "# nothing\n", "[[a]]\nb = 1\n[a.c]\n"}) {
        EXPECT_EQ(with(text), text + "\n" + kTable);
        EXPECT_EQ(without(with(text)), text);
        EXPECT_EQ(with(with(text)), with(text));
    }
    EXPECT_EQ(with("a = 1"), "a = 1\n\n" + kTable);
    EXPECT_EQ(
        with("a = 1\r\n"),
        "a = 1\r\n\r\n[mcp_servers.unwrite]\r\ncommand = \"unwrite\"\r\nargs = [\"mcp\"]\r\n");
    EXPECT_EQ(without(with("a = 1\r\n")), "a = 1\r\n");
    EXPECT_EQ(without(with("a = 1\n") + "[b]\nc = 2\n"), "a = 1\n[b]\nc = 2\n");
}

TEST(TomlText, WhatIsThereStays) {
    const std::string more = "[mcp_servers.unwrite]\nargs = ['mcp']\ncommand = 'unwrite'\nx = 1\n";
    EXPECT_EQ(with(more), more);
    EXPECT_EQ(without(more), more);
    EXPECT_EQ(without("a = 1\n"), "a = 1\n");
    EXPECT_EQ(without(kTable + "env = {}\n"), kTable + "env = {}\n");
}

TEST(TomlText, WhatIsInTheWayIsRefused) {
    for (const std::string text :
         {"[mcp_servers.unwrite]\ncommand = 'other'\nargs = ['mcp']\n",
          "[mcp_servers.unwrite]\ncommand = 'unwrite'\n", "mcp_servers = 1\n",
          "mcp_servers = { other = { command = 'x' } }\n"}) {
        const auto refused = with_table(text, kTable);
        ASSERT_FALSE(refused) << text;
        EXPECT_EQ(refused.error().kind(), ErrorKind::kConflict);
    }
    EXPECT_TRUE(with("a = \n").starts_with("?it is not TOML: line 1: ")) << with("a = \n");
    EXPECT_TRUE(with("\xff\n").starts_with("?it is not TOML")) << with("\xff\n");
    EXPECT_TRUE(with("a = " + std::string(100000, '[')).starts_with("?it is not TOML"));
}

}  // namespace
}  // namespace unwrite::cli
