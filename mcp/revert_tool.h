// revert_to_state: the tool notes a request, and what waits is carried out between two calls.
#pragma once

#include "mcp/tools.h"

namespace unwrite::mcp {

ToolAnswer call_revert(ToolSession& session, const Json& arguments);
Json revert_description(const edit::Settings& settings);

/// Carries out what waits, unless somebody has files open for writing. True when something still
/// waits that this session asked for.
bool settle_reverts(ToolSession& session);
/// Tells with this answer what came of earlier requests.
void tell_reverts(ToolSession& session, Json& result);

}  // namespace unwrite::mcp
