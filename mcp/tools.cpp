#include "mcp/tools.h"

#include "edit/report.h"
#include "edit/text_safety.h"
#include "mcp/file_tools.h"
#include "mcp/history_tools.h"
#include "mcp/revert_tool.h"
#include "mcp/rollback_tool.h"

namespace unwrite::mcp {

const std::vector<Tool>& tools() {
    static const std::vector<Tool> list = {
        {"Read", "Read a file", true, false, true, call_read, read_description},
        {"Edit", "Edit files", false, true, false, call_edit, edit_description, false, true},
        {"Undo", "Undo the last edit", false, true, false, call_undo, undo_description},
        {"checkpoint", "Make a checkpoint", false, false, false, call_checkpoint,
         checkpoint_description},
        {"rollback", "Roll back to a checkpoint", false, true, true, call_rollback,
         rollback_description},
        {"status", "What changed", true, false, true, call_status, status_description},
        {"diff", "Show differences", true, false, true, call_diff, diff_description},
        {"log", "Checkpoints and steps", true, false, true, call_log, log_description},
        {"revert_to_state", "Revert to State", false, true, false, call_revert, revert_description,
         true},
    };
    return list;
}

const Tool* find_tool(const std::string& name) {
    for (const Tool& tool : tools()) {
        if (name == tool.name || (name == "edit" && std::string_view(tool.name) == "Edit"))
            return &tool;
    }
    return nullptr;
}

overlay::Asker asker_of(const ToolSession& session, const Room& room) {
    overlay::Asker asker = room.asker();
    asker.cause = session.cause;
    return asker;
}

Json describe(const Tool& tool, const edit::Settings& settings) {
    Json json{{"name", tool.name}, {"title", tool.title}};
    json.update(tool.description(settings));
    json["annotations"] = Json{{"title", tool.title},
                               {"readOnlyHint", tool.read_only},
                               {"destructiveHint", tool.destructive},
                               {"idempotentHint", tool.idempotent},
                               {"openWorldHint", false}};
    return json;
}

namespace {

// Nobody reads more of a question.
constexpr std::size_t kMostShown = 6000;

std::string question(const Tool& tool, const Json& arguments) {
    const std::string patch = text_member(arguments, "patch");
    if (!patch.empty()) return edit::approval_summary(patch);
    const std::string path = text_member(arguments, "path");
    if (!path.empty()) return std::string(tool.title) + ": " + edit::displayed(path);
    const std::string to = text_member(arguments, "to");
    return std::string(tool.title) + (to.empty() ? "" : ": " + edit::displayed(to)) + "?";
}

}  // namespace

std::string shortened(const std::string& text) {
    if (text.size() <= kMostShown) return text;
    const std::size_t end = text.rfind('\n', kMostShown);
    return text.substr(0, end == std::string::npos ? kMostShown : end) + "\n... (" +
           std::to_string(text.size()) + " bytes in all)";
}

bool changes_files(const Tool& tool, const Json& arguments) {
    if (!tool.destructive) return false;
    return tool.call != call_rollback || !is_dry_run(arguments);
}

Foreseen foresee(const Tool& tool, ToolSession& session, const Json& arguments) {
    const std::string text = question(tool, arguments);
    if (tool.call == call_edit) return foresee_edit(session, arguments, text);
    if (tool.call == call_undo) return foresee_undo(session, arguments, text);
    if (tool.call == call_rollback) return foresee_rollback(session, arguments, text);
    return {.text = text, .all = text};
}

Json answer_json(bool failed, const std::string& message, const std::string& next,
                 const Json& members) {
    Json json{{"status", failed ? "error" : "ok"}, {"message", message}, {"next", next}};
    json.update(members);
    return json;
}

namespace {

// No refusal leaves the model alone. What is nothing to do needs nothing to be done.
std::string next_after(const Error& error) {
    if (!error.advice().empty()) return error.advice();
    switch (error.kind()) {
        case ErrorKind::kNothing:
            return "";
        case ErrorKind::kUsage:
        case ErrorKind::kNotFound:
            return "Nothing was done. Correct the call and try again.";
        case ErrorKind::kRecovery:
        case ErrorKind::kCorrupt:
            return "Ask the user to run `unwrite recover`.";
        default:
            return "Nothing was done. Try again, and tell the user if it fails again.";
    }
}

}  // namespace

ToolAnswer failed(const Error& error) {
    const std::string next = next_after(error);
    ToolAnswer answer{true, error.message(), answer_json(true, error.message(), next), ""};
    if (!next.empty()) answer.facts = "next: " + next;
    return answer;
}

ToolAnswer told(bool is_failure, const std::string& message, const std::string& next,
                const Json& members) {
    return {is_failure, message, answer_json(is_failure, message, next, members), "next: " + next};
}

ToolAnswer with_log(Result<ToolAnswer> answer) {
    if (answer) return *std::move(answer);
    const Error& error = answer.error();
    const bool is_for_people = error.advice().find("Call ") == std::string::npos;
    if (error.kind() != ErrorKind::kNotFound || !is_for_people) return failed(error);
    return failed(error.with_advice("Call log with all true: it lists the nodes and checkpoints."));
}

ToolAnswer refuse(const Tool& tool, const Json& arguments, const Error& error) {
    if (tool.call == call_edit) return refused_edit(arguments, error);
    return failed(error);
}

}  // namespace unwrite::mcp
