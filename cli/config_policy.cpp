#include "cli/config_policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <optional>

#include "cli/config_keys.h"
#include "cli/text.h"
#include "overlay/unmatched_rules.h"

namespace unwrite::cli {

namespace {

using overlay::Rule;
using overlay::Subjects;

constexpr std::uint64_t kMostPatience = 7 * 86400;  // seconds

Result<std::string> text_of(const toml::node& node, const std::string& key,
                            const std::string& file) {
    if (!node.is_string()) return bad_value(file, node.source(), key);
    return node.value_or(std::string());
}

Result<> read_member(const std::string& name, const toml::node& node, const std::string& file,
                     Rule& rule) {
    const std::string key = "policy.rule." + name;
    TRY_ASSIGN(std::string text, text_of(node, key, file));
    if (name == "pattern") {
        rule.pattern = std::move(text);
    } else if (name == "reason") {
        rule.reason = std::move(text);
    } else if (name == "action") {
        const auto action = overlay::parse_action(text);
        if (!action) return bad_value(file, node.source(), key);
        rule.action = *action;
    } else if (text == "everyone" || text == "agents") {
        rule.subjects = text == "agents" ? Subjects::kAgents : Subjects::kEveryone;
    } else {
        return bad_value(file, node.source(), key);
    }
    return {};
}

Result<Rule> read_rule(const toml::node& node, const std::string& file) {
    const toml::table* table = node.as_table();
    if (table == nullptr) return bad_value(file, node.source(), "policy.rule");
    Rule rule;
    rule.source = fmt::format("{}:{}", file, node.source().begin.line);
    for (const auto& [name, member] : *table) {
        const std::string key(name.str());
        if (key != "pattern" && key != "action" && key != "for" && key != "reason") {
            return wrong_value(file, name.source(),
                               "unknown key " + quote_name("policy.rule." + key));
        }
        TRY(read_member(key, member, file, rule));
    }
    if (rule.pattern.empty()) return wrong_value(file, node.source(), "a rule without `pattern`");
    return rule;
}

}  // namespace

Error wrong_value(const std::string& file, const toml::source_region& at, const std::string& why) {
    return Error(ErrorKind::kUsage, EINVAL,
                 fmt::format("{}:{}: {}", quote_name(file), at.begin.line, why),
                 "`unwrite config` lists the keys");
}

Error bad_value(const std::string& file, const toml::source_region& at, const std::string& key) {
    const ConfigKey* known = config_key(key);
    const std::string takes = known != nullptr       ? std::string(known->values)
                              : key == "policy.rule" ? "tables: [[policy.rule]]"
                                                     : "a table: [" + key + "]";
    return wrong_value(file, at, "bad value for `" + key + "`: it takes " + takes);
}

namespace {

// What frees a path frees it for everyone, and what is hidden is hidden from everyone.
bool follows_bind(const Rule& rule) {
    return !rule.pattern.starts_with('!') && rule.action != overlay::Action::kAllow &&
           rule.action != overlay::Action::kHide;
}

Result<> read_rules(const toml::node& node, const std::string& file, Config& config) {
    const toml::array* rules = node.as_array();
    if (rules == nullptr) return bad_value(file, node.source(), "policy.rule");
    for (const toml::node& rule : *rules) {
        TRY_ASSIGN(config.rules.emplace_back(), read_rule(rule, file));
        if (!rule.as_table()->contains("for") && follows_bind(config.rules.back()))
            config.unsaid.insert(config.rules.size() - 1);
        // Compiled one by one, so that a wrong pattern is found where it stands.
        TRY(overlay::Policy::compile({config.rules.back()}));
    }
    return {};
}

bool is_one_of(const std::string& text, std::initializer_list<const char*> words) {
    return std::find(words.begin(), words.end(), text) != words.end();
}

/// False for a value that it does not take.
bool read_setting(const std::string& name, const std::string& text, Config& config) {
    if (name == "profile") {
        config.profile = text;
        return is_one_of(text, {"default", "strict-forge", "none"});
    }
    if (name == "bind") {
        config.bind = text == "agents" ? Subjects::kAgents : Subjects::kEveryone;
        return is_one_of(text, {"agents", "everyone"});
    }
    if (name == "databases") {
        config.databases = text;
        return is_one_of(text, {"agents", "everyone", "allow"});
    }
    if (name == "size_cap_for") {
        config.size_cap.subjects = text == "agents" ? Subjects::kAgents : Subjects::kEveryone;
        return is_one_of(text, {"agents", "everyone"});
    }
    if (name == "size_cap") {
        const Result<std::uint64_t> bytes = parse_size(text);
        if (bytes) config.size_cap.bytes = *bytes;
        return bytes.ok();
    }
    const Result<std::uint64_t> seconds = parse_age(text);  // ask_timeout
    if (!seconds || *seconds == 0 || *seconds > kMostPatience) return false;
    config.ask_timeout = std::chrono::seconds(*seconds);
    return true;
}

bool read_count(const toml::node& node, std::uint64_t& target) {
    const std::int64_t value = node.is_integer() ? node.value_or<std::int64_t>(-1) : -1;
    target = static_cast<std::uint64_t>(value);
    return value >= 0;
}

// "50%"; from 100 on it would be no limit.
bool read_share(const std::string& text, unsigned& target) {
    unsigned value = 0;
    const char* const end = text.data() + text.size();
    const auto [at, error] = std::from_chars(text.data(), end, value);
    target = value;
    return error == std::errc() && at + 1 == end && *at == '%' && value < 100;
}

/// Nothing for a key that there is not, false for a value that it does not take.
std::optional<bool> read_limit(const std::string& name, const toml::node& node,
                               overlay::BreakerLimits& limits) {
    const std::string text = node.value_or(std::string());
    if (name == "for") {
        limits.subjects = text == "agents" ? Subjects::kAgents : Subjects::kEveryone;
        return is_one_of(text, {"agents", "everyone"});
    }
    if (name == "deleted_share") return read_share(text, limits.deleted_share);
    for (auto [key, target] :
         {std::pair{"overwritten", &limits.overwritten},
          std::pair{"overwritten_per_second", &limits.overwritten_per_second}}) {
        if (name != key) continue;
        const Result<std::uint64_t> bytes = parse_size(text);
        if (bytes) *target = *bytes;
        return bytes.ok();
    }
    for (auto [key, target] :
         {std::pair{"deletions", &limits.deletions},
          std::pair{"deletions_per_second", &limits.deletions_per_second},
          std::pair{"directories", &limits.directories},
          std::pair{"directories_per_second", &limits.directories_per_second}}) {
        if (name == key) return read_count(node, *target);
    }
    return std::nullopt;
}

Result<> read_breaker(const toml::node& node, const std::string& file, Config& config) {
    const toml::table* limits = node.as_table();
    if (limits == nullptr) return bad_value(file, node.source(), "policy.breaker");
    for (const auto& [name, member] : *limits) {
        const std::string key(name.str());
        const auto read = read_limit(key, member, config.breaker);
        if (!read) {
            return wrong_value(file, name.source(),
                               "unknown key " + quote_name("policy.breaker." + key));
        }
        if (!*read) return bad_value(file, member.source(), "policy.breaker." + key);
    }
    return {};
}

}  // namespace

Result<> read_policy(const toml::table& table, const std::string& file, Config& config) {
    for (const auto& [name, node] : table) {
        const std::string key(name.str());
        if (key == "rule") {
            TRY(read_rules(node, file, config));
            continue;
        }
        if (key == "breaker") {
            TRY(read_breaker(node, file, config));
            continue;
        }
        if (!is_one_of(key,
                       {"profile", "bind", "databases", "size_cap", "size_cap_for", "ask_timeout"}))
            return wrong_value(file, name.source(), "unknown key " + quote_name("policy." + key));
        if (!node.is_string() || !read_setting(key, node.value_or(std::string()), config))
            return bad_value(file, node.source(), "policy." + key);
    }
    return {};
}

Result<std::shared_ptr<const overlay::Policy>> Config::policy() const {
    std::vector<Rule> all;
    if (profile == "strict-forge") all = overlay::strict_forge_rules();
    if (profile == "default") all = overlay::default_rules(bind);
    // Before the profile's: whatever that refuses is not asked about.
    if (profile != "none" && databases != "allow") {
        const Subjects asked = !databases                ? bind
                               : databases == "everyone" ? Subjects::kEveryone
                                                         : Subjects::kAgents;
        const auto first = overlay::database_rules(asked);
        all.insert(all.begin(), first.begin(), first.end());
    }
    all.insert(all.begin(), first_rules.begin(), first_rules.end());
    const std::vector<Rule> own = bound_rules();
    all.insert(all.end(), own.begin(), own.end());
    return overlay::Policy::compile(std::move(all));
}

std::vector<Rule> Config::bound_rules() const {
    std::vector<Rule> bound = rules;
    for (const std::size_t i : unsaid)
        bound[i].subjects = bind;
    return bound;
}

Result<std::vector<overlay::RuleShown>> Config::unmatched_rules(int workspace) const {
    TRY_ASSIGN(const std::vector<Rule> unmatched,
               overlay::unmatched_rules(bound_rules(), workspace, 0));
    std::vector<overlay::RuleShown> all;
    std::transform(unmatched.begin(), unmatched.end(), std::back_inserter(all), overlay::shown);
    return all;
}

}  // namespace unwrite::cli
