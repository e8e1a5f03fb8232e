#include "edit/revert_request.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace unwrite::edit {
namespace {

using Json = nlohmann::json;

std::string error_of(const Json& arguments) {
    const auto request = decode_revert(arguments.dump());
    return request ? "" : request.error().message();
}

RevertRequest decoded(const Json& arguments) {
    const auto request = decode_revert(arguments.dump());
    EXPECT_TRUE(request) << request.error().message();
    return request ? *request : RevertRequest{};
}

TEST(RevertRequest, S90_TheSchema) {
    const Json schema = Json::parse(revert_schema());
    EXPECT_EQ(schema["type"], "object");
    EXPECT_EQ(schema["required"], Json::parse(R"(["category","step"])"));
    EXPECT_EQ(schema["properties"]["category"]["enum"],
              Json::parse(R"(["failure","tangent","completion","step-summary"])"));
    EXPECT_EQ(schema["properties"]["step"]["type"], "string");
    EXPECT_EQ(schema["properties"]["summary"]["type"], "string");
    EXPECT_EQ(schema["properties"].size(), 3U);
}

TEST(RevertRequest, S91_TheFourErrors) {
    const std::string start = "Invalid arguments: ";
    EXPECT_EQ(error_of({{"step", "n1"}}), start + "category is required");
    EXPECT_EQ(error_of({{"category", 7}, {"step", "n1"}}), start + "category is required");
    EXPECT_EQ(error_of({{"category", "Failure"}, {"step", "n1"}}),
              start +
                  "category must be one of failure | tangent | completion | step-summary; got "
                  "\"Failure\"");
    EXPECT_EQ(error_of({{"category", "failure"}}), start + "step is required");
    EXPECT_EQ(error_of({{"category", "failure"}, {"step", 10}}), start + "step is required");
    EXPECT_EQ(error_of({{"category", "failure"}, {"step", "x"}}),
              start + "step must be a node identifier like \"n12\" or \"12\"; got \"x\"");
    EXPECT_EQ(error_of({{"category", "no"}, {"step", "x"}}).find("step"),
              error_of({{"category", "no"}}).find("step"));
    EXPECT_EQ(decode_revert("[]").error().kind(), ErrorKind::kUsage);
    EXPECT_EQ(decode_revert("{").error().kind(), ErrorKind::kUsage);
}

TEST(RevertRequest, S91_WhatWasGotIsQuoted) {
    const auto got = [](const std::string& step) {
        const std::string error = error_of({{"category", "failure"}, {"step", step}});
        return error.substr(error.find("got ") + 4);
    };
    EXPECT_EQ(got("a\"b\\c\nd\te\r"), "\"a\\\"b\\\\c\\nd\\te\\r\"");
    EXPECT_EQ(got(std::string("\0\x1b\x7f", 3)), "\"\\0\\u{1b}\\u{7f}\"");
    EXPECT_EQ(got("\xe2\x80\xae\xc3\xa4"), "\"\\u{202e}\xc3\xa4\"");
}

TEST(RevertRequest, S92_BothFormsOfAStep) {
    EXPECT_EQ(node_from("n10"), 10U);
    EXPECT_EQ(node_from("10"), 10U);
    EXPECT_EQ(node_from("n0"), 0U);
    EXPECT_EQ(node_from("18446744073709551615"), ~0ULL);
    for (const char* wrong : {"", "n", "nn1", "N1", " 1", "1 ", "-1", "+1", "n-1", "1.0", "0x1",
                              "18446744073709551616", "n1n"})
        EXPECT_FALSE(node_from(wrong)) << wrong;
    EXPECT_EQ(node_text(12), "n12");
}

TEST(RevertRequest, S93_TheSummaryIsOptional) {
    Json json = {{"category", "tangent"}, {"step", "n3"}};
    EXPECT_FALSE(decoded(json).summary);
    for (const Json& none : {Json(), Json(7), Json::array(), Json(true)}) {
        json["summary"] = none;
        EXPECT_FALSE(decoded(json).summary);
    }
    json["summary"] = "s";
    EXPECT_EQ(decoded(json).summary, "s");
    EXPECT_EQ(decoded(json).target, 3U);
    EXPECT_EQ(decoded(json).category, RevertCategory::kTangent);
}

TEST(RevertRequest, S95_TheAcknowledgement) {
    EXPECT_EQ(revert_acknowledgement({RevertCategory::kFailure, 10, "a \"b\""}),
              "Revert request recorded: category=Failure, target=n10, summary=\"a \\\"b\\\"\". The "
              "trunk will be rebuilt from this node before the next turn.");
    EXPECT_EQ(revert_acknowledgement({RevertCategory::kStepSummary, 3, std::nullopt}),
              "Revert request recorded: category=StepSummary, target=n3. The trunk will be rebuilt "
              "from this node before the next turn.");
    EXPECT_NE(revert_acknowledgement({RevertCategory::kTangent, 0, ""})
                  .find("category=Tangent, target=n0, summary=\"\"."),
              std::string::npos);
    EXPECT_NE(revert_acknowledgement({RevertCategory::kCompletion, 0, {}}).find("=Completion,"),
              std::string::npos);
}

TEST(RevertRequest, S101_CategoriesTagsAndFiles) {
    const auto facts = [](const char* name) {
        const RevertCategory category = *category_from(name);
        EXPECT_EQ(name_of(category), name);
        const TagKind tag = tag_kind_of(category);
        return std::string(name_of(tag)) + (is_pinned(tag) ? " pinned" : "") +
               (restores_files(category) ? " restores" : "");
    };
    EXPECT_EQ(facts("failure"), "lesson restores");
    EXPECT_EQ(facts("tangent"), "finding restores");
    EXPECT_EQ(facts("completion"), "outcome pinned");
    EXPECT_EQ(facts("step-summary"), "checkpoint pinned");
    EXPECT_FALSE(category_from("step_summary"));
}

}  // namespace
}  // namespace unwrite::edit
