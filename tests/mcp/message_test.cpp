// What arrives on a line is taken apart, whatever it is.
#include "mcp/message.h"

#include <gtest/gtest.h>

namespace unwrite::mcp {
namespace {

ErrorCode code_of(const std::string& line) {
    const Line parsed = parse_line(line);
    EXPECT_EQ(parsed.messages.size(), 1u);
    const auto* error = std::get_if<ProtocolError>(&parsed.messages.front());
    return error == nullptr ? ErrorCode::kInternal : error->code;
}

TEST(Message, S2_what_is_no_request_has_the_number_that_the_protocol_has_for_it) {
    EXPECT_EQ(code_of("{"), ErrorCode::kParse);
    EXPECT_EQ(code_of("\xff"), ErrorCode::kParse);
    EXPECT_EQ(code_of("[]"), ErrorCode::kInvalidRequest);
    EXPECT_EQ(code_of("1"), ErrorCode::kInvalidRequest);
    EXPECT_EQ(code_of(R"({"jsonrpc":"1.0","id":1,"method":"x"})"), ErrorCode::kInvalidRequest);
    EXPECT_EQ(code_of(R"({"jsonrpc":"2.0","id":[1],"method":"x"})"), ErrorCode::kInvalidRequest);
    EXPECT_EQ(code_of(R"({"jsonrpc":"2.0","id":1,"method":5})"), ErrorCode::kInvalidRequest);
    EXPECT_EQ(code_of(R"({"jsonrpc":"2.0","id":1,"method":"x","params":[]})"),
              ErrorCode::kInvalidParams);
    EXPECT_EQ(code_of(std::string(200000, '[')), ErrorCode::kInvalidRequest);
    EXPECT_EQ(code_of(std::string(kMaxLine + 1, ' ')), ErrorCode::kInvalidRequest);
}

TEST(Message, the_id_comes_back_as_far_as_it_can_be_read) {
    const Line parsed = parse_line(R"({"id":"a","method":"x"})");
    EXPECT_EQ(std::get<ProtocolError>(parsed.messages.front()).id, "a");
}

TEST(Message, S162_the_id_of_a_message_that_is_too_large_comes_back) {
    const std::string much(kMaxLine, 'x');
    const auto id = [&](const std::string& line) {
        return std::get<ProtocolError>(parse_line(line).messages.front()).id;
    };
    EXPECT_EQ(id(R"({"jsonrpc":"2.0","id": 7 ,"method":"x","params":{"id":8,"a":")" + much), 7);
    EXPECT_EQ(id(R"({"params":{"id":8},"a\"":"\"id\":9","id":"seven","b":")" + much), "seven");
    EXPECT_TRUE(id(R"({"params":{"id":8,"b":")" + much).is_null());
    EXPECT_EQ(id(R"({"method":"x","params":{"id":8,"a":")" + much +
                 R"(\"},\\"},"jsonrpc":"2.0","id":9})"),
              9);
    EXPECT_EQ(id(R"({"a":[{"id":8},")" + much + R"("],"id": "last" })"), "last");
    EXPECT_TRUE(id(std::string("[") + R"({"id":8},")" + much + R"("])").is_null());
    EXPECT_TRUE(id(R"({"id":")" + much + R"("})").is_null());
}

TEST(Message, S2_a_line_that_is_not_json_is_answered_with_its_id) {
    const auto error = [](const std::string& line) {
        return std::get<ProtocolError>(parse_line(line).messages.front());
    };
    const ProtocolError half = error(
        R"({"jsonrpc":"2.0","id":7,"method":"x","params":{"a":"\\","b":"\ud83d\ude00 \ud800"}})");
    EXPECT_EQ(half.code, ErrorCode::kParse);
    EXPECT_EQ(half.id, 7);
    EXPECT_NE(half.message.find("half of a surrogate pair (\\ud800)"), std::string::npos)
        << half.message;
    EXPECT_NE(error(R"({"id":"a","b":"\uDC00"})").message.find("\\uDC00"), std::string::npos);
    const ProtocolError bytes = error("{\"id\":8,\"method\":\"\xff\"}");
    EXPECT_EQ(bytes.id, 8);
    EXPECT_NE(bytes.message.find("not UTF-8"), std::string::npos) << bytes.message;
    const ProtocolError open = error(R"({"method":"x","id":9,"params":{)");
    EXPECT_EQ(open.id, 9);
    EXPECT_EQ(open.message, "Parse error: the line is not JSON. Send each message as JSON.");
    EXPECT_TRUE(error(R"({"id":)").id.is_null());
}

TEST(Message, requests_notifications_and_responses_are_told_apart) {
    const Line parsed =
        parse_line(R"([{"jsonrpc":"2.0","id":1,"method":"x"},{"jsonrpc":"2.0","method":"y"},)"
                   R"({"jsonrpc":"2.0","id":"q","result":{"a":1}}])");
    ASSERT_TRUE(parsed.batch);
    ASSERT_EQ(parsed.messages.size(), 3u);
    EXPECT_EQ(std::get<Message>(parsed.messages[0]).kind, MessageKind::kRequest);
    EXPECT_EQ(std::get<Message>(parsed.messages[1]).kind, MessageKind::kNotification);
    EXPECT_EQ(std::get<Message>(parsed.messages[2]).kind, MessageKind::kResponse);
    EXPECT_EQ(std::get<Message>(parsed.messages[2]).result["a"], 1);
}

TEST(Message, brackets_in_texts_are_not_depth) {
    const std::string line =
        R"({"jsonrpc":"2.0","id":1,"method":")" + std::string(1000, '[') + R"(\"[[","params":{}})";
    EXPECT_TRUE(std::holds_alternative<Message>(parse_line(line).messages.front()));
}

TEST(Message, S168_bytes_that_are_not_utf8_can_be_answered) {
    EXPECT_EQ(dump(Json{{"a", "\xff"}}), "{\"a\":\"\xef\xbf\xbd\"}");
}

}  // namespace
}  // namespace unwrite::mcp
