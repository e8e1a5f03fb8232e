// What the user's unwrite.toml says of the tools of an agent (config.h has the rest). The
// workspace's own file may have the same keys, which are checked and not used: the tools work
// through the mount, where it is out of reach.
//   approval = "client" | "elicit" | "deny"
//   [edit]        lp1_eol = "preserve" | "strict" | "normalize"
//   [tools.edit]  enabled = true   max_snippet_bytes = 262144   max_line_edit_bytes = 262144
//                 require_file_hash = false
//   [tools.revert_to_state]  enabled = false
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "edit/settings.h"

namespace unwrite::cli {

struct ToolsConfig {
    edit::Settings edit{};
    std::string approval = "client";  ///< as `mcp --approval`
    bool revert_to_state = false;     ///< `mcp` offers the tool
};

/// Of the user's file. Errors: as load_user_config().
Result<ToolsConfig> load_tools_config();
/// For tests: reads `text` over what `config` has.
Result<> read_tools_config(std::string_view text, const std::string& file, ToolsConfig& config);

}  // namespace unwrite::cli
