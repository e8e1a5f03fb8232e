#include "edit/response.h"

#include <nlohmann/json.hpp>

#include "edit/text_safety.h"

namespace unwrite::edit {

namespace {

using Json = nlohmann::ordered_json;

const char* name_of(EditAction action) {
    switch (action) {
        case EditAction::kLines:
            return "apply_line_edit";
        case EditAction::kPatch:
            return "apply_patch";
        case EditAction::kSnippet:
            break;
    }
    return "apply_snippet_edit";
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

const char* name_of(FileChange change) {
    switch (change) {
        case FileChange::kCreated:
            return "created";
        case FileChange::kDeleted:
            return "deleted";
        case FileChange::kModified:
            break;
    }
    return "modified";
}

Json hash_json(const std::optional<Digest>& digest) {
    return digest ? Json(to_text(*digest)) : Json();
}

Json newline_json(const std::optional<Newline>& newline) {
    return newline ? Json(edit::name_of(*newline)) : Json();
}

template <class Value>
Json optional_json(const std::optional<Value>& value) {
    return value ? Json(*value) : Json();
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

Json paths_json(const std::vector<EditedFile>& files) {
    Json list = Json::array();
    for (const EditedFile& file : files)
        list.push_back(displayed(file.path));
    return list;
}

Json files_json(const std::vector<EditedFile>& files) {
    Json list = Json::array();
    for (const EditedFile& file : files) {
        Json lines = Json::array();
        for (const LineRange& range : file.lines)
            lines.push_back(range_json(range.start, range.end));
        list.push_back({{"path", displayed(file.path)},
                        {"change", name_of(file.change)},
                        {"file_hash", hash_json(file.hash)},
                        {"newline_kind", newline_json(file.newline)},
                        {"lines", std::move(lines)}});
    }
    return list;
}

std::string lines_words(const std::vector<LineRange>& ranges) {
    if (ranges.empty()) return "";
    const bool single = ranges.size() == 1 && ranges[0].start == ranges[0].end;
    std::string text = single ? ", line " : ", lines ";
    for (std::size_t i = 0; i < ranges.size(); ++i) {
        text += (i > 0 ? " " : "") + std::to_string(ranges[i].start);
        if (ranges[i].end != ranges[i].start) text += "-" + std::to_string(ranges[i].end);
    }
    return text;
}

// Empty for a refused path with hidden characters: without them it would be that of another file.
std::string shown_path(const EditResponse& response) {
    const bool is_another =
        response.status != EditStatus::kOk && has_unsafe_character(response.path);
    return is_another ? "" : displayed(response.path);
}

std::string state_words(const std::optional<Newline>& newline, const std::optional<Digest>& hash) {
    return (newline ? ", newline_kind " + std::string(edit::name_of(*newline)) : "") +
           (hash ? ", file_hash " + to_text(*hash) : "");
}

}  // namespace

std::string next_step(const EditResponse& response) {
    if (!response.next.empty()) return response.next;
    const std::string path = shown_path(response);
    const std::string file = path.empty() ? "the file" : "\"" + path + "\"";
    switch (response.status) {
        case EditStatus::kOk:
            return response.files.empty()
                       ? "Nothing needs to be done: the files already hold this."
                       : "Undo takes this edit back. The lines that it wrote count as read.";
        case EditStatus::kNoMatch:
            return "Call Read for " + file +
                   ", copy the text exactly as it stands there, blanks included, and try again.";
        case EditStatus::kStaleFile:
            return "Call Read for " + file + ", and then repeat the edit.";
        case EditStatus::kError:
            break;
    }
    return "Nothing was changed. Correct the call and try again.";
}

std::string facts_of(const EditResponse& response) {
    std::string text;
    for (const EditedFile& file : response.files) {
        text += displayed(file.path) + ": " + name_of(file.change) + lines_words(file.lines) +
                state_words(file.newline, file.hash) + "\n";
    }
    if (const std::string path = shown_path(response); response.files.empty() && !path.empty()) {
        text += path + ": not changed" + state_words(response.newline, response.hash_after) + "\n";
    }
    if (response.patch_line) {
        text += "at line " + std::to_string(*response.patch_line) + " of the patch";
        if (response.operation) text += ", operation " + std::to_string(*response.operation);
        text += "\n";
    }
    if (!response.candidates.empty()) text += "nearest lines of the file:\n";
    for (const Candidate& candidate : response.candidates)
        text += "  " + std::to_string(candidate.line) + ": " + candidate.preview + "\n";
    if (response.region_id) text += "region_id: " + displayed(*response.region_id) + "\n";
    return text + "next: " + next_step(response);
}

void fail(EditResponse& response, const Error& error) {
    response.status = EditStatus::kError;
    if (error.kind() == ErrorKind::kConflict) response.status = EditStatus::kStaleFile;
    if (error.kind() == ErrorKind::kNotFound) response.status = EditStatus::kNoMatch;
    response.kind = error.kind();
    response.message = error.message();
    response.next = error.advice();
    response.hash_after = response.hash_before;
    response.bytes_written = 0;
    response.files.clear();
}

EditResponse asked_for(const EditRequest& request) {
    EditResponse response;
    response.action = EditAction::kPatch;
    if (const auto* snippet = std::get_if<SnippetRequest>(&request)) {
        response.action = EditAction::kSnippet;
        response.path = snippet->path;
        response.region_id = snippet->region_id;
    } else if (const auto* lines = std::get_if<LineRequest>(&request)) {
        response.action = EditAction::kLines;
        response.path = lines->path;
        response.region_id = lines->region_id;
    }
    return response;
}

std::string encode_response(const EditResponse& response) {
    Json json;
    json["action"] = name_of(response.action);
    json["status"] = name_of(response.status);
    json["message"] = response.message;
    json["next"] = next_step(response);
    const std::string path = shown_path(response);
    json["path"] = path.empty() ? Json() : Json(path);
    json["paths"] = paths_json(response.files);
    json["current_file_hash"] = hash_json(response.hash_after);
    json["file_hash_before"] = hash_json(response.hash_before);
    json["file_hash_after"] = hash_json(response.hash_after);
    json["newline_kind"] = newline_json(response.newline);
    json["region_id"] = optional_json(response.region_id);
    json["bytes_written"] = response.bytes_written;
    json["lines"] =
        response.lines ? range_json(response.lines->start, response.lines->end) : Json();
    json["replaced_byte_range"] =
        response.replaced ? range_json(response.replaced->start, response.replaced->end) : Json();
    json["candidates"] = candidates_json(response.candidates);
    json["patch_line"] = optional_json(response.patch_line);
    json["operation"] = optional_json(response.operation);
    json["files"] = files_json(response.files);
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

EditResponse refusal(std::string_view arguments, const Error& error) {
    EditResponse response;
    response.message = error.message();
    response.next = error.advice();
    const auto json = nlohmann::json::parse(arguments, nullptr, /*allow_exceptions=*/false);
    if (!json.is_object()) return response;
    const bool lines =
        json.contains("start_line") || json.contains("end_line") || json.contains("new_content");
    const bool snippet = json.contains("old_snippet") || json.contains("new_snippet");
    if (lines && !snippet) response.action = EditAction::kLines;
    if (json.contains("patch")) response.action = EditAction::kPatch;
    const auto text = [&](const char* name, std::size_t most) -> std::optional<std::string> {
        const auto found = json.find(name);
        if (found == json.end() || !found->is_string()) return std::nullopt;
        std::string value = found->get<std::string>();
        return value.size() <= most ? std::optional(std::move(value)) : std::nullopt;
    };
    constexpr std::size_t most_of_path = 4096;
    response.region_id = text("region_id", kMaxRegionId);
    response.path = text("path", most_of_path).value_or("");
    return response;
}

}  // namespace unwrite::edit
