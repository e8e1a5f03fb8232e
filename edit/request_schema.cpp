#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "edit/request.h"

namespace unwrite::edit {

namespace {

using Json = nlohmann::ordered_json;

Json text(const std::string& description, std::uint64_t most = 0) {
    Json json{{"type", "string"}, {"description", description}};
    if (most > 0) json["maxLength"] = most;
    return json;
}

Json line(const char* description) {
    return {{"type", "integer"}, {"minimum", 1}, {"description", description}};
}

Json hint() {
    return {{"type", "object"},
            {"description", "Only a match inside these lines counts."},
            {"properties", {{"start_line", line("First line.")}, {"end_line", line("Last line.")}}},
            {"required", {"start_line", "end_line"}},
            {"additionalProperties", false}};
}

}  // namespace

std::string request_schema(const Settings& settings) {
    const auto most_of_call = std::min(settings.max_patch, settings.max_arguments);
    Json fields;
    fields["path"] = text("The file, relative to the top of the workspace. Not with patch.");
    fields["old_snippet"] =
        text("The text to replace. It must occur exactly once.", settings.max_snippet);
    fields["new_snippet"] = text("The new text.", settings.max_snippet);
    fields["match_hint"] = hint();
    fields["start_line"] = line("First line to replace, from 1.");
    fields["end_line"] = line("Last line to replace.");
    fields["new_content"] =
        text("The new text of these lines; empty removes them.", settings.max_line_edit);
    fields["patch"] = text("An LP1 patch.", most_of_call);
    fields["file_hash"] = text(
        std::string("file_hash from Read: the edit happens only if the file is still the same.") +
        (settings.require_file_hash ? " Required." : ""));
    fields["region_id"] = text("Comes back unchanged.", kMaxRegionId);
    return Json{{"type", "object"}, {"properties", fields}, {"additionalProperties", false}}.dump();
}

}  // namespace unwrite::edit
