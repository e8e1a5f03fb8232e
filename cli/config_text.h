// The text of a configuration file: which values it has and where, and the text with one of them
// changed. Comments and the order stay. Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace unwrite::cli {

struct ConfigEntry {
    std::string key;    ///< "policy.size_cap"; "policy.rule" for each rule
    std::string value;  ///< as TOML, on one line
    std::uint32_t line = 0;
};

/// In the order of the keys. kUsage when it is not TOML.
Result<std::vector<ConfigEntry>> entries_of(std::string_view text);

/// `text` where `key` is `value` (TOML). kConflict where only a person can put it in.
Result<std::string> with_value(const std::string& text, const std::string& key,
                               const std::string& value);
/// `text` without `key`; the same text when it has none.
Result<std::string> without_value(const std::string& text, const std::string& key);

}  // namespace unwrite::cli
