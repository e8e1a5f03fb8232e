#include "cli/config.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <toml++/toml.h>

#include <cerrno>
#include <cstdlib>
#include <functional>
#include <map>

#include "base/syscalls.h"
#include "cli/config_policy.h"
#include "cli/context.h"
#include "cli/text.h"

namespace unwrite::cli {

namespace {

constexpr std::size_t kMostBytes = 1 << 20;

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

Result<> walk(const toml::table& table, const std::string& prefix,
              const std::map<std::string, Setter>& keys, const std::string& file, Config& config) {
    for (const auto& [name, node] : table) {
        const std::string key = prefix + std::string(name.str());
        const auto found = keys.find(key);
        if (found != keys.end()) {
            if (!found->second(node))
                return wrong_value(file, node.source(), "bad value for `" + key + "`");
        } else if (node.is_table() && prefix.empty() && (key == "restore" || key == "gc")) {
            TRY(walk(*node.as_table(), key + ".", keys, file, config));
        } else if (node.is_table() && key == "policy") {
            TRY(read_policy(*node.as_table(), file, config));
        } else {
            return wrong_value(file, name.source(), "unknown key " + quote_name(key));
        }
    }
    return {};
}

Result<> read_config_file(int directory, const std::string& name, const std::string& shown,
                          Config& config) {
    const Result<std::string> text = sys::read_file_at(directory, name);
    if (!text && text.error().number() == ENOENT) return {};
    if (!text) return text.error().with_context("read " + quote_name(shown));
    return read_config(*text, shown, config);
}

std::string user_directory() {
    const char* config = std::getenv("XDG_CONFIG_HOME");
    if (config != nullptr && config[0] == '/') return config;
    const char* home = std::getenv("HOME");
    return home != nullptr && home[0] == '/' ? std::string(home) + "/.config" : std::string();
}

}  // namespace

Result<> read_config(std::string_view text, const std::string& file, Config& config) {
    if (text.size() > kMostBytes) {
        return Error(ErrorKind::kUsage, EFBIG,
                     "read " + quote_name(file) + ": it has more than 1 MiB");
    }
    const std::map<std::string, Setter> keys = {
        {"durability", one_of("process", "power", config.durable)},
        {"restore.mtime", one_of("exact", "now", config.mtime_now)},
        {"gc.max_age_days", count(config.retention.max_age_seconds, 86400)},
        {"gc.max_abandoned", count(config.retention.max_abandoned, 1)},
        {"gc.max_bytes", size(config.retention.max_bytes)},
    };
    try {
        return walk(toml::parse(text), "", keys, file, config);
    } catch (const toml::parse_error& error) {
        return wrong_value(file, error.source(), std::string(error.description()));
    }
}

Result<Config> load_user_config() {
    Config config;
    const std::string directory = user_directory();
    if (directory.empty()) return config;
    const std::string file = directory + "/unwrite/unwrite.toml";
    // People keep links to their configuration elsewhere, so links are followed here.
    const Result<std::string> real = real_path("/", file);
    if (real) TRY(read_config_file(AT_FDCWD, *real, file, config));
    return config;
}

Result<Config> load_config(int workspace) {
    TRY_ASSIGN(Config config, load_user_config());
    const Result<UniqueFd> state = sys::open_at(workspace, ".unwrite", O_RDONLY | O_DIRECTORY);
    if (state) TRY(read_config_file(state->get(), "config.toml", ".unwrite/config.toml", config));
    return config;
}

}  // namespace unwrite::cli
