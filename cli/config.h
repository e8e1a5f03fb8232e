// Configuration: the user's unwrite.toml, then the workspace's .unwrite/config.toml, which wins.
// Everything has a default; an unknown key or a bad value is an error that names the file and the
// line.
//   durability = "process" | "power"
//   [restore]  mtime = "exact" | "now"
//   [gc]       max_age_days = 30   max_abandoned = 0   max_bytes = "10G"      (0: no limit)
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "overlay/session.h"

namespace unwrite::cli {

struct Config {
    bool durable = false;
    bool mtime_now = false;
    overlay::Retention retention{30 * 86400ull, 0, 0};

    overlay::SessionOptions session_options(bool create) const {
        return {create, durable, mtime_now};
    }
};

/// Reads `text` over what `config` has; `file` is its name in messages.
Result<> read_config(std::string_view text, const std::string& file, Config& config);
/// Both files. `workspace` is a descriptor of the raw directory.
Result<Config> load_config(int workspace);
/// The user's file alone.
Result<Config> load_user_config();

}  // namespace unwrite::cli
