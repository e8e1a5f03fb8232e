// The tool rollback. A connection takes back its own work, or its run's; what others did is named
// with whose it is, and needs include_others.
#pragma once

#include "mcp/tools.h"

namespace unwrite::mcp {

ToolAnswer call_rollback(ToolSession& session, const Json& arguments);
bool is_dry_run(const Json& rollback);
/// What the call would do; `question` is what the user is asked.
Foreseen foresee_rollback(ToolSession& session, const Json& arguments, const std::string& question);
Json rollback_description(const edit::Settings& settings);

}  // namespace unwrite::mcp
