// checkpoint, status, diff and log.
#pragma once

#include "mcp/tools.h"

namespace unwrite::mcp {

ToolAnswer call_checkpoint(ToolSession& session, const Json& arguments);
ToolAnswer call_status(ToolSession& session, const Json& arguments);
ToolAnswer call_diff(ToolSession& session, const Json& arguments);
ToolAnswer call_log(ToolSession& session, const Json& arguments);
Json checkpoint_description(const edit::Settings& settings);
Json status_description(const edit::Settings& settings);
Json diff_description(const edit::Settings& settings);
Json log_description(const edit::Settings& settings);

}  // namespace unwrite::mcp
