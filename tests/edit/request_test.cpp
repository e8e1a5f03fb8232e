#include "edit/request.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/digest.h"
#include "edit/response.h"

namespace unwrite::edit {
namespace {

using Json = nlohmann::json;

Json snippet_json() {
    return {{"path", "a.txt"}, {"old_snippet", "x"}, {"new_snippet", "y"}};
}
Json lines_json() {
    return {{"path", "a.txt"}, {"start_line", 2}, {"end_line", 3}, {"new_content", "y"}};
}

Result<EditRequest> decode(const Json& json, const Settings& settings = {}) {
    return decode_request(json.dump(), settings);
}

std::string error_of(const Json& json, const Settings& settings = {}) {
    const auto result = decode(json, settings);
    return result ? "" : result.error().message();
}

Json with(Json json, const char* name, const Json& value) {
    json[name] = value;
    return json;
}
Json without(Json json, const char* name) {
    json.erase(name);
    return json;
}

TEST(EditRequest, S130_ASnippetRequestIsDecoded) {
    Json json = snippet_json();
    json["match_hint"] = {{"start_line", 3}, {"end_line", 9}};
    json["file_hash"] = to_text(digest_of(""));
    json["region_id"] = "r1";
    const auto decoded = decode(json);
    ASSERT_TRUE(decoded) << decoded.error().message();
    const auto& request = std::get<SnippetRequest>(*decoded);
    EXPECT_EQ(request.path, "a.txt");
    EXPECT_EQ(request.old_snippet, "x");
    EXPECT_EQ(request.new_snippet, "y");
    EXPECT_EQ(request.match_hint, (LineRange{3, 9}));
    EXPECT_EQ(request.file_hash, to_text(digest_of("")));
    EXPECT_EQ(request.region_id, "r1");
}

TEST(EditRequest, S130_ALineRequestIsDecoded) {
    const auto decoded = decode(lines_json());
    ASSERT_TRUE(decoded) << decoded.error().message();
    const auto& request = std::get<LineRequest>(*decoded);
    EXPECT_EQ(request.lines, (LineRange{2, 3}));
    EXPECT_EQ(request.new_content, "y");
    EXPECT_FALSE(request.file_hash);
}

TEST(EditRequest, S130_APatchRequestIsDecoded) {
    const auto decoded = decode({{"patch", "LP1\nEND\n"}});
    ASSERT_TRUE(decoded);
    EXPECT_EQ(std::get<PatchRequest>(*decoded).patch, "LP1\nEND\n");
}

TEST(EditRequest, S130_NullIsAbsent) {
    EXPECT_TRUE(decode(with(snippet_json(), "file_hash", nullptr)));
    EXPECT_TRUE(decode(with(snippet_json(), "start_line", nullptr)));
    EXPECT_EQ(error_of(with(snippet_json(), "path", nullptr)), "Bad args: path is required");
}

TEST(EditRequest, S131_ModesMayNotBeMixed) {
    const std::string mixed = "Bad args: fields of two edit modes are mixed";
    for (const char* name : {"start_line", "end_line"})
        EXPECT_EQ(error_of(with(snippet_json(), name, 1)).substr(0, mixed.size()), mixed);
    for (const char* name : {"new_content", "patch"})
        EXPECT_EQ(error_of(with(snippet_json(), name, "x")).substr(0, mixed.size()), mixed);
    for (const char* name : {"old_snippet", "new_snippet", "patch"})
        EXPECT_EQ(error_of(with(lines_json(), name, "x")).substr(0, mixed.size()), mixed);
    EXPECT_EQ(
        error_of(with(lines_json(), "match_hint", {{"start_line", 1}})).substr(0, mixed.size()),
        mixed);
    EXPECT_EQ(error_of({{"patch", "x"}, {"path", "a"}}),
              "Bad args: path cannot be given with patch");
}

TEST(EditRequest, S131_AnIncompleteModeIsRefused) {
    for (const char* name : {"path", "old_snippet", "new_snippet"})
        EXPECT_EQ(error_of(without(snippet_json(), name)),
                  "Bad args: " + std::string(name) + " is required");
    for (const char* name : {"path", "start_line", "end_line", "new_content"})
        EXPECT_EQ(error_of(without(lines_json(), name)),
                  "Bad args: " + std::string(name) + " is required");
    EXPECT_EQ(error_of({{"path", "a"}, {"match_hint", {{"start_line", 1}, {"end_line", 1}}}}),
              "Bad args: old_snippet is required");
    EXPECT_NE(error_of({{"path", "a"}}).find("are required"), std::string::npos);
    EXPECT_NE(error_of(Json::object()).find("are required"), std::string::npos);
}

TEST(EditRequest, S131_UnknownFieldsAreRefused) {
    EXPECT_EQ(error_of(with(snippet_json(), "replace_all", true)),
              "Bad args: unknown field \"replace_all\"");
    EXPECT_EQ(error_of(with(snippet_json(), "match_hint",
                            {{"start_line", 1}, {"end_line", 1}, {"x", 1}})),
              "Bad args: unknown field \"x\" in match_hint");
}

TEST(EditRequest, S131_WhatToSendInsteadIsSaid) {
    const auto advice = [](const Json& json) {
        const auto request = decode_request(json.dump(), {});
        return request ? "" : request.error().advice();
    };
    EXPECT_EQ(advice({{"path", "a"}, {"old_string", "x"}, {"new_string", "y"}})
                  .substr(0, std::string("Use new_snippet instead of new_string.").size()),
              "Use new_snippet instead of new_string.");
    EXPECT_NE(advice({{"path", "a"}, {"old_string", "x"}}).find("Give path, old_snippet"),
              std::string::npos);
    EXPECT_EQ(error_of(with(snippet_json(), "match_hint", {{"start_line", 1}})),
              "Bad args: match_hint needs both start_line and end_line");
    EXPECT_NE(advice(with(snippet_json(), "match_hint", {{"end_line", 1}})).find("match_hint: {"),
              std::string::npos);
    for (const Json& wrong :
         {Json{{"path", "a"}}, without(lines_json(), "end_line"),
          with(lines_json(), "start_line", "2"), Json{{"patch", "x"}, {"path", "a"}},
          with(lines_json(), "file_hash", "x")})
        EXPECT_NE(advice(wrong), "") << wrong;
}

TEST(EditRequest, S146_ARequiredHashIsRequiredOfAPatchToo) {
    Settings settings;
    settings.require_file_hash = true;
    const auto request = decode_request(Json{{"patch", "LP1\nEND\n"}}.dump(), settings);
    ASSERT_FALSE(request);
    EXPECT_NE(request.error().message().find("file_hash is required"), std::string::npos);
}

TEST(EditRequest, S130_ANumberThatIsWholeIsAnInteger) {
    EXPECT_EQ(error_of(with(with(lines_json(), "start_line", 1.0), "end_line", 2.0)), "");
    for (const double wrong : {0.0, -1.0, 1.5, 1e300})
        EXPECT_NE(error_of(with(lines_json(), "start_line", wrong)), "") << wrong;
}

TEST(EditRequest, S131_RangesAndEmptySnippets) {
    EXPECT_EQ(error_of(with(lines_json(), "start_line", 0)),
              "Bad args: start_line must be at least 1");
    EXPECT_EQ(error_of(with(lines_json(), "start_line", -4)),
              "Bad args: start_line must be at least 1");
    EXPECT_EQ(error_of(with(lines_json(), "end_line", 1)),
              "Bad args: end_line must not be less than start_line");
    EXPECT_EQ(error_of(with(snippet_json(), "match_hint", {{"start_line", 5}, {"end_line", 4}})),
              "Bad args: end_line must not be less than start_line");
    EXPECT_EQ(error_of(with(snippet_json(), "old_snippet", "")),
              "Bad args: old_snippet must not be empty");
}

TEST(EditRequest, S131_TypesAreChecked) {
    EXPECT_EQ(error_of(with(lines_json(), "start_line", "2")),
              "Bad args: start_line must be an integer");
    EXPECT_EQ(error_of(with(lines_json(), "end_line", 2.5)),
              "Bad args: end_line must be an integer");
    EXPECT_EQ(error_of(with(snippet_json(), "path", 7)), "Bad args: path must be a string");
    EXPECT_EQ(error_of(with(snippet_json(), "match_hint", 3)),
              "Bad args: match_hint must be an object");
    EXPECT_EQ(error_of(Json::array()), "Bad args: the arguments are not an object");
    EXPECT_EQ(decode_request("{\"patch\":", {}).error().message(),
              "Bad args: the arguments are not JSON");
    EXPECT_EQ(decode_request("{\"patch\":\"\xff\"}", {}).error().message(),
              "Bad args: the arguments are not JSON");
}

TEST(EditRequest, S162_LimitsHaveExactTexts) {
    Settings small;
    small.max_patch = small.max_snippet = small.max_line_edit = 4;
    EXPECT_EQ(error_of({{"patch", "12345"}}, small), "Patch exceeds max_patch_bytes");
    EXPECT_EQ(error_of({{"patch", "1234"}}, small), "");
    EXPECT_EQ(error_of(with(snippet_json(), "new_snippet", "12345"), small),
              "Snippet exceeds max_snippet_bytes");
    EXPECT_EQ(error_of(with(snippet_json(), "old_snippet", "12345"), small),
              "Snippet exceeds max_snippet_bytes");
    EXPECT_EQ(error_of(with(lines_json(), "new_content", "12345"), small),
              "Line edit exceeds max_line_edit_bytes");
    small.max_arguments = 10;
    EXPECT_EQ(error_of({{"patch", "12345"}}, small), "Tool arguments too large");
}

TEST(EditRequest, S146_DefaultsAreTheSeeds) {
    const Settings settings;
    EXPECT_TRUE(settings.enabled);
    EXPECT_EQ(settings.max_snippet, 262144U);
    EXPECT_EQ(settings.max_line_edit, 262144U);
    EXPECT_FALSE(settings.require_file_hash);
    EXPECT_EQ(settings.max_patch, 524288U);
    EXPECT_EQ(settings.max_file, 204800U);
    EXPECT_EQ(settings.max_arguments, 256U * 1024U);
}

TEST(EditRequest, S146_AHashCanBeRequiredAndTheToolDisabled) {
    Settings settings;
    settings.require_file_hash = true;
    EXPECT_EQ(error_of(snippet_json(), settings), "Bad args: file_hash is required");
    EXPECT_EQ(error_of(with(lines_json(), "file_hash", to_text(digest_of(""))), settings), "");
    settings.enabled = false;
    EXPECT_EQ(decode(lines_json(), settings).error().kind(), ErrorKind::kRefused);
}

TEST(EditRequest, S142_UnsafePathsAreRefused) {
    for (const char* path : {"a\nb", "a\x7f",
                             "a\xe2\x80\xae"
                             "b",
                             "\xef\xbb\xbf"
                             "a"})
        EXPECT_EQ(error_of(with(snippet_json(), "path", path)),
                  "Bad args: path contains invalid control characters");
    EXPECT_EQ(error_of(with(snippet_json(), "path", "")), "Bad args: path must not be empty");
    EXPECT_EQ(error_of(with(snippet_json(), "path", "a b/\xc3\xa4")), "");
}

TEST(EditRequest, S132_ARegionIdIsCapped) {
    EXPECT_EQ(error_of(with(snippet_json(), "region_id", std::string(256, 'r'))), "");
    EXPECT_EQ(error_of(with(snippet_json(), "region_id", std::string(257, 'r'))),
              "Bad args: region_id is longer than 256 bytes");
}

TEST(EditRequest, S130_TheSchemaNamesEveryField) {
    const Json schema = Json::parse(request_schema());
    EXPECT_EQ(schema["additionalProperties"], false);
    for (const char* name : {"patch", "path", "old_snippet", "new_snippet", "match_hint",
                             "start_line", "end_line", "new_content", "file_hash", "region_id"})
        EXPECT_TRUE(schema["properties"].contains(name)) << name;
    EXPECT_EQ(schema["properties"].size(), 10U);
    EXPECT_EQ(schema["properties"]["match_hint"]["required"], Json({"start_line", "end_line"}));
}

TEST(EditResponse, S132_EveryFieldIsThereInEveryOutcome) {
    for (const EditStatus status :
         {EditStatus::kOk, EditStatus::kNoMatch, EditStatus::kStaleFile, EditStatus::kError}) {
        EditResponse response;
        response.status = status;
        const Json json = Json::parse(encode_response(response));
        for (const char* name :
             {"action", "status", "message", "current_file_hash", "newline_kind", "region_id"})
            EXPECT_TRUE(json.contains(name)) << name;
        EXPECT_TRUE(json["current_file_hash"].is_null());
        EXPECT_TRUE(json["newline_kind"].is_null());
        EXPECT_TRUE(json["region_id"].is_null());
    }
}

TEST(EditResponse, S132_ValuesAreEncoded) {
    EditResponse response;
    response.action = EditAction::kLines;
    response.status = EditStatus::kOk;
    response.message = "Replaced \"\xff\"";
    response.hash_before = digest_of("a");
    response.hash_after = digest_of("b");
    response.newline = Newline::kCrlf;
    response.region_id = "r";
    response.bytes_written = 93;
    response.lines = LineRange{2, 3};
    response.replaced = ByteRange{10, 86};
    response.candidates = {{4, "text", 0.5}};
    response.path = "a\nb";
    response.patch_line = 3;
    response.operation = 2;
    response.files = {{"a\nb", FileChange::kCreated, digest_of("b"), Newline::kCrlf, {{1, 2}}}};
    const std::string shown =
        "a\xe2\x90\x8a"
        "b";
    const Json expected = {
        {"action", "apply_line_edit"},
        {"status", "ok"},
        {"message", "Replaced \"\xef\xbf\xbd\""},
        {"next", "Undo takes this edit back. The lines that it wrote count as read."},
        {"path", shown},
        {"paths", {shown}},
        {"current_file_hash", to_text(digest_of("b"))},
        {"file_hash_before", to_text(digest_of("a"))},
        {"file_hash_after", to_text(digest_of("b"))},
        {"newline_kind", "CRLF"},
        {"region_id", "r"},
        {"bytes_written", 93},
        {"lines", {{"start", 2}, {"end", 3}}},
        {"replaced_byte_range", {{"start", 10}, {"end", 86}}},
        {"candidates", Json::array({{{"line", 4}, {"preview", "text"}, {"score", 0.5}}})},
        {"patch_line", 3},
        {"operation", 2},
        {"files", Json::array({{{"path", shown},
                                {"change", "created"},
                                {"file_hash", to_text(digest_of("b"))},
                                {"newline_kind", "CRLF"},
                                {"lines", Json::array({{{"start", 1}, {"end", 2}}})}}})}};
    EXPECT_EQ(Json::parse(encode_response(response)), expected);
}

TEST(EditResponse, S132_TheSchemaNamesEveryMember) {
    const Json schema = Json::parse(response_schema());
    const Json members = Json::parse(encode_response({}));
    EXPECT_EQ(schema["additionalProperties"], false);
    EXPECT_EQ(schema["properties"].size(), members.size());
    for (const auto& item : members.items())
        EXPECT_TRUE(schema["properties"].contains(item.key())) << item.key();
}

TEST(EditResponse, S132_TheStatusNames) {
    const auto name = [](EditStatus status) {
        EditResponse response;
        response.status = status;
        return Json::parse(encode_response(response))["status"].get<std::string>();
    };
    EXPECT_EQ(name(EditStatus::kOk), "ok");
    EXPECT_EQ(name(EditStatus::kNoMatch), "no_match");
    EXPECT_EQ(name(EditStatus::kStaleFile), "stale_file");
    EXPECT_EQ(name(EditStatus::kError), "error");
}

TEST(EditResponse, S132_ARefusalEchoesWhatCanBeRead) {
    const Error error(ErrorKind::kUsage, 0, "Bad args: new_content is required");
    const EditResponse lines =
        refusal(R"({"path":"a","start_line":1,"end_line":1,"region_id":"r9"})", error);
    EXPECT_EQ(lines.action, EditAction::kLines);
    EXPECT_EQ(lines.status, EditStatus::kError);
    EXPECT_EQ(lines.region_id, "r9");
    EXPECT_EQ(lines.path, "a");
    EXPECT_EQ(refusal(R"({"patch":"x","path":"a"})", error).action, EditAction::kPatch);
    EXPECT_EQ(lines.message, "Bad args: new_content is required");
    EXPECT_EQ(refusal(R"({"old_snippet":"x","start_line":1})", error).action, EditAction::kSnippet);
    EXPECT_EQ(refusal("{", error).status, EditStatus::kError);
    EXPECT_FALSE(refusal(R"({"region_id":7})", error).region_id);
    const std::string large = R"({"region_id":"r","x":")" + std::string(262144, 'x') + "\"}";
    EXPECT_EQ(refusal(large, error).region_id, "r");
}

TEST(EditRequest, S131_S132_EachLimitIsNamed) {
    Settings small;
    small.max_snippet = 4;
    small.max_line_edit = 4;
    small.max_patch = 4;
    const auto next = [&](const Json& arguments) {
        const auto request = decode_request(arguments.dump(), small);
        return request ? "" : request.error().advice();
    };
    EXPECT_EQ(next({{"path", "a"}, {"old_snippet", "12345"}, {"new_snippet", ""}}),
              "A snippet may have 4 bytes. Make the change in several smaller calls.");
    EXPECT_EQ(next({{"path", "a"}, {"start_line", 1}, {"end_line", 1}, {"new_content", "12345"}}),
              "new_content may have 4 bytes. Make the change in several smaller calls.");
    EXPECT_EQ(next({{"patch", "12345"}}),
              "A patch may have 4 bytes. Make the change in several smaller calls.");
}

}  // namespace
}  // namespace unwrite::edit
