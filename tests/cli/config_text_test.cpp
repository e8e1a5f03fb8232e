// Keys of the configuration, and a file in which one of them is changed.
#include "cli/config_text.h"

#include <gtest/gtest.h>

#include "cli/config.h"
#include "cli/config_keys.h"
#include "cli/config_tools.h"

namespace unwrite::cli {
namespace {

std::string changed(const std::string& text, const std::string& key, const std::string& value) {
    const Result<std::string> fresh = with_value(text, key, value);
    EXPECT_TRUE(fresh) << (fresh ? "" : fresh.error().message());
    return fresh ? *fresh : "";
}

std::string removed(const std::string& text, const std::string& key) {
    const Result<std::string> fresh = without_value(text, key);
    EXPECT_TRUE(fresh) << (fresh ? "" : fresh.error().message());
    return fresh ? *fresh : "";
}

TEST(ConfigKeys, TheStandardValuesAreThoseThatHoldWithoutThem) {
    Config config;
    ToolsConfig tools;
    for (const ConfigKey& key : config_keys()) {
        if (key.counts == Counts::kInRule) continue;
        const std::string line = std::string(key.name) + " = " + std::string(key.standard);
        EXPECT_TRUE(read_config(line, "", config)) << line;
        EXPECT_TRUE(read_tools_config(line, "", tools)) << line;
    }
    const Config standard;
    EXPECT_EQ(config.durable, standard.durable);
    EXPECT_EQ(config.mtime_now, standard.mtime_now);
    EXPECT_EQ(config.bell, standard.bell);
    EXPECT_EQ(config.idle, standard.idle);
    EXPECT_EQ(config.retention.max_age_seconds, standard.retention.max_age_seconds);
    EXPECT_EQ(config.retention.max_abandoned, standard.retention.max_abandoned);
    EXPECT_EQ(config.retention.max_bytes, standard.retention.max_bytes);
    EXPECT_EQ(config.profile, standard.profile);
    EXPECT_EQ(config.ask_timeout, standard.ask_timeout);
    EXPECT_EQ(config.size_cap.bytes, standard.size_cap.bytes);
    EXPECT_EQ(config.size_cap.subjects, standard.size_cap.subjects);
    EXPECT_EQ(config.breaker.deleted_share, standard.breaker.deleted_share);
    EXPECT_EQ(config.breaker.deletions, standard.breaker.deletions);
    EXPECT_EQ(config.uncompressed, standard.uncompressed);
    const ToolsConfig standard_tools;
    EXPECT_EQ(tools.approval, standard_tools.approval);
    EXPECT_EQ(tools.edit.max_snippet, standard_tools.edit.max_snippet);
    EXPECT_EQ(tools.edit.max_line_edit, standard_tools.edit.max_line_edit);
    EXPECT_EQ(tools.edit.require_file_hash, standard_tools.edit.require_file_hash);
    EXPECT_EQ(tools.revert_to_state, standard_tools.revert_to_state);
}

TEST(ConfigKeys, ABadValueIsToldWithThoseThatAreGood) {
    for (const ConfigKey& key : config_keys()) {
        if (key.counts == Counts::kInRule) continue;
        Config config;
        const Result<> read = read_config(std::string(key.name) + " = [1]", "f", config);
        ASSERT_FALSE(read) << key.name;
        EXPECT_EQ(read.error().message(), "f:1: bad value for `" + std::string(key.name) +
                                              "`: it takes " + std::string(key.values));
    }
    Config config;
    const Result<> rule =
        read_config("[[policy.rule]]\npattern = 'a'\naction = 'forbid'\n", "f", config);
    ASSERT_FALSE(rule);
    EXPECT_NE(rule.error().message().find("\"allow\", \"ask\", \"deny-write\""), std::string::npos);
    EXPECT_NE(read_config("gc = 3", "f", config).error().message().find("a table: [gc]"),
              std::string::npos);
}

TEST(ConfigText, AValueIsChangedWhereItIs) {
    const std::string text =
        "# mine \xc3\xa4\ndurability = 'power'  # safe\n\n[policy]\nsize_cap = \"10M\" # "
        "caf\xc3\xa9\n"
        "\n[[policy.rule]]\npattern = 'a'\naction = 'ask'\n";
    EXPECT_EQ(changed(text, "durability", "\"process\""),
              "# mine \xc3\xa4\ndurability = \"process\"  # safe\n\n[policy]\nsize_cap = \"10M\" # "
              "caf\xc3\xa9\n\n[[policy.rule]]\npattern = 'a'\naction = 'ask'\n");
    EXPECT_NE(changed(text, "policy.size_cap", "\"1G\"").find("size_cap = \"1G\" # caf"),
              std::string::npos);
    EXPECT_EQ(changed("gc = { max_age_days = 3 }\n", "gc.max_age_days", "4"),
              "gc = { max_age_days = 4 }\n");
    EXPECT_EQ(changed("a.b = 'x'", "a.b", "'y'"), "a.b = 'y'");
    EXPECT_EQ(changed("a = 3", "a", "12"), "a = 12");
}

TEST(ConfigText, AValueThatIsNotThereIsPutIntoItsTable) {
    EXPECT_EQ(changed("", "durability", "\"power\""), "durability = \"power\"\n");
    EXPECT_EQ(changed("", "gc.max_age_days", "3"), "[gc]\nmax_age_days = 3\n");
    EXPECT_EQ(changed("[gc]", "gc.max_age_days", "3"), "[gc]\nmax_age_days = 3\n");
    EXPECT_EQ(changed("# all\n[gc] # old\nmax_bytes = 1\n[edit]\n", "gc.max_age_days", "3"),
              "# all\n[gc] # old\nmax_age_days = 3\nmax_bytes = 1\n[edit]\n");
    EXPECT_EQ(changed("# all\n[gc]\n", "durability", "1"), "# all\ndurability = 1\n[gc]\n");
    EXPECT_EQ(changed("bell = true", "durability", "1"), "bell = true\ndurability = 1\n");
    EXPECT_EQ(changed("[[policy.rule]]\npattern = 'a'\n", "policy.profile", "'none'"),
              "[[policy.rule]]\npattern = 'a'\n\n[policy]\nprofile = 'none'\n");
}

TEST(ConfigText, WhatCannotBeDoneWithoutRewritingIsLeft) {
    EXPECT_EQ(with_value("gc = {}\n", "gc.max_age_days", "3").error().kind(), ErrorKind::kConflict);
    EXPECT_EQ(with_value("gc = 3\n", "gc.max_age_days", "3").error().kind(), ErrorKind::kConflict);
    EXPECT_EQ(with_value("gc = [", "gc.max_age_days", "3").error().kind(), ErrorKind::kUsage);
    EXPECT_EQ(without_value("gc = { a = 1, b = 2 }\n", "gc.a").error().kind(),
              ErrorKind::kConflict);
}

TEST(ConfigText, AValueIsRemovedWithItsLine) {
    EXPECT_EQ(removed("a = 1\n[gc]\nx = 2 # old\ny = 3\n", "gc.x"), "a = 1\n[gc]\ny = 3\n");
    EXPECT_EQ(removed("a = 1", "a"), "");
    EXPECT_EQ(removed("a = 1\n", "b"), "a = 1\n");
}

TEST(ConfigText, EntriesSayWhereTheyStand) {
    const auto entries =
        entries_of("a = 1\n[gc]\nx = \"q\\\"\"\n[[policy.rule]]\npattern = 'p'\nfor = 'agents'\n");
    ASSERT_TRUE(entries);
    ASSERT_EQ(entries->size(), 3u);
    EXPECT_EQ((*entries)[0].line, 1u);
    EXPECT_EQ((*entries)[1].key, "gc.x");
    EXPECT_EQ((*entries)[1].value, "\"q\\\"\"");
    EXPECT_EQ((*entries)[2].value, "{ for = \"agents\", pattern = \"p\" }");
}

}  // namespace
}  // namespace unwrite::cli
