// The configuration file of a workspace, .unwrite/config.toml: read and replaced below the mount,
// by the daemon where there is one.
#pragma once

#include <functional>
#include <string>

#include "cli/config.h"

namespace unwrite::cli {

/// The name in messages.
inline constexpr const char* kWorkspaceConfig = ".unwrite/config.toml";

/// `workspace` is a descriptor of the raw directory. Empty when there is no such file.
Result<std::string> read_workspace_config(int workspace);

/// What would hold with `text` as the workspace's file. kUsage naming the line, as at a mount.
Result<Config> check_workspace_config(const std::string& text);

/// Checks `text` and puts it in the place of `before`, at once and durably; it is the user's, who
/// agrees to it. `accepted` is called
/// between the two and may refuse. kConflict when the file does not hold `before`; kNoWorkspace
/// without a state directory.
Result<> replace_workspace_config(int workspace, const std::string& before, const std::string& text,
                                  const std::function<Result<>(const Config&)>& accepted);

}  // namespace unwrite::cli
