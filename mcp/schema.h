// Short ways to write JSON schemas.
#pragma once

#include <string>

#include "mcp/message.h"

namespace unwrite::mcp {

inline Json typed(const char* type, const char* description) {
    return Json{{"type", type}, {"description", description}};
}

inline Json object_schema(Json properties, Json required = Json::array(), bool closed = true) {
    if (properties.is_null()) properties = Json::object();
    Json schema{{"type", "object"}, {"properties", std::move(properties)}};
    if (!required.empty()) schema["required"] = std::move(required);
    if (closed) schema["additionalProperties"] = false;
    return schema;
}

inline Json described(const std::string& text, Json input, Json output) {
    return Json{{"description", text},
                {"inputSchema", std::move(input)},
                {"outputSchema", std::move(output)}};
}

}  // namespace unwrite::mcp
