// A refused call says in both halves of its answer what to do, before anything is opened.
#include <gtest/gtest.h>

#include <cerrno>

#include "mcp/server.h"

namespace unwrite::mcp {
namespace {

class Advice : public testing::Test {
 protected:
    Json call(const std::string& tool, const std::string& arguments) {
        server_.take(R"({"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":")" + tool +
                     R"(","arguments":)" + arguments +
                     R"(,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}})");
        while (server_.step()) {
        }
        return answer_["result"];
    }
    /// What the structured part says, after a look whether the text says it too.
    std::string next(const std::string& tool, const std::string& arguments) {
        const Json result = call(tool, arguments);
        EXPECT_EQ(result["isError"], true) << arguments;
        const std::string words = result["structuredContent"]["next"];
        EXPECT_NE(words, "") << tool << arguments;
        std::string text;
        for (const Json& block : result["content"])
            text += block["text"].get<std::string>() + "\n";
        EXPECT_NE(text.find("next: " + words), std::string::npos) << text;
        return words;
    }

    Json answer_;
    Server server_{{.enter = []() -> Result<std::unique_ptr<Room>> {
                        return Error(ErrorKind::kSystem, EIO, "it is broken");
                    },
                    .revert_to_state = true},
                   [this](const std::string& line) { answer_ = Json::parse(line); }};
};

TEST_F(Advice, S132_S140_a_bad_argument_says_what_to_give_instead) {
    for (const std::string number : {"1.5", "\"2\"", "-1", "0", "18446744073709551616"}) {
        EXPECT_EQ(next("Read", R"({"path":"a","start_line":)" + number + "}"),
                  "Give start_line as a whole number from 1 to 4294967295, or leave it out.");
        EXPECT_EQ(answer_["result"]["structuredContent"]["path"], "a");
    }
    EXPECT_EQ(next("log", R"({"limit":0})"),
              "Give limit as a whole number from 1 to 200, or leave it out.");
    EXPECT_EQ(next("checkpoint", R"({"name":1})"), "Give name as a string, or leave it out.");
    EXPECT_EQ(next("rollback", R"({"to":["n1"]})"), "Give to as a string, or leave it out.");
    EXPECT_EQ(next("rollback", R"({"dry_run":"true"})"),
              "Give dry_run as true or false, without quotes, or leave it out.");
    EXPECT_EQ(next("diff", R"({"paths":"src"})"),
              "Give paths as a list of strings, such as [\"src\"], or leave it out.");
    EXPECT_EQ(next("Read", "{}"), "Call the tool again with path.");
}

TEST_F(Advice, S132_S168_characters_that_nobody_sees_are_shown) {
    EXPECT_EQ(next("checkpoint", R"({"text":"a\u0007b"})"),
              "Write text again without control characters and invisible ones. It was "
              "\"a\\u{7}b\".");
    EXPECT_EQ(next("diff", R"({"paths":["ok","\u202esrc"]})"),
              "Write paths again without control characters and invisible ones. It was "
              "\"\\u{202e}src\".");
    for (const std::string path : {R"(a\u0001b)", R"(a\u0000b)", R"(\u202esrc/a.c)"}) {
        EXPECT_NE(next("Read", R"({"path":")" + path + "\"}").find("Write path again"),
                  std::string::npos);
        EXPECT_FALSE(answer_["result"]["structuredContent"].contains("path")) << answer_;
        EXPECT_NE(next("Edit", R"({"old_snippet":"x","new_snippet":"y","path":")" + path + "\"}")
                      .find("Write path again"),
                  std::string::npos);
        EXPECT_TRUE(answer_["result"]["structuredContent"]["path"].is_null()) << answer_;
    }
}

TEST_F(Advice, S132_an_empty_path_and_one_that_is_too_long_are_refused_with_words) {
    for (const std::string rest : {"", R"(,"old_snippet":"x","new_snippet":"y")"}) {
        const std::string tool = rest.empty() ? "Read" : "Edit";
        EXPECT_EQ(next(tool, R"({"path":"")" + rest + "}"),
                  "Give the path of a file, relative to the top of the workspace.");
        const std::string path(5000, 'x');
        EXPECT_EQ(next(tool, R"({"path":")" + path + "\"" + rest + "}"),
                  "Give the path of a file, relative to the top of the workspace.");
        EXPECT_EQ(answer_["result"]["structuredContent"]["message"],
                  "Bad args: path is longer than 4095 bytes");
    }
}

TEST_F(Advice, S89_S132_revert_to_state_says_what_it_needs) {
    for (const std::string arguments :
         {"{}", R"({"category":"failure"})", R"({"category":"x","step":"n1"})",
          R"({"category":"failure","step":"x"})"})
        EXPECT_NE(next("revert_to_state", arguments)
                      .find("category (failure, tangent, completion or step-summary) and step"),
                  std::string::npos);
}

TEST_F(Advice, S132_what_has_no_advice_of_its_own_has_one) {
    const Json result = call("status", "{}");
    EXPECT_EQ(result["structuredContent"]["next"],
              "Nothing was done. Try again, and tell the user if it fails again.");
    EXPECT_EQ(result["content"][1]["text"],
              "next: Nothing was done. Try again, and tell the user if it fails again.");
}

TEST_F(Advice, S131_S132_what_is_too_large_names_its_path_and_the_limit) {
    const std::string much = "\"" + std::string(300000, 'x') + "\"";
    EXPECT_EQ(
        next("Edit", R"({"path":"a","old_snippet":"x","new_snippet":)" + much + "}"),
        "A call may have 262144 bytes of arguments. Make the change in several smaller calls.");
    EXPECT_EQ(answer_["result"]["structuredContent"]["path"], "a");
    EXPECT_EQ(next("checkpoint", R"({"text":)" + much + "}"),
              "A call may have 262144 bytes of arguments. Make them shorter.");
    EXPECT_EQ(
        next("revert_to_state", R"({"category":"failure","step":"n1","summary":)" + much + "}"),
        "A call may have 262144 bytes of arguments. Make them shorter.");
}

}  // namespace
}  // namespace unwrite::mcp
