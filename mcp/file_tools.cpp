#include "mcp/file_tools.h"

#include "edit/report.h"
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
               Arguments::check(json, {"path", "start_line", "end_line", "line_numbers"}));
    TRY_ASSIGN(const std::string path, arguments.required_text("path"));
    TRY(edit::check_path(path));
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
    const std::string message = overlay::facts_of(answer);
    const std::string next = session.editing.after_read(room, answer);
    ToolAnswer tool;
    tool.text = with_numbers ? edit::numbered_lines(answer.text, answer.lines.start) : answer.text;
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

// What the call says of the file, for answers that know no more. Without its hidden characters a
// path would be that of another file.
Json path_given(const Json& arguments) {
    const std::string path = text_member(arguments, "path");
    const bool is_another = edit::has_unsafe_character(path);
    return path.empty() || is_another ? Json::object() : Json{{"path", edit::displayed(path)}};
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

namespace {

Foreseen foreseen(const edit::EditPlan& plan, const std::string& question) {
    const auto diff = edit::edit_report(plan);
    if (!diff) return {.refusal = failed(diff.error())};
    // The digests stand for all that a long diff leaves out.
    std::string all = question + "\n" + *diff;
    Foreseen seen{.changes = !plan.files.empty(), .text = shortened(all)};
    for (const edit::PlannedFile& file : plan.files)
        all += "\n" + file.path + " " + to_text(digest_of(file.before)) + " " +
               to_text(digest_of(file.after));
    seen.all = std::move(all);
    return seen;
}

}  // namespace

Foreseen foresee_edit(ToolSession& session, const Json& arguments, const std::string& question) {
    const auto request = edit::decode_request(dump(arguments), session.editing.settings());
    if (!request) return {.refusal = refused_edit(arguments, request.error())};
    const auto entered = session.enter();
    if (!entered) return {.refusal = refused_edit(arguments, entered.error())};
    overlay::EditRoom room = edit_room(session, **entered);
    const edit::AnsweredPlan made = session.editing.foresee(room, *request);
    if (made.response.status != edit::EditStatus::kOk)
        return {.refusal = edit_answer(true, made.response.message, made.response)};
    return foreseen(made.plan, question);
}

Foreseen foresee_undo(ToolSession& session, const Json& arguments, const std::string& question) {
    if (auto checked = edit::check_undo_arguments(dump(arguments)); !checked)
        return {.refusal = failed(checked.error())};
    const auto entered = session.enter();
    if (!entered) return {.refusal = failed(entered.error())};
    overlay::EditRoom room = edit_room(session, **entered);
    const auto plan = session.editing.foresee_undo(room);
    if (!plan) return {.refusal = failed(plan.error())};
    return foreseen(*plan, question);
}

ToolAnswer call_undo(ToolSession& session, const Json& arguments) {
    if (auto checked = edit::check_undo_arguments(dump(arguments)); !checked)
        return failed(checked.error());
    const auto entered = session.enter();
    if (!entered) return failed(entered.error());
    overlay::EditRoom room = edit_room(session, **entered);
    const auto undone = session.editing.undo(room);
    if (!undone) return failed(undone.error());
    std::string next;
    for (const std::string& remark : undone->remarks)
        next += remark + " ";
    next += "Call Read for these files before you edit them again.";
    return {
        false, undone->report,
        answer_json(false, undone->report, next,
                    Json{{"reverted", undone->paths.size()}, {"paths", paths_json(undone->paths)}}),
        "next: " + next};
}

Json read_description(const edit::Settings& settings) {
    return described(
        "Returns a text file, or some of its lines, with the file's hash and newline kind. Read a "
        "file before you edit it, and again when it changed. At most " +
            std::to_string(settings.max_file) + " bytes per call, from a file of at most " +
            std::to_string(overlay::kMaxScan) + " bytes.",
        object_schema({{"path", typed("string", "The file, relative to the top of the workspace.")},
                       {"start_line", typed("integer", "First line, from 1. Default: 1.")},
                       {"end_line", typed("integer", "Last line. Default: the last.")},
                       {"line_numbers",
                        typed("boolean",
                              "Show the number and a tab before each line. Default: true with "
                              "start_line or end_line.")}},
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

namespace {

constexpr const char* kEditWords =
    "Changes text files: all of the call, or nothing. Read each file first. Undo takes the last "
    "Edit back. Line endings stay as they are. Give one of:\n"
    "- path, old_snippet, new_snippet: replaces a text that occurs once;\n"
    "- path, start_line, end_line, new_content: replaces whole lines;\n"
    "- patch: LP1, for several places or files. An example:\n"
    "LP1\n"
    "F src/a.c\n"
    "T\n"
    "new last line\n"
    ".\n"
    "END\n"
    "F names a file; put a path with blanks in quotes. Then come its operations, each letter alone "
    "on its line, followed by blocks of whole lines. Each block ends with a single dot; a line "
    "that begins with a dot gets one more. R finds a block of lines and replaces it with a second "
    "block, I inserts the second after it, P before it, E erases it. If the lines occur more than "
    "once, put the occurrence behind the letter: R 2. T adds a block at the end of the file, B at "
    "its beginning; both create a missing file. A file made by T has no newline at its end unless "
    "N + follows; N - removes one.\n";

}  // namespace

Json edit_description(const edit::Settings& settings) {
    return described(
        kEditWords + ("Limits: files of " + std::to_string(settings.max_file)) +
            " bytes, snippets of " + std::to_string(settings.max_snippet) +
            " bytes, new_content of " + std::to_string(settings.max_line_edit) +
            " bytes, a call of " + std::to_string(settings.max_arguments) + " bytes.",
        Json::parse(edit::request_schema(settings), nullptr, /*allow_exceptions=*/false),
        answer_schema(
            member(Json::parse(edit::response_schema(), nullptr, /*allow_exceptions=*/false),
                   "properties")));
}

Json undo_description(const edit::Settings& /*settings*/) {
    return described(
        "Takes back the last Edit that changed something: all of its files, or none if something "
        "else changed one of them since. A second Undo does not go further back; rollback does.",
        Json::parse(edit::undo_schema(), nullptr, /*allow_exceptions=*/false),
        answer_schema({{"reverted", typed("integer", "How many files.")},
                       {"paths", list_of(Json{{"type", "string"}}, "Which files.")}}));
}

}  // namespace unwrite::mcp
