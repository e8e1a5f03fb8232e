// The keys that a configuration file may have: what each takes, what holds without it, and when a
// change of it counts. config.h says what they mean.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace unwrite::cli {

enum class Takes { kText, kFlag, kCount, kSize };

enum class Counts {
    kAtOnce,     ///< also while it is mounted
    kNextMount,  ///< the daemon reads it when it starts
    kOwnFile,    ///< the user's file alone; that of a workspace does not decide this
    kInRule,     ///< a member of each [[policy.rule]]
};

struct ConfigKey {
    std::string_view name;  ///< "policy.size_cap"
    Takes takes;
    std::string_view standard;  ///< the value without it, as TOML; empty in a rule
    std::string_view values;    ///< for messages: `"process" or "power"`
    Counts counts;
};

std::span<const ConfigKey> config_keys();
/// Null when there is none of this name.
const ConfigKey* config_key(std::string_view name);
/// Those that `config set` may name.
std::vector<std::string> settable_keys();

/// `value` as TOML, for a key that takes this: a word gets its quotes.
std::string toml_value(Takes takes, const std::string& value);
/// In double quotes, escaped as TOML wants it.
std::string toml_text(std::string_view text);

}  // namespace unwrite::cli
