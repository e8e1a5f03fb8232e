#include "cli/config_keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace unwrite::cli {

namespace {

constexpr const char* kWhom = R"("agents" or "everyone")";
constexpr const char* kNumber = "a whole number, 0 for no limit";
constexpr const char* kFlags = "true or false";
constexpr const char* kSizes = R"(a size such as "500M" or "10G", "0" for no limit)";
constexpr const char* kTool = "a number of bytes from 1 to 1048576";

constexpr std::array kKeys = {
    ConfigKey{"durability", Takes::kText, R"("ordered")", R"("ordered", "power" or "process")",
              Counts::kNextMount},
    ConfigKey{"idle", Takes::kText, R"("auto")", R"("auto", "awake" or "asleep")",
              Counts::kNextMount},
    ConfigKey{"bell", Takes::kFlag, "true", kFlags, Counts::kOwnFile},
    ConfigKey{"approval", Takes::kText, R"("client")", R"("client", "elicit" or "deny")",
              Counts::kOwnFile},
    ConfigKey{"restore.mtime", Takes::kText, R"("exact")", R"("exact" or "now")",
              Counts::kNextMount},
    ConfigKey{"gc.max_age_days", Takes::kCount, "30", "a whole number of days, 0 for no limit",
              Counts::kNextMount},
    ConfigKey{"gc.max_abandoned", Takes::kCount, "0", kNumber, Counts::kNextMount},
    ConfigKey{"gc.max_bytes", Takes::kSize, R"("0")", kSizes, Counts::kNextMount},
    ConfigKey{"journal.reserve", Takes::kSize, R"("64M")", R"(a size such as "64M", "0" for none)",
              Counts::kNextMount},
    ConfigKey{"journal.compress", Takes::kText, R"("background")", R"("background" or "off")",
              Counts::kNextMount},
    ConfigKey{"edit.lp1_eol", Takes::kText, R"("preserve")",
              R"("preserve", "strict" or "normalize")", Counts::kOwnFile},
    ConfigKey{"tools.edit.enabled", Takes::kFlag, "true", kFlags, Counts::kOwnFile},
    ConfigKey{"tools.edit.max_snippet_bytes", Takes::kSize, "262144", kTool, Counts::kOwnFile},
    ConfigKey{"tools.edit.max_line_edit_bytes", Takes::kSize, "262144", kTool, Counts::kOwnFile},
    ConfigKey{"tools.edit.require_file_hash", Takes::kFlag, "false", kFlags, Counts::kOwnFile},
    ConfigKey{"tools.revert_to_state.enabled", Takes::kFlag, "false", kFlags, Counts::kOwnFile},
    ConfigKey{"policy.profile", Takes::kText, R"("default")",
              R"("default", "strict-forge" or "none")", Counts::kAtOnce},
    ConfigKey{"policy.bind", Takes::kText, R"("agents")", kWhom, Counts::kAtOnce},
    ConfigKey{"policy.databases", Takes::kText, R"("agents")", R"("agents", "everyone" or "allow")",
              Counts::kAtOnce},
    ConfigKey{"policy.ask_timeout", Takes::kText, R"("60s")",
              R"(a time such as "60s" or "10m", at most "7d")", Counts::kNextMount},
    ConfigKey{"policy.size_cap", Takes::kText, R"("10M")", kSizes, Counts::kNextMount},
    ConfigKey{"policy.size_cap_for", Takes::kText, R"("agents")", kWhom, Counts::kNextMount},
    ConfigKey{"policy.breaker.for", Takes::kText, R"("agents")", kWhom, Counts::kNextMount},
    ConfigKey{"policy.breaker.deleted_share", Takes::kText, R"("50%")",
              R"(a share such as "50%", below "100%", "0%" for no limit)", Counts::kNextMount},
    ConfigKey{"policy.breaker.deletions", Takes::kCount, "0", kNumber, Counts::kNextMount},
    ConfigKey{"policy.breaker.deletions_per_second", Takes::kCount, "0", kNumber,
              Counts::kNextMount},
    ConfigKey{"policy.breaker.overwritten", Takes::kText, R"("0")", kSizes, Counts::kNextMount},
    ConfigKey{"policy.breaker.overwritten_per_second", Takes::kText, R"("0")", kSizes,
              Counts::kNextMount},
    ConfigKey{"policy.breaker.directories", Takes::kCount, "0", kNumber, Counts::kNextMount},
    ConfigKey{"policy.breaker.directories_per_second", Takes::kCount, "0", kNumber,
              Counts::kNextMount},
    ConfigKey{"policy.rule.pattern", Takes::kText, "", R"(a pattern such as "migrations/**")",
              Counts::kInRule},
    ConfigKey{"policy.rule.action", Takes::kText, "",
              R"("allow", "ask", "deny-write", "deny", "hide", "watch" or "tell")",
              Counts::kInRule},
    ConfigKey{"policy.rule.for", Takes::kText, "", kWhom, Counts::kInRule},
    ConfigKey{"policy.rule.reason", Takes::kText, "", "a text in quotes", Counts::kInRule},
};

}  // namespace

std::span<const ConfigKey> config_keys() {
    return kKeys;
}

const ConfigKey* config_key(std::string_view name) {
    const auto* const found = std::find_if(kKeys.begin(), kKeys.end(),
                                           [&](const ConfigKey& key) { return key.name == name; });
    return found == kKeys.end() ? nullptr : found;
}

std::vector<std::string> settable_keys() {
    std::vector<std::string> names;
    for (const ConfigKey& key : kKeys) {
        if (key.counts != Counts::kInRule) names.emplace_back(key.name);
    }
    return names;
}

std::string toml_text(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') {
            out += '\\';
            out += c;
        } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
            out += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
        } else {
            out += c;
        }
    }
    return out + '"';
}

std::string toml_value(Takes takes, const std::string& value) {
    const bool digits =
        !value.empty() && value.find_first_not_of("0123456789") == std::string::npos;
    const bool flag = value == "true" || value == "false";
    const bool bare = (takes == Takes::kFlag && flag) ||
                      ((takes == Takes::kCount || takes == Takes::kSize) && digits);
    return bare ? value : toml_text(value);
}

}  // namespace unwrite::cli
