#include <nlohmann/json.hpp>

#include "edit/response.h"

namespace unwrite::edit {

namespace {

using Json = nlohmann::ordered_json;

Json typed(const char* type, const char* description) {
    return {{"type", type}, {"description", description}};
}

// Not a list of types: programs that map schemas onto dialects with one type for each refuse that.
Json or_null(Json schema, const char* description) {
    return {{"anyOf", Json::array({std::move(schema), Json{{"type", "null"}}})},
            {"description", description}};
}

Json or_null(const char* type, const char* description) {
    return or_null(Json{{"type", type}}, description);
}

Json object(Json properties) {
    Json required = Json::array();
    for (const auto& item : properties.items())
        required.push_back(item.key());
    return {{"type", "object"},
            {"properties", std::move(properties)},
            {"required", std::move(required)},
            {"additionalProperties", false}};
}

Json list_of(Json items, const char* description) {
    return {{"type", "array"}, {"items", std::move(items)}, {"description", description}};
}

Json range_or_null(const char* description) {
    return or_null(
        object({{"start", typed("integer", "First.")}, {"end", typed("integer", "Last.")}}),
        description);
}

Json file_schema() {
    return object({{"path", typed("string", "Relative to the workspace.")},
                   {"change", {{"enum", {"modified", "created", "deleted"}}}},
                   {"file_hash", or_null("string", "The file's hash now.")},
                   {"newline_kind", or_null("string", "LF, CRLF or CR.")},
                   {"lines", list_of(object({{"start", typed("integer", "First line.")},
                                             {"end", typed("integer", "Last line.")}}),
                                     "The lines that are new in the file.")}});
}

Json candidate_schema() {
    return object({{"line", typed("integer", "Line number, from 1.")},
                   {"preview", typed("string", "The line, shortened.")},
                   {"score", typed("number", "1: equal apart from white space.")}});
}

}  // namespace

std::string response_schema() {
    Json fields;
    fields["action"] = {{"enum", {"apply_snippet_edit", "apply_line_edit", "apply_patch"}}};
    fields["status"] = {{"enum", {"ok", "no_match", "stale_file", "error", "needs_confirmation"}}};
    fields["message"] = typed("string", "What was done, or why nothing was done.");
    fields["next"] = typed("string", "What to do next.");
    fields["path"] = or_null("string", "The file; null if there are several.");
    fields["paths"] = list_of(typed("string", "A path."), "The files that changed.");
    fields["current_file_hash"] = or_null("string", "The file's hash now, for file_hash.");
    fields["file_hash_before"] = or_null("string", "The file's hash before the edit.");
    fields["file_hash_after"] = or_null("string", "The same as current_file_hash.");
    fields["newline_kind"] = or_null("string", "LF, CRLF or CR.");
    fields["region_id"] = or_null("string", "The region_id of the call.");
    fields["bytes_written"] = typed("integer", "Bytes of the replacement.");
    fields["lines"] = range_or_null("The lines that were replaced.");
    fields["replaced_byte_range"] = range_or_null("The bytes that were replaced.");
    fields["candidates"] = list_of(candidate_schema(), "Up to five lines that may be meant.");
    fields["patch_line"] = or_null("integer", "The line of the patch that failed.");
    fields["operation"] = or_null("integer", "The operation of that file that failed, from 1.");
    fields["files"] = list_of(file_schema(), "What changed, file by file.");
    return object(fields).dump();
}

}  // namespace unwrite::edit
