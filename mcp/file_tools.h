// Read, Edit and Undo.
#pragma once

#include "mcp/tools.h"

namespace unwrite::mcp {

ToolAnswer call_read(ToolSession& session, const Json& arguments);
ToolAnswer call_edit(ToolSession& session, const Json& arguments);
ToolAnswer call_undo(ToolSession& session, const Json& arguments);
/// What the call would do, as a diff below `question`.
Foreseen foresee_edit(ToolSession& session, const Json& arguments, const std::string& question);
Foreseen foresee_undo(ToolSession& session, const Json& arguments, const std::string& question);
/// The answer of Edit to a call that was not carried out.
ToolAnswer refused_edit(const Json& arguments, const Error& error);
Json read_description(const edit::Settings& settings);
Json edit_description(const edit::Settings& settings);
Json undo_description(const edit::Settings& settings);

}  // namespace unwrite::mcp
