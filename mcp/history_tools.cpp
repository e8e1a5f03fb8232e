#include "mcp/history_tools.h"

#include <algorithm>

#include "edit/text_safety.h"
#include "mcp/arguments.h"
#include "mcp/encode.h"
#include "mcp/schema.h"

namespace unwrite::mcp {

namespace {

constexpr std::uint64_t kMostNodes = 200;

Result<ToolAnswer> checkpoint(ToolSession& session, const Json& json) {
    TRY_ASSIGN(const Arguments arguments, Arguments::check(json, {"name", "text"}));
    TRY_ASSIGN(const std::string name, arguments.name("name"));
    TRY_ASSIGN(const std::string text, arguments.prose("text"));
    TRY_ASSIGN(const auto room, session.enter());
    const auto node = room->operations().checkpoint(asker_of(session, *room),
                                                    overlay::NodeKind::kCheckpoint, name, text);
    if (!node && node.error().kind() == ErrorKind::kUsage)
        return node.error().with_advice(
            "Call checkpoint with another name: not a number, \"n7\" or \"root\", without \"..\", "
            "and not beginning "
            "with \"-\".");
    if (!node) return node.error();
    const std::string number = "n" + std::to_string(node->number);
    const std::string made = "Checkpoint " + number +
                             (name.empty() ? "" : " " + edit::displayed(name)) +
                             ". The tool rollback goes back to it.";
    return told(false, made, "Call rollback with to \"" + number + "\" to go back to it.",
                encode(*node));
}

Result<ToolAnswer> status(ToolSession& session, const Json& json) {
    TRY_ASSIGN(const Arguments arguments, Arguments::check(json, {"since"}));
    TRY_ASSIGN(const std::string since, arguments.name("since"));
    TRY_ASSIGN(const auto room, session.enter());
    TRY_ASSIGN(const overlay::Status status, room->operations().status(since, true));
    TRY_ASSIGN(const overlay::Log log, room->operations().log("", true, false));
    ToolAnswer answer = told(false, text_of(status, since) + notes_text(log), "", encode(status));
    answer.structured["message"] = files_words(status, since);
    answer.facts.clear();
    answer.structured["notes"] = encode_notes(log);
    return answer;
}

// Below the top, as the daemon takes them. One that is the top itself means all of it: no paths.
Result<std::vector<std::string>> paths_below(Room& room, const std::vector<std::string>& given) {
    std::vector<std::string> paths;
    for (const std::string& path : given) {
        TRY_ASSIGN(std::string below, room.files().relative(path));
        paths.push_back(std::move(below));
    }
    const bool is_all = std::find(paths.begin(), paths.end(), "") != paths.end();
    return is_all ? std::vector<std::string>() : paths;
}

Result<ToolAnswer> diff(ToolSession& session, const Json& json) {
    TRY_ASSIGN(const Arguments arguments,
               Arguments::check(json, {"from", "to", "paths", "only_names"}));
    TRY_ASSIGN(const std::string from, arguments.name("from"));
    TRY_ASSIGN(const std::string to, arguments.name("to"));
    TRY_ASSIGN(const std::vector<std::string> given, arguments.texts("paths"));
    TRY_ASSIGN(const bool only_names, arguments.flag("only_names"));
    TRY_ASSIGN(const auto room, session.enter());
    TRY_ASSIGN(const std::vector<std::string> paths, paths_below(*room, given));
    TRY_ASSIGN(const std::vector<overlay::FileDiff> diffs,
               room->operations().diff(from, to, paths, !only_names));
    std::vector<overlay::Change> changes;
    for (const overlay::FileDiff& file : diffs)
        changes.push_back(file.change);
    const std::string text = text_of(diffs, only_names);
    return ToolAnswer{false, text,
                      answer_json(false,
                                  std::to_string(changes.size()) +
                                      (changes.size() == 1 ? " path differs." : " paths differ."),
                                  "", Json{{"changes", encode(changes)}, {"diff", text}}),
                      ""};
}

Result<ToolAnswer> log(ToolSession& session, const Json& json) {
    TRY_ASSIGN(const Arguments arguments, Arguments::check(json, {"path", "all", "limit"}));
    TRY_ASSIGN(std::string path, arguments.name("path"));
    TRY_ASSIGN(const bool all, arguments.flag("all"));
    TRY_ASSIGN(const auto limit, arguments.number("limit", 1, kMostNodes));
    TRY_ASSIGN(const auto room, session.enter());
    if (!path.empty()) {
        TRY_ASSIGN(path, room->files().relative(path));
    }
    TRY_ASSIGN(const overlay::Log log, room->operations().log(path, all, true));
    const std::size_t most = limit.value_or(20);
    return ToolAnswer{
        false, text_of(log, most),
        answer_json(false, std::to_string(std::min(most, log.entries.size())) + " nodes.", "",
                    encode(log, most)),
        ""};
}

Json node_members() {
    return Json{{"node", typed("string", "Its number, as n3.")},
                {"parent", or_null("string", "The node before it.")},
                {"kind", typed("string", "What made it.")},
                {"name", typed("string", "Of a checkpoint; empty: it has none.")},
                {"text", typed("string", "What it says of itself.")},
                {"time_ns", typed("integer", "When, in nanoseconds since 1970.")},
                {"by", Json{{"type", "object"}, {"description", "What its client said."}}}};
}

Json nodes_schema() {
    Json members = node_members();
    members["on_trunk"] = typed("boolean", "False: abandoned.");
    members["squashed"] = typed("boolean", "Part of a later step.");
    members["notes"] = list_of(Json{{"type", "string"}}, "Of revert_to_state.");
    members["changes"] = changes_schema();
    return list_of(object_schema(std::move(members), {"node", "kind", "changes"}),
                   "The newest first.");
}

Json notes_schema() {
    return list_of(object_schema({{"node", typed("string", "Which node.")},
                                  {"text", typed("string", "As \"[lesson] text\".")}}),
                   "What revert_to_state left to remember.");
}

}  // namespace

ToolAnswer call_checkpoint(ToolSession& session, const Json& arguments) {
    return with_log(checkpoint(session, arguments));
}

ToolAnswer call_status(ToolSession& session, const Json& arguments) {
    return with_log(status(session, arguments));
}

ToolAnswer call_diff(ToolSession& session, const Json& arguments) {
    return with_log(diff(session, arguments));
}

ToolAnswer call_log(ToolSession& session, const Json& arguments) {
    return with_log(log(session, arguments));
}

Json checkpoint_description(const edit::Settings& /*settings*/) {
    return described("Remembers the workspace as it is now, so that rollback can return to it.",
                     object_schema({{"name", typed("string", "A name for rollback. Optional.")},
                                    {"text", typed("string", "What it is for.")}}),
                     answer_schema(node_members()));
}

Json status_description(const edit::Settings& /*settings*/) {
    return described(
        "Says which files changed since the task began, or since a node.",
        object_schema({{"since", typed("string", "A checkpoint's name or \"n12\".")}}),
        answer_schema(
            {{"root", typed("string", "Where the task began.")},
             {"current", typed("string", "The newest node.")},
             {"checkpoint", typed("string", "The newest open one; may be empty.")},
             {"wounded", typed("boolean", "`unwrite recover` is needed.")},
             {"task_open", typed("boolean", "Something changed since the root.")},
             {"steps", typed("integer", "Steps since the root.")},
             {"lines_added", typed("integer", "Lines.")},
             {"lines_removed", typed("integer", "Lines.")},
             {"files_changed", typed("integer", "How many files.")},
             {"lines_not_counted", typed("integer", "Files whose lines are not counted.")},
             {"change_count", typed("integer", "How many entries.")},
             {"changes", changes_schema()},
             {"notes", notes_schema()}}));
}

Json diff_description(const edit::Settings& /*settings*/) {
    return described(
        "Shows the differences between two states as a unified diff.",
        object_schema({{"from", typed("string", "The older state. Default: where the task began.")},
                       {"to", typed("string", "The newer state. Default: now.")},
                       {"paths", Json{{"type", "array"},
                                      {"items", {{"type", "string"}}},
                                      {"description", "Only these files and directories."}}},
                       {"only_names", typed("boolean", "List the files, without their text.")}}),
        answer_schema({{"changes", changes_schema()}, {"diff", typed("string", "The text.")}}));
}

Json log_description(const edit::Settings& /*settings*/) {
    return described(
        "Lists the checkpoints and steps, the newest first, with what each changed.",
        object_schema({{"path", typed("string", "Only steps that changed this file or directory.")},
                       {"all", typed("boolean", "Also abandoned ones.")},
                       {"limit", typed("integer", "How many: 1 to 200. Default: 20.")}}),
        answer_schema(
            {{"current", typed("string", "The newest node.")}, {"nodes", nodes_schema()}}));
}

}  // namespace unwrite::mcp
