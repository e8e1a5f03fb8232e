#include "control/protocol.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace unwrite::control {
namespace {

std::string all_bytes() {
    std::string bytes;
    for (int i = 0; i < 256; ++i)
        bytes += static_cast<char>(i);
    return bytes;
}

TEST(Protocol, BytesSurvive) {
    for (const std::string& text :
         {std::string(), std::string("plain"), std::string("\0x", 2),
          std::string("gr\xc3\xbc\xc3\x9f"), std::string("\xff"), std::string("a\xffz"),
          std::string("\xc3"), std::string("new\nline\"\\"), std::string("\xed\xa0\x80"),
          std::string("\xc0\x80"), all_bytes(), std::string("ab\xfe"),
          std::string("\xf4\x90\x80\x80"), std::string("\xf0\x9f\x98\x80")}) {
        const Result<Json> sent = parse_json(dump(encode_bytes(text)), kMaxRequest);
        ASSERT_TRUE(sent);
        const Result<std::string> back = decode_bytes(*sent);
        ASSERT_TRUE(back);
        EXPECT_EQ(*back, text);
    }
}

TEST(Protocol, Utf8IsAStringAndOtherBytesAreBase64) {
    EXPECT_EQ(dump(encode_bytes("gr\xc3\xbc")), "\"gr\xc3\xbc\"");
    EXPECT_EQ(dump(encode_bytes("a\xff")), R"({"bytes":"Yf8="})");
}

TEST(Protocol, BadBase64IsRefused) {
    for (const char* text : {"Y", "Yf8", "Yf8=====", "=f8=", "Y===", "Yf=8", "Yf8=AAAA", "****"}) {
        EXPECT_FALSE(decode_bytes(Json{{"bytes", text}})) << text;
    }
    EXPECT_FALSE(decode_bytes(Json{{"bytes", 3}}));
    EXPECT_FALSE(decode_bytes(Json{{"bytes", "Yf8="}, {"more", 1}}));
    EXPECT_FALSE(decode_bytes(Json::array()));
    EXPECT_FALSE(decode_bytes(Json(3)));
}

TEST(Protocol, RequestsRoundTrip) {
    const Request request{9, "status", Json{{"since", "n3"}}};
    const Result<Request> back = parse_request(format_request(request));
    ASSERT_TRUE(back);
    EXPECT_EQ(back->id, 9u);
    EXPECT_EQ(back->command, "status");
    EXPECT_EQ(back->arguments, request.arguments);
}

TEST(Protocol, WrongRequestsAreRefused) {
    for (const char* text : {"", "x", "[]", "{}", R"({"command":""})", R"({"command":3})",
                             R"({"command":"a","id":-1})", R"({"command":"a","arguments":[]})",
                             R"({"command":"a","other":1})", R"({"command":"a"} x)", "\"command\"",
                             "null", "{\"command\":\"a\xff\"}"}) {
        const Result<Request> request = parse_request(text);
        ASSERT_FALSE(request) << text;
        EXPECT_EQ(request.error().kind(), ErrorKind::kUsage);
    }
}

TEST(Protocol, DepthAndSizeAreLimited) {
    const auto nested = [](std::size_t depth) {
        return R"({"command":"a","arguments":{"x":)" + std::string(depth, '[') +
               std::string(depth, ']') + "}}";
    };
    EXPECT_TRUE(parse_request(nested(kMaxDepth - 2)));
    EXPECT_FALSE(parse_request(nested(kMaxDepth - 1)));
    EXPECT_FALSE(parse_request(nested(400000)));
    EXPECT_FALSE(parse_request(R"({"command":")" + std::string(kMaxRequest, 'a') + "\"}"));
    EXPECT_TRUE(parse_request(R"({"command":"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\"[["})"));
}

TEST(Protocol, ErrorsRoundTrip) {
    const Error error(ErrorKind::kConflict, EBUSY, "undo n7: a\xff changed since", "look");
    const Result<Json> answer = parse_answer(format_answer(4, error), 4);
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().kind(), ErrorKind::kConflict);
    EXPECT_EQ(answer.error().number(), EBUSY);
    EXPECT_EQ(answer.error().text(), error.text());
    EXPECT_EQ(answer.error().advice(), "look");
}

TEST(Protocol, EveryKindOfErrorHasAWord) {
    for (const ErrorKind kind : {ErrorKind::kSystem, ErrorKind::kUsage, ErrorKind::kNothing,
                                 ErrorKind::kRefused, ErrorKind::kConflict, ErrorKind::kNoWorkspace,
                                 ErrorKind::kRecovery, ErrorKind::kCorrupt, ErrorKind::kNotFound}) {
        EXPECT_EQ(decode_error(encode_error(Error(kind, 1, "x"))).kind(), kind);
    }
}

TEST(Protocol, AnswersOfOthersAreNotTaken) {
    EXPECT_TRUE(parse_answer(R"({"id":4,"ok":true,"result":{}})", 4));
    for (const char* text : {R"({"id":5,"ok":true,"result":{}})", R"({"id":4,"ok":true})",
                             R"({"id":4,"ok":1,"result":{}})", "{", "[]", R"({"id":4,"ok":false})",
                             R"({"id":4,"ok":false,"error":[]})", R"({"ok":true,"result":{}})"}) {
        EXPECT_FALSE(parse_answer(text, 4)) << text;
    }
}

TEST(Protocol, AnAnswerThatIsTooLongSaysSo) {
    const Result<Json> answer =
        parse_answer(format_answer(1, Json(std::string(kMaxAnswer, 'x'))), 1);
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().number(), EMSGSIZE);
}

}  // namespace
}  // namespace unwrite::control
