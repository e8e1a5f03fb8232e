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

// "12<tab>text", a line each, as line numbers are given to Edit.
std::string numbered(const std::string& text, std::uint64_t first) {
    const edit::CanonicalView view(text);
    std::string shown;
    for (std::size_t line = 1; line <= view.line_count(); ++line) {
        shown += std::to_string(first + line - 1) + "\t";
        shown += std::string(view.line(line)) + "\n";
    }
    return shown;
}

Result<ToolAnswer> read(ToolSession& session, const Json& json) {
    constexpr std::uint64_t most = UINT32_MAX;
    TRY_ASSIGN(const Arguments arguments,
               Arguments::check(json, {"path", "start_line", "end_line", "line_numbers"}));
    TRY_ASSIGN(const std::string path, arguments.required_text("path"));
    TRY_ASSIGN(const auto start, arguments.number("start_line", 1, most));
    TRY_ASSIGN(const auto end, arguments.number("end_line", 1, most));
    std::optional<edit::LineRange> lines;
    if (start || end) lines = edit::LineRange{start.value_or(1), end.value_or(most)};
    TRY_ASSIGN(const bool with_numbers, arguments.flag("line_numbers", lines.has_value()));
    TRY_ASSIGN(const auto entered, session.enter());
    overlay::EditRoom room = edit_room(session, *entered);
    TRY_ASSIGN(const overlay::ReadAnswer answer, session.editing.read(room, path, lines));
    session.has_read = true;
    const std::string shown = edit::displayed(answer.path);
    const std::string range =
        std::to_string(answer.lines.start) + "-" + std::to_string(answer.lines.end);
    const std::string message = shown + ": lines " + range + " of " +
                                std::to_string(answer.line_count) + ", newline_kind " +
                                std::string(edit::name_of(answer.newline)) + ", file_hash " +
                                to_text(answer.hash);
    const char* next = "Edit can change these lines.";
    ToolAnswer tool;
    tool.text = with_numbers ? numbered(answer.text, answer.lines.start) : answer.text;
    tool.facts = message + "\nnext: " + next;
    tool.structured = answer_json(false, message, next,
                                  Json{{"path", shown},
                                       {"start_line", answer.lines.start},
                                       {"end_line", answer.lines.end},
                                       {"line_count", answer.line_count},
                                       {"file_hash", to_text(answer.hash)},
                                       {"newline_kind", edit::name_of(answer.newline)},
                                       {"line_numbers", with_numbers},
                                       {"content", tool.text}});
    return tool;
}

Json paths_json(const std::vector<std::string>& paths) {
    Json list = Json::array();
    for (const std::string& path : paths)
        list.push_back(edit::displayed(path));
    return list;
}

ToolAnswer edit_answer(bool failed, const std::string& text, const edit::EditResponse& response) {
    return {failed, cut(text),
            Json::parse(encode_response(response), nullptr, /*allow_exceptions=*/false),
            facts_of(response)};
}

// What the call says of the file, for answers that know no more.
Json path_given(const Json& arguments) {
    const std::string path = text_member(arguments, "path");
    return path.empty() ? Json::object() : Json{{"path", edit::displayed(path)}};
}

}  // namespace

ToolAnswer call_read(ToolSession& session, const Json& arguments) {
    auto answer = read(session, arguments);
    if (answer) return *std::move(answer);
    ToolAnswer refusal = failed(answer.error());
    refusal.structured.update(path_given(arguments));
    return refusal;
}

ToolAnswer refused_edit(const Json& arguments, const Error& error) {
    return edit_answer(true, error.message(), edit::refusal(dump(arguments), error));
}

ToolAnswer call_edit(ToolSession& session, const Json& arguments) {
    const auto request = edit::decode_request(dump(arguments), session.editing.settings());
    if (!request) return refused_edit(arguments, request.error());
    const auto entered = session.enter();
    if (!entered) return refused_edit(arguments, entered.error());
    overlay::EditRoom room = edit_room(session, **entered);
    const overlay::EditAnswer done = session.editing.edit(room, *request);
    return edit_answer(done.failed, done.text, done.response);
}

ToolAnswer call_undo(ToolSession& session, const Json& arguments) {
    if (auto checked = edit::check_undo_arguments(dump(arguments)); !checked)
        return failed(checked.error());
    const auto entered = session.enter();
    if (!entered) return failed(entered.error());
    overlay::EditRoom room = edit_room(session, **entered);
    const auto undone = session.editing.undo(room);
    if (!undone) return failed(undone.error());
    const char* next = "Call Read for these files before you edit them again.";
    return {
        false, undone->report,
        answer_json(false, undone->report, next,
                    Json{{"reverted", undone->paths.size()}, {"paths", paths_json(undone->paths)}}),
        std::string("next: ") + next};
}

Json read_description() {
    return described(
        "Reads a text file of the workspace, or lines of it, exactly as it is. What was read can "
        "then be edited; read again what has changed since. At most 204800 bytes at once, of a "
        "file of at most 2 MiB.",
        object_schema({{"path", typed("string", "Relative to the workspace, or absolute in it.")},
                       {"start_line", typed("integer", "First line, from 1; default 1.")},
                       {"end_line", typed("integer", "Last line, included; default the last.")},
                       {"line_numbers",
                        typed("boolean",
                              "Put \"N<tab>\" before each line; default: only with start_line or "
                              "end_line.")}},
                      {"path"}),
        answer_schema(
            {{"path", typed("string", "Relative to the workspace.")},
             {"start_line", typed("integer", "First line of the content.")},
             {"end_line", typed("integer", "Last line; 0 when the file is empty.")},
             {"line_count", typed("integer", "Lines of the whole file.")},
             {"file_hash", typed("string", "Of the whole file, for Edit's file_hash.")},
             {"newline_kind", typed("string", "LF, CRLF or CR.")},
             {"line_numbers", typed("boolean", "Whether the content has line numbers.")},
             {"content", typed("string", "The lines: exactly, unless they have numbers.")}}));
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
        answer_schema(
            member(Json::parse(edit::response_schema(), nullptr, /*allow_exceptions=*/false),
                   "properties")));
}

Json undo_description() {
    return described(
        "Takes back the last Edit of this session that changed anything: all of its files, or none "
        "when one of them was changed since. Only the last one; it cannot be repeated.",
        Json::parse(edit::undo_schema(), nullptr, /*allow_exceptions=*/false),
        answer_schema({{"reverted", typed("integer", "How many files.")},
                       {"paths", list_of(Json{{"type", "string"}}, "Which files.")}}));
}

}  // namespace unwrite::mcp
