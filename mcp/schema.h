// Short ways to write JSON schemas.
#pragma once

#include <string>

#include "mcp/message.h"

namespace unwrite::mcp {

inline Json typed(const char* type, const char* description) {
    return Json{{"type", type}, {"description", description}};
}

/// Not a list of types: programs that map schemas onto dialects with one type for each refuse that.
inline Json or_null(const char* type, const char* description) {
    return Json{{"anyOf", Json::array({Json{{"type", type}}, Json{{"type", "null"}}})},
                {"description", description}};
}

inline Json list_of(Json items, const char* description) {
    return Json{{"type", "array"}, {"items", std::move(items)}, {"description", description}};
}

inline Json object_schema(Json properties, Json required = Json::array()) {
    if (properties.is_null()) properties = Json::object();
    Json schema{{"type", "object"}, {"properties", std::move(properties)}};
    if (!required.empty()) schema["required"] = std::move(required);
    schema["additionalProperties"] = false;
    return schema;
}

/// A list of changes of files, as encode() has them.
Json changes_schema();

/// The schema of a tool's answers: `members`, and those that every answer has or may have. Only
/// these are required: an answer that says why nothing was done has no others.
Json answer_schema(Json members);

inline Json described(const std::string& text, Json input, Json output) {
    return Json{{"description", text},
                {"inputSchema", std::move(input)},
                {"outputSchema", std::move(output)}};
}

}  // namespace unwrite::mcp
