// The protocol without a workspace: versions, order, cancellation, what is listed.
#include "mcp/server.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace unwrite::mcp {
namespace {

class ServerTest : public testing::Test {
 protected:
    Json ask(const std::string& line) {
        const std::size_t before = sent_.size();
        server_.take(line);
        while (server_.step()) {
        }
        return sent_.size() > before ? Json::parse(sent_.back()) : Json();
    }
    Json modern(const std::string& method, const std::string& rest = "") {
        return ask(R"({"jsonrpc":"2.0","id":5,"method":")" + method + R"(","params":{)" + rest +
                   R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}})");
    }

    std::vector<std::string> sent_;
    int entered_ = 0;
    Server server_{{[this]() -> Result<std::unique_ptr<Room>> {
                       ++entered_;
                       return Error(ErrorKind::kNoWorkspace, ENOENT, "nothing is mounted");
                   }},
                   [this](const std::string& line) { sent_.push_back(line); }};
};

TEST_F(ServerTest, a_request_before_the_handshake_is_refused_and_one_after_it_served) {
    const std::string list = R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})";
    EXPECT_EQ(ask(list)["error"]["code"], -32600);
    const Json hello = ask(
        R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}})");
    EXPECT_EQ(hello["result"]["protocolVersion"], "2025-06-18");
    const Json answer = ask(list);
    EXPECT_EQ(answer["result"]["tools"].size(), 8u);
    EXPECT_FALSE(answer["result"].contains("resultType"));
}

TEST_F(ServerTest, an_unknown_version_of_the_handshake_gets_the_newest) {
    const Json hello = ask(
        R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"1999-01-01"}})");
    EXPECT_EQ(hello["result"]["protocolVersion"], "2025-11-25");
}

TEST_F(ServerTest, a_request_that_names_its_version_needs_no_handshake) {
    const Json answer = modern("tools/list");
    EXPECT_EQ(answer["result"]["resultType"], "complete");
    EXPECT_TRUE(answer["result"]["ttlMs"].is_number_integer());
    EXPECT_EQ(modern("server/discover")["result"]["supportedVersions"], Json({"2026-07-28"}));
}

TEST_F(ServerTest, S39_nothing_is_opened_before_a_tool_is_called) {
    modern("server/discover");
    modern("tools/list");
    modern("resources/list");
    modern("prompts/list");
    EXPECT_EQ(entered_, 0);
    const Json answer = modern("tools/call", R"("name":"status",)");
    EXPECT_EQ(entered_, 1);
    EXPECT_EQ(answer["result"]["isError"], true);
    EXPECT_EQ(answer["result"]["content"][0]["text"], "nothing is mounted");
}

TEST_F(ServerTest, S2_S26_arguments_of_Undo_are_refused_before_anything_is_opened) {
    const Json answer = modern("tools/call", R"("name":"Undo","arguments":{"path":"x"},)");
    EXPECT_EQ(answer["result"]["isError"], true);
    EXPECT_EQ(answer["result"]["content"][0]["text"], "Bad args: Undo takes no arguments");
    EXPECT_EQ(entered_, 0);
}

TEST_F(ServerTest, S129_both_names_of_Edit_are_known_and_others_are_not) {
    EXPECT_TRUE(modern("tools/call", R"("name":"edit",)").contains("result"));
    EXPECT_TRUE(modern("tools/call", R"("name":"Edit",)").contains("result"));
    const Json unknown = modern("tools/call", R"("name":"undo",)")["error"];
    EXPECT_EQ(unknown["code"], -32602);
    EXPECT_EQ(unknown["message"], "Unknown tool: undo");
}

TEST_F(ServerTest, a_cancelled_request_that_waits_is_neither_done_nor_answered) {
    server_.take(
        R"({"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"status","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}})");
    server_.take(
        R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}})");
    while (server_.step()) {
    }
    EXPECT_EQ(entered_, 0);
    EXPECT_TRUE(sent_.empty());
}

TEST_F(ServerTest, a_batch_is_answered_in_one_line) {
    const Json answer =
        ask(R"([{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"x"},7])");
    ASSERT_EQ(answer.size(), 2u);
    EXPECT_EQ(answer[0]["id"], 1);
    EXPECT_EQ(answer[1]["error"]["code"], -32600);
}

}  // namespace
}  // namespace unwrite::mcp
