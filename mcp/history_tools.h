// checkpoint, rollback, status, diff and log.
#pragma once

#include "mcp/tools.h"

namespace unwrite::mcp {

ToolAnswer call_checkpoint(ToolSession& session, const Json& arguments);
ToolAnswer call_rollback(ToolSession& session, const Json& arguments);
bool is_dry_run(const Json& rollback);
Json as_dry_run(Json rollback);
ToolAnswer call_status(ToolSession& session, const Json& arguments);
ToolAnswer call_diff(ToolSession& session, const Json& arguments);
ToolAnswer call_log(ToolSession& session, const Json& arguments);
Json checkpoint_description(const edit::Settings& settings);
Json rollback_description(const edit::Settings& settings);
Json status_description(const edit::Settings& settings);
Json diff_description(const edit::Settings& settings);
Json log_description(const edit::Settings& settings);

}  // namespace unwrite::mcp
