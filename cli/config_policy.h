// The [policy] table of a configuration file.
#pragma once

#include <toml++/toml.h>

#include "cli/config.h"

namespace unwrite::cli {

/// Reads the table over what `config` has: its rules follow those that are there. kUsage naming
/// file, line and key.
Result<> read_policy(const toml::table& table, const std::string& file, Config& config);

/// "read FILE:LINE: WHY".
Error wrong_value(const std::string& file, const toml::source_region& at, const std::string& why);
/// The same of a value that `key` does not take, with those that it does.
Error bad_value(const std::string& file, const toml::source_region& at, const std::string& key);

}  // namespace unwrite::cli
