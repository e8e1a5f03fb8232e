// Read, Edit and Undo.
#pragma once

#include "mcp/tools.h"

namespace unwrite::mcp {

ToolAnswer call_read(ToolSession& session, const Json& arguments);
ToolAnswer call_edit(ToolSession& session, const Json& arguments);
ToolAnswer call_undo(ToolSession& session, const Json& arguments);
Json read_description();
Json edit_description();
Json undo_description();

}  // namespace unwrite::mcp
