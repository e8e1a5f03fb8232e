#include "mcp/file_tools.h"

#include "edit/text_safety.h"
#include "mcp/arguments.h"
#include "mcp/encode.h"
#include "mcp/schema.h"

namespace unwrite::mcp {

namespace {

overlay::EditRoom edit_room(const ToolSession& session, Room& room) {
    return {room.operations(), room.files(), asker_of(session, room)};
}

Result<ToolAnswer> read(ToolSession& session, const Json& json) {
    constexpr std::uint64_t most = UINT32_MAX;
    TRY_ASSIGN(const Arguments arguments,
               Arguments::check(json, {"path", "start_line", "end_line"}));
    TRY_ASSIGN(const std::string path, arguments.required_text("path"));
    TRY_ASSIGN(const auto start, arguments.number("start_line", 1, most));
    TRY_ASSIGN(const auto end, arguments.number("end_line", 1, most));
    std::optional<edit::LineRange> lines;
    if (start || end) lines = edit::LineRange{start.value_or(1), end.value_or(most)};
    TRY_ASSIGN(const auto entered, session.enter());
    overlay::EditRoom room = edit_room(session, *entered);
    TRY_ASSIGN(const overlay::ReadAnswer answer, session.editing.read(room, path, lines));
    session.has_read = true;
    ToolAnswer tool;
    tool.text = answer.text;
    tool.structured = Json{{"path", edit::displayed(answer.path)},
                           {"start_line", answer.lines.start},
                           {"end_line", answer.lines.end},
                           {"line_count", answer.line_count},
                           {"file_hash", to_text(answer.hash)},
                           {"newline_kind", edit::name_of(answer.newline)},
                           {"content", answer.text}};
    return tool;
}

Json paths_json(const std::vector<std::string>& paths) {
    Json list = Json::array();
    for (const std::string& path : paths)
        list.push_back(edit::displayed(path));
    return list;
}

// The answer of an edit that has no EditResponse: a patch.
Json patch_json(bool failed, const std::string& message, const std::vector<std::string>& paths) {
    return Json{{"action", "apply_patch"},
                {"status", failed ? "error" : "ok"},
                {"message", message},
                {"paths", paths_json(paths)}};
}

Json response_json(const edit::EditResponse& response, const std::vector<std::string>& paths) {
    Json json = Json::parse(encode_response(response), nullptr, /*allow_exceptions=*/false);
    json["paths"] = paths_json(paths);
    return json;
}

ToolAnswer refused_edit(const std::string& arguments, bool patch, const Error& error) {
    ToolAnswer answer = failed(error);
    answer.structured = patch ? patch_json(true, error.message(), {})
                              : response_json(edit::refusal(arguments, error), {});
    return answer;
}

}  // namespace

ToolAnswer call_read(ToolSession& session, const Json& arguments) {
    auto answer = read(session, arguments);
    return answer ? *std::move(answer) : failed(answer.error());
}

ToolAnswer call_edit(ToolSession& session, const Json& arguments) {
    const std::string text = dump(arguments);
    const bool patch = arguments.is_object() && arguments.contains("patch");
    const auto request = edit::decode_request(text, session.editing.settings());
    if (!request) return refused_edit(text, patch, request.error());
    const auto entered = session.enter();
    if (!entered) return refused_edit(text, patch, entered.error());
    overlay::EditRoom room = edit_room(session, **entered);
    const overlay::EditAnswer done = session.editing.edit(room, *request);
    ToolAnswer answer{done.failed, cut(done.text), {}};
    answer.structured = done.response ? response_json(*done.response, done.paths)
                                      : patch_json(done.failed, cut(done.text), done.paths);
    return answer;
}

ToolAnswer call_undo(ToolSession& session, const Json& arguments) {
    if (auto checked = edit::check_undo_arguments(dump(arguments)); !checked)
        return failed(checked.error());
    const auto entered = session.enter();
    if (!entered) return failed(entered.error());
    overlay::EditRoom room = edit_room(session, **entered);
    const auto undone = session.editing.undo(room);
    if (!undone) return failed(undone.error());
    return {false, undone->report,
            Json{{"reverted", undone->paths.size()}, {"paths", paths_json(undone->paths)}}};
}

Json read_description() {
    return described(
        "Reads a text file of the workspace, or lines of it, exactly as it is. What was read can "
        "then be edited; read again what has changed since. At most 204800 bytes at once, of a "
        "file of at most 2 MiB.",
        object_schema({{"path", typed("string", "Relative to the workspace, or absolute in it.")},
                       {"start_line", typed("integer", "First line, from 1; default 1.")},
                       {"end_line", typed("integer", "Last line, included; default the last.")}},
                      {"path"}),
        object_schema({{"path", typed("string", "Relative to the workspace.")},
                       {"start_line", typed("integer", "First line of the content.")},
                       {"end_line", typed("integer", "Last line; 0 when the file is empty.")},
                       {"line_count", typed("integer", "Lines of the whole file.")},
                       {"file_hash", typed("string", "Of the whole file, for Edit's file_hash.")},
                       {"newline_kind", typed("string", "LF, CRLF or CR.")},
                       {"content", typed("string", "The lines, with their endings.")}},
                      {"path", "start_line", "end_line", "line_count", "file_hash", "newline_kind",
                       "content"},
                      false));
}

Json edit_description() {
    return described(
        "Changes text files, wholly or not at all, and keeps their line endings. Three ways, told "
        "apart by the fields: patch (LP1, any number of files, may create files); old_snippet and "
        "new_snippet; start_line, end_line and new_content. Files and lines must have been read "
        "with Read before. Undo takes the last edit back. LP1: a line `LP1`, then for each file "
        "`F path` and operations, then `END`. Operations: `R` find-block new-block replaces, `I` "
        "inserts after, `P` before, `E` find-block erases, `T` block appends at the end, `B` "
        "block puts at the beginning, `N +` or `N -` sets the last newline. A block is its lines "
        "and then a line with a single dot; a line that begins with a dot gets one more.",
        Json::parse(edit::request_schema(), nullptr, /*allow_exceptions=*/false),
        object_schema({{"action", typed("string",
                                        "apply_snippet_edit, apply_line_edit or "
                                        "apply_patch.")},
                       {"status", typed("string", "ok, no_match, stale_file or error.")},
                       {"message", typed("string", "What was done, or why not.")},
                       {"paths", Json{{"type", "array"}, {"items", {{"type", "string"}}}}}},
                      {"action", "status", "message", "paths"}, false));
}

Json undo_description() {
    return described(
        "Takes back the last Edit of this session that changed anything: all of its files, or none "
        "when one of them was changed since. Only the last one; it cannot be repeated.",
        Json::parse(edit::undo_schema(), nullptr, /*allow_exceptions=*/false),
        object_schema({{"reverted", typed("integer", "How many files.")},
                       {"paths", Json{{"type", "array"}, {"items", {{"type", "string"}}}}}},
                      {"reverted", "paths"}, false));
}

}  // namespace unwrite::mcp
