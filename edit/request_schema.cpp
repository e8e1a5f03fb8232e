#include <nlohmann/json.hpp>

#include "edit/request.h"

namespace unwrite::edit {

namespace {

using Json = nlohmann::ordered_json;

Json text(const char* description) {
    return {{"type", "string"}, {"description", description}};
}

Json line(const char* description) {
    return {{"type", "integer"}, {"minimum", 1}, {"description", description}};
}

Json hint() {
    return {
        {"type", "object"},
        {"description", "Only matches that lie wholly in these lines count."},
        {"properties",
         {{"start_line", line("First line, from 1.")}, {"end_line", line("Last line, included.")}}},
        {"required", {"start_line", "end_line"}},
        {"additionalProperties", false}};
}

}  // namespace

std::string request_schema() {
    Json fields;
    fields["patch"] = text(
        "An LP1 patch of one or several files, applied wholly or not at all. I inserts after the "
        "matched lines, not after the function whose header matched. No text outside blocks. When "
        "a block matches more than once, give an occurrence or a longer block.");
    fields["path"] = text("The file, for a snippet or a line-range edit.");
    fields["old_snippet"] = text("The text to replace; must match exactly once.");
    fields["new_snippet"] = text("What to put in its place.");
    fields["match_hint"] = hint();
    fields["start_line"] = line("First line to replace, from 1.");
    fields["end_line"] = line("Last line to replace, included.");
    fields["new_content"] = text("What to put in place of these lines; empty removes them.");
    fields["file_hash"] = text("\"sha256:\" and the hash of the file that is meant.");
    fields["region_id"] = text("Returned as it is.");
    return Json{{"type", "object"}, {"properties", fields}, {"additionalProperties", false}}.dump();
}

}  // namespace unwrite::edit
