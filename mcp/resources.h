// What can be read beside the tools, the prompt, and what its argument may become.
#pragma once

#include <string>

#include "base/result.h"
#include "mcp/message.h"
#include "mcp/room.h"

namespace unwrite::mcp {

Json resource_list();
/// Errors: kNotFound for another name; those of the operations.
Result<Json> resource_content(const std::string& uri, const Enter& enter);

Json prompt_list();
/// The result of prompts/get. Errors: kUsage for another name or wrong arguments; those of the
/// operations.
Result<Json> prompt_content(const std::string& name, const Json& arguments, const Enter& enter);

/// The result of completion/complete: what the argument of the prompt may become, which is a node
/// or a checkpoint's name. Errors: kUsage for any other argument; those of the operations.
Result<Json> completion(const Json& params, const Enter& enter);

}  // namespace unwrite::mcp
