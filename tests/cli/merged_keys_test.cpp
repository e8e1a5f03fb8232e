#include "cli/merged_keys.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace unwrite::cli {
namespace {

using Json = nlohmann::ordered_json;

KeyedFile json_file() {
    return {"a.json",
            false,
            {{"**", true},
             {"servers/**", false},
             {"projects/**", false},
             {"projects/@here/**", true},
             {"projects/@here/servers/**", false}}};
}

KeyedFile toml_file() {
    return {"a.toml", true, {{"model", true}, {"projects/@here/trust", true}}};
}

MergedKeys merged(const KeyedFile& file, const KeyedTexts& texts, bool all = false) {
    Result<MergedKeys> result = merge_keys(file, "/w/x.y", texts, all);
    EXPECT_TRUE(result) << (result ? "" : result.error().message());
    return result ? *result : MergedKeys();
}

TEST(MergedKeys, TakesTheWholeTextWhereNothingElseChanged) {
    const std::string mine = "{\"n\":2,\n\n \"projects\": {\"/w/x.y\": {\"trusted\": true}}}";
    const MergedKeys result = merged(json_file(), {"{\"n\":1}", mine, "{\"n\":1}"});
    EXPECT_EQ(result.text, mine);
    EXPECT_TRUE(result.held.empty());
}

TEST(MergedKeys, HoldsBackWhatIsNotTheRuns) {
    const std::string mine = R"({"n":2,"servers":{"evil":{"command":"sh"}},
        "projects":{"/w/x.y":{"trusted":true,"servers":{"evil":1}},"/":{"trusted":true}}})";
    const MergedKeys result = merged(json_file(), {"{\"n\":1}", mine, "{\"n\":1}"});
    EXPECT_EQ(Json::parse(result.text),
              Json::parse(R"({"n":2,"projects":{"/w/x.y":{"trusted":true}}})"));
    EXPECT_EQ(result.held, (std::vector<std::string>{"servers > evil > command",
                                                     "projects > /w/x.y > servers > evil",
                                                     "projects > / > trusted"}));
    EXPECT_EQ(Json::parse(merged(json_file(), {"{\"n\":1}", mine, "{\"n\":1}"}, true).text),
              Json::parse(mine));
}

TEST(MergedKeys, KeepsWhatOthersChangedMeanwhile) {
    const MergedKeys result = merged(json_file(), {R"({"n":1,"m":1,"gone":1})", R"({"n":2,"m":1})",
                                                   R"({"n":1,"m":5,"gone":1,"new":{"a":1}})"});
    EXPECT_EQ(Json::parse(result.text), Json::parse(R"({"n":2,"m":5,"new":{"a":1}})"));
}

TEST(MergedKeys, LeavesTheFileWhereNothingIsTakenOver) {
    const std::string theirs = "{ \"servers\" : { } }";
    const MergedKeys result = merged(json_file(), {theirs, R"({"servers":{"a":1}})", theirs});
    EXPECT_EQ(result.text, theirs);
    EXPECT_EQ(result.held.size(), 1u);
}

TEST(MergedKeys, RefusesWhatItCannotRead) {
    EXPECT_FALSE(merge_keys(json_file(), "/w", {"{}", "{\"n\":", "{}"}, false));
    EXPECT_FALSE(merge_keys(json_file(), "/w", {"{}", "{}", "not json"}, false));
    EXPECT_FALSE(merge_keys(toml_file(), "/w", {"", "a = = 1", ""}, false));
}

TEST(MergedKeys, PutsAKeyIntoTomlAndLeavesTheRestOfTheText) {
    const std::string base = "# mine\nmodel = \"a\" # why\n\n[servers.x]\ncommand = \"y\"\n";
    const std::string mine =
        base + "[servers.evil]\ncommand = \"z\"\n[projects.\"/w/x.y\"]\ntrust = \"yes\"\n";
    MergedKeys result = merged(toml_file(), {base, mine, base});
    EXPECT_EQ(result.text, base + "\n[projects.\"/w/x.y\"]\ntrust = \"yes\"\n");
    EXPECT_EQ(result.held, std::vector<std::string>{"servers > evil > command"});

    const std::string theirs = base + "[projects.\"/w/x.y\"]\nother = 1\n";
    result = merged(toml_file(), {base, mine, theirs});
    EXPECT_EQ(result.text, base + "[projects.\"/w/x.y\"]\ntrust = \"yes\"\nother = 1\n");
    result = merged(toml_file(), {base, "model = \"b\"\n" + base.substr(base.find("\n[")), theirs});
    EXPECT_NE(result.text.find("model = \"b\"\n"), std::string::npos);
    EXPECT_NE(result.text.find("other = 1"), std::string::npos);
}

TEST(MergedKeys, BeginsAFileThatWasNotThere) {
    EXPECT_EQ(merged(toml_file(), {"", "model = \"b\"\nx = 1\n", ""}).text, "model = \"b\"\n");
    EXPECT_EQ(merged(json_file(), {"", "{\"n\":1}", ""}).text, "{\"n\":1}");
}

}  // namespace
}  // namespace unwrite::cli
