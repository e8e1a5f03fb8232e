#include "edit/response.h"

#include <nlohmann/json.hpp>

namespace unwrite::edit {

namespace {

using Json = nlohmann::ordered_json;

const char* name_of(EditAction action) {
    return action == EditAction::kLines ? "apply_line_edit" : "apply_snippet_edit";
}

const char* name_of(EditStatus status) {
    switch (status) {
        case EditStatus::kOk:
            return "ok";
        case EditStatus::kNoMatch:
            return "no_match";
        case EditStatus::kStaleFile:
            return "stale_file";
        case EditStatus::kError:
            break;
    }
    return "error";
}

Json hash_json(const std::optional<Digest>& digest) {
    return digest ? Json(to_text(*digest)) : Json();
}

Json range_json(std::uint64_t start, std::uint64_t end) {
    return Json{{"start", start}, {"end", end}};
}

Json candidates_json(const std::vector<Candidate>& candidates) {
    Json list = Json::array();
    for (const Candidate& candidate : candidates) {
        list.push_back(
            {{"line", candidate.line}, {"preview", candidate.preview}, {"score", candidate.score}});
    }
    return list;
}

}  // namespace

std::string encode_response(const EditResponse& response) {
    Json json;
    json["action"] = name_of(response.action);
    json["status"] = name_of(response.status);
    json["message"] = response.message;
    json["current_file_hash"] = hash_json(response.hash_after);
    json["file_hash_before"] = hash_json(response.hash_before);
    json["file_hash_after"] = hash_json(response.hash_after);
    json["newline_kind"] = response.newline ? Json(edit::name_of(*response.newline)) : Json();
    json["region_id"] = response.region_id ? Json(*response.region_id) : Json();
    json["bytes_written"] = response.bytes_written;
    json["lines"] =
        response.lines ? range_json(response.lines->start, response.lines->end) : Json();
    json["replaced_byte_range"] =
        response.replaced ? range_json(response.replaced->start, response.replaced->end) : Json();
    json["candidates"] = candidates_json(response.candidates);
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

EditResponse refusal(std::string_view arguments, const Error& error) {
    EditResponse response;
    response.message = error.message();
    // What was refused for its size is not looked into.
    if (arguments.size() > Settings{}.max_arguments) return response;
    const auto json = nlohmann::json::parse(arguments, nullptr, /*allow_exceptions=*/false);
    if (!json.is_object()) return response;
    const bool lines =
        json.contains("start_line") || json.contains("end_line") || json.contains("new_content");
    const bool snippet = json.contains("old_snippet") || json.contains("new_snippet");
    if (lines && !snippet) response.action = EditAction::kLines;
    const auto region = json.find("region_id");
    if (region != json.end() && region->is_string()) {
        const auto& text = region->get_ref<const std::string&>();
        if (text.size() <= kMaxRegionId) response.region_id = text;
    }
    return response;
}

}  // namespace unwrite::edit
