#include "cli/config.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <functional>
#include <map>

#include "base/syscalls.h"
#include "cli/agreement.h"
#include "cli/config_policy.h"
#include "cli/config_store.h"
#include "cli/config_tools.h"
#include "cli/context.h"
#include "cli/text.h"

namespace unwrite::cli {

namespace {

constexpr std::size_t kMostBytes = 1 << 20;
constexpr std::uint64_t kMostSnippet = 1 << 20;

/// Reads one value; false when it is not what the key takes.
using Setter = std::function<bool(const toml::node&)>;

Setter one_of(const char* no, const char* yes, bool& target) {
    return [=, &target](const toml::node& node) {
        const std::string text = node.value_or(std::string());
        target = text == yes;
        return text == yes || text == no;
    };
}

Setter count(std::uint64_t& target, std::uint64_t factor) {
    return [=, &target](const toml::node& node) {
        const std::int64_t value = node.is_integer() ? node.value_or<std::int64_t>(-1) : -1;
        target = static_cast<std::uint64_t>(value) * factor;
        return value >= 0 && value < std::int64_t{1} << 40;
    };
}

Setter size(std::uint64_t& target) {
    return [&target](const toml::node& node) {
        const std::int64_t value = node.is_integer() ? node.value_or<std::int64_t>(-1) : -1;
        const Result<std::uint64_t> words = parse_size(node.value_or(std::string("?")));
        target = words ? *words : static_cast<std::uint64_t>(value);
        return words || value >= 0;
    };
}

Setter size(std::optional<std::uint64_t>& target) {
    return [&target](const toml::node& node) {
        std::uint64_t bytes = 0;
        const bool good = size(bytes)(node);
        if (good) target = bytes;
        return good;
    };
}

Setter flag(bool& target) {
    return [&target](const toml::node& node) {
        target = node.value_or(false);
        return node.is_boolean();
    };
}

// 0 would refuse everything; a larger one would not fit into one line of the protocol.
Setter limit(std::uint64_t& target) {
    return [&target, any = size(target)](const toml::node& node) {
        return any(node) && target >= 1 && target <= kMostSnippet;
    };
}

Setter approval(std::string& target) {
    return [&target](const toml::node& node) {
        target = node.value_or(std::string());
        return target == "client" || target == "elicit" || target == "deny";
    };
}

Setter mixed_endings(edit::MixedEndings& target) {
    return [&target](const toml::node& node) {
        const std::string text = node.value_or(std::string());
        target = text == "strict"      ? edit::MixedEndings::kStrict
                 : text == "normalize" ? edit::MixedEndings::kNormalize
                                       : edit::MixedEndings::kPreserve;
        return text == "preserve" || text == "strict" || text == "normalize";
    };
}

Setter durability(Config& config) {
    return [&config](const toml::node& node) {
        const std::string text = node.value_or(std::string());
        config.durable = text == "power";
        config.ordered = text == "ordered";
        return config.durable || config.ordered || text == "process";
    };
}

Setter idle(fs::Idle& target) {
    return [&target](const toml::node& node) {
        const std::string text = node.value_or(std::string());
        target = text == "awake"    ? fs::Idle::kAwake
                 : text == "asleep" ? fs::Idle::kAsleep
                                    : fs::Idle::kChoose;
        return text == "auto" || text == "awake" || text == "asleep";
    };
}

bool is_section(const std::string& key) {
    static constexpr std::array kSections = {
        "restore", "gc", "journal", "edit", "tools", "tools.edit", "tools.revert_to_state"};
    return std::find(kSections.begin(), kSections.end(), key) != kSections.end();
}

Result<> walk(const toml::table& table, const std::string& prefix,
              const std::map<std::string, Setter>& keys, const std::string& file, Config& config) {
    for (const auto& [name, node] : table) {
        const std::string key = prefix + std::string(name.str());
        const auto found = keys.find(key);
        if (found != keys.end()) {
            if (!found->second(node)) return bad_value(file, node.source(), key);
        } else if (node.is_table() && is_section(key)) {
            TRY(walk(*node.as_table(), key + ".", keys, file, config));
        } else if (node.is_table() && key == "policy") {
            TRY(read_policy(*node.as_table(), file, config));
        } else if (node.is_table() && key == "agents") {
            TRY(read_agents(*node.as_table(), file, config.agents));
        } else if (is_section(key) || key == "policy" || key == "agents") {
            return bad_value(file, node.source(), key);
        } else {
            return wrong_value(file, name.source(), "unknown key " + quote_name(key));
        }
    }
    return {};
}

Result<> read_both(std::string_view text, const std::string& file, Config& config,
                   ToolsConfig& tools) {
    if (text.size() > kMostBytes) {
        return Error(ErrorKind::kUsage, EFBIG,
                     "cannot read " + quote_name(file) + ": it is larger than 1 MiB");
    }
    const std::map<std::string, Setter> keys = {
        {"durability", durability(config)},
        {"bell", flag(config.bell)},
        {"idle", idle(config.idle)},
        {"restore.mtime", one_of("exact", "now", config.mtime_now)},
        {"gc.max_age_days", count(config.retention.max_age_seconds, 86400)},
        {"gc.max_abandoned", count(config.retention.max_abandoned, 1)},
        {"gc.max_bytes", size(config.retention.max_bytes)},
        {"journal.reserve", size(config.reserve)},
        {"journal.compress", one_of("background", "off", config.uncompressed)},
        {"approval", approval(tools.approval)},
        {"edit.lp1_eol", mixed_endings(tools.edit.lp1_eol)},
        {"tools.edit.enabled", flag(tools.edit.enabled)},
        {"tools.edit.max_snippet_bytes", limit(tools.edit.max_snippet)},
        {"tools.edit.max_line_edit_bytes", limit(tools.edit.max_line_edit)},
        {"tools.edit.require_file_hash", flag(tools.edit.require_file_hash)},
        {"tools.revert_to_state.enabled", flag(tools.revert_to_state)},
    };
    try {
        return walk(toml::parse(text), "", keys, file, config);
    } catch (const toml::parse_error& error) {
        return wrong_value(file, error.source(), std::string(error.description()));
    }
}

std::string user_directory() {
    const char* config = std::getenv("XDG_CONFIG_HOME");
    if (config != nullptr && config[0] == '/') return config;
    const char* home = std::getenv("HOME");
    return home != nullptr && home[0] == '/' ? std::string(home) + "/.config" : std::string();
}

Result<> read_user_file(Config& config, ToolsConfig& tools) {
    TRY_ASSIGN(const UserFile own, read_user_config());
    return read_both(own.text, own.file, config, tools);
}

}  // namespace

std::optional<std::chrono::milliseconds> Config::compress_after() const {
    if (uncompressed) return std::nullopt;
    const char* seconds = std::getenv("UNWRITE_COMPRESS_AFTER");
    if (seconds == nullptr || *seconds < '0' || *seconds > '9') return overlay::kCold;
    return std::chrono::seconds(std::min(std::strtoul(seconds, nullptr, 10), 86400UL));
}

Result<> read_config(std::string_view text, const std::string& file, Config& config) {
    ToolsConfig tools;
    return read_both(text, file, config, tools);
}

Result<> read_tools_config(std::string_view text, const std::string& file, ToolsConfig& config) {
    Config others;
    return read_both(text, file, others, config);
}

Result<Config> load_user_config() {
    Config config;
    ToolsConfig tools;
    TRY(read_user_file(config, tools));
    return config;
}

Result<ToolsConfig> load_tools_config() {
    Config others;
    ToolsConfig config;
    TRY(read_user_file(others, config));
    return config;
}

Result<UserFile> read_user_config() {
    const std::string directory = user_directory();
    if (directory.empty()) return UserFile();
    UserFile own{directory + "/unwrite/unwrite.toml", ""};
    // People keep links to their configuration elsewhere, so links are followed here.
    const Result<std::string> real = real_path("/", own.file);
    if (!real) return own;
    Result<std::string> text = sys::read_file_at(AT_FDCWD, *real);
    if (!text && text.error().number() == ENOENT) return own;
    if (!text) return text.error().with_context("cannot read " + quote_name(own.file));
    own.text = *std::move(text);
    return own;
}

Result<Config> load_config(int workspace) {
    TRY_ASSIGN(const std::string text, read_workspace_config(workspace));
    return load_config_with(text);
}

Result<Config> load_config_with(const std::string& text) {
    TRY_ASSIGN(const Config user, load_user_config());
    Config wanted = user;
    TRY(read_config(text, kWorkspaceConfig, wanted));
    if (text.empty() || is_agreed(text)) return wanted;
    return tightened(user, wanted);
}

}  // namespace unwrite::cli
