#include "mcp/history_tools.h"

#include <algorithm>
#include <map>
#include <set>

#include "edit/text_safety.h"
#include "mcp/arguments.h"
#include "mcp/encode.h"
#include "mcp/schema.h"
#include "overlay/origins.h"

namespace unwrite::mcp {

namespace {

using overlay::Consent;

constexpr std::uint64_t kMostNodes = 200;
constexpr const char* kDryRun = "dry_run";

// Errors speak to people at a shell. The model has a tool for it.
ToolAnswer answered(Result<ToolAnswer> answer) {
    if (answer) return *std::move(answer);
    if (answer.error().kind() != ErrorKind::kNotFound) return failed(answer.error());
    return failed(
        answer.error().with_advice("Call log with all true: it lists the nodes and checkpoints."));
}

ToolAnswer told(bool is_failure, const std::string& text, const std::string& next,
                const Json& members) {
    return {is_failure, text, answer_json(is_failure, text, next, members), "next: " + next};
}

Result<ToolAnswer> checkpoint(ToolSession& session, const Json& json) {
    TRY_ASSIGN(const Arguments arguments, Arguments::check(json, {"name", "text"}));
    TRY_ASSIGN(const std::string name, arguments.name("name"));
    TRY_ASSIGN(const std::string text, arguments.text("text"));
    TRY_ASSIGN(const auto room, session.enter());
    TRY_ASSIGN(const overlay::Node node,
               room->operations().checkpoint(asker_of(session, *room),
                                             overlay::NodeKind::kCheckpoint, name, text));
    const std::string number = "n" + std::to_string(node.number);
    const std::string made = "Checkpoint " + number +
                             (name.empty() ? "" : " " + edit::displayed(name)) +
                             ". The tool rollback goes back to it.";
    return told(false, made, "Call rollback with to \"" + number + "\" to go back to it.",
                encode(node));
}

// A restore that took nobody's work along but the asker's has a node to come back to.
bool was_held_back(const overlay::Moved& moved) {
    return moved.from == 0 && !(moved.others.empty() && moved.behind.empty());
}

// Who made each change of a rollback, by the names that the log has for them.
using Owners = std::map<overlay::OriginNumber, std::string>;

Owners owners_of(const overlay::Log& log, std::int64_t self) {
    Owners owners;
    for (const overlay::Origin& origin : log.origins) {
        std::string name = edit::displayed(origin.session);
        if (origin.session == overlay::Origins::kUserName) {
            const std::string program = origin.executable.substr(origin.executable.rfind('/') + 1);
            name = "the user (" + edit::displayed(program) + ")";
            if (origin.pid == self) name = "this connection";
        }
        owners[origin.number] = std::move(name);
    }
    return owners;
}

std::vector<std::string> owners_of(const overlay::Change& change, const Owners& owners) {
    std::set<std::string> names;
    for (const overlay::OriginNumber number : change.origins) {
        if (const auto owner = owners.find(number); owner != owners.end())
            names.insert(owner->second);
    }
    return {names.begin(), names.end()};
}

std::string lines_with_owners(const std::vector<overlay::Change>& changes, const Owners& owners) {
    std::string text;
    for (const overlay::Change& change : changes) {
        std::string line = lines_of({change});
        std::string names;
        for (const std::string& name : owners_of(change, owners))
            names += (names.empty() ? ", by " : " and ") + name;
        line.insert(line.find_last_not_of('\n') + 1, names);
        text += line;
        if (text.size() > kMaxText) return cut(text);
    }
    return text;
}

std::string lines_of_others(const overlay::Moved& moved) {
    std::set<std::string> lines;
    for (const overlay::Origin& origin : moved.others)
        lines.insert("what was changed by " + edit::displayed(origin.session) + "\n");
    for (const std::string& path : moved.behind)
        lines.insert("what changed behind the mount: " + edit::displayed(path) + "\n");
    std::string text;
    for (const std::string& line : lines)
        text += "Only with include_others: " + line;
    return text;
}

/// Outside a run the server has the session of the user. What other processes changed in that
/// session is not this connection's, though the daemon counts it as the asker's own. True when
/// there is such work.
Result<bool> note_users(Room& room, overlay::Moved& foreseen) {
    std::set<overlay::OriginNumber> touched;
    for (const overlay::Change& change : foreseen.changes)
        touched.insert(change.origins.begin(), change.origins.end());
    for (const overlay::Origin& origin : foreseen.others)
        touched.erase(origin.number);
    if (touched.empty()) return false;
    TRY_ASSIGN(const overlay::Log log, room.operations().log("", false, false));
    const std::int64_t self = room.asker().pid;
    bool found = false;
    for (const overlay::Origin& origin : log.origins) {
        const bool users = origin.session == overlay::Origins::kUserName && origin.pid != self;
        if (!users || !touched.contains(origin.number)) continue;
        foreseen.others.push_back(origin);
        found = true;
    }
    return found;
}

Result<overlay::Moved> roll_back(const ToolSession& session, Room& room, const std::string& to,
                                 bool dry_run, bool include_others) {
    const overlay::Asker asker = asker_of(session, room);
    if (include_others && !dry_run)
        return room.operations().rollback(asker, to, false, Consent::kAll);
    TRY_ASSIGN(overlay::Moved foreseen,
               room.operations().rollback(asker, to, false, Consent::kNone));
    TRY_ASSIGN(const bool users, note_users(room, foreseen));
    if (dry_run || users) return foreseen;
    return room.operations().rollback(asker, to, false, Consent::kOwn);
}

// What was before this connection is not its own, whoever did it.
bool is_before(const ToolSession& session, const overlay::Moved& moved) {
    return session.first_node != 0 && moved.to < session.first_node;
}

Result<ToolAnswer> rollback(ToolSession& session, const Json& json) {
    TRY_ASSIGN(const Arguments arguments,
               Arguments::check(json, {"to", kDryRun, "include_others"}));
    TRY_ASSIGN(const std::string to, arguments.name("to"));
    TRY_ASSIGN(const bool dry_run, arguments.flag(kDryRun));
    TRY_ASSIGN(const bool include_others, arguments.flag("include_others"));
    TRY_ASSIGN(const auto room, session.enter());
    TRY_ASSIGN(const overlay::Moved foreseen, roll_back(session, *room, to, true, include_others));
    const bool too_far = is_before(session, foreseen) && !include_others;
    overlay::Moved moved = foreseen;
    if (!dry_run && !too_far) {
        TRY_ASSIGN(moved, roll_back(session, *room, to, false, include_others));
    }
    Json members = encode(moved);
    const std::string target = "n" + std::to_string(moved.to);
    if (dry_run) {
        TRY_ASSIGN(const overlay::Log log, room->operations().log("", false, false));
        const Owners owners = owners_of(log, room->asker().pid);
        for (std::size_t i = 0; i < members["changes"].size(); ++i)
            members["changes"][i]["by"] = owners_of(moved.changes[i], owners);
        return told(false,
                    "A rollback to " + target + " would do this:\n" +
                        lines_with_owners(moved.changes, owners) + lines_of_others(moved) +
                        (too_far ? "Only with include_others: what was done before this "
                                   "connection began\n"
                                 : ""),
                    "Call rollback without dry_run to do it.", members);
    }
    if (too_far) {
        return told(true,
                    "Nothing was done: " + target +
                        " is from before this connection began. Ask the user; if that is wanted, "
                        "call again with include_others true.",
                    "Ask the user. If they agree, call rollback again with include_others true.",
                    members);
    }
    if (was_held_back(moved)) {
        return told(true,
                    "Nothing was done: this rollback would also take along what others changed, or "
                    "what changed behind the mount:\n" +
                        lines_of_others(moved) +
                        "Ask the user; if that is wanted, call again with include_others true.",
                    "Ask the user. If they agree, call rollback again with include_others true.",
                    members);
    }
    const std::string from = "n" + std::to_string(moved.from);
    return told(
        false, "Rolled back to " + target + ". What was before is " + from + ".",
        "Call Read again before you edit a file. rollback to \"" + from + "\" takes this back.",
        members);
}

Result<ToolAnswer> status(ToolSession& session, const Json& json) {
    TRY_ASSIGN(const Arguments arguments, Arguments::check(json, {"since"}));
    TRY_ASSIGN(const std::string since, arguments.name("since"));
    TRY_ASSIGN(const auto room, session.enter());
    TRY_ASSIGN(const overlay::Status status, room->operations().status(since, true));
    TRY_ASSIGN(const overlay::Log log, room->operations().log("", false, false));
    ToolAnswer answer = told(false, text_of(status) + notes_text(log), "", encode(status));
    answer.structured["message"] = files_words(status);
    answer.facts.clear();
    answer.structured["notes"] = encode_notes(log);
    return answer;
}

Result<ToolAnswer> diff(ToolSession& session, const Json& json) {
    TRY_ASSIGN(const Arguments arguments,
               Arguments::check(json, {"from", "to", "paths", "only_names"}));
    TRY_ASSIGN(const std::string from, arguments.name("from"));
    TRY_ASSIGN(const std::string to, arguments.name("to"));
    TRY_ASSIGN(const std::vector<std::string> paths, arguments.texts("paths"));
    TRY_ASSIGN(const bool only_names, arguments.flag("only_names"));
    TRY_ASSIGN(const auto room, session.enter());
    TRY_ASSIGN(const std::vector<overlay::FileDiff> diffs,
               room->operations().diff(from, to, paths, !only_names));
    std::vector<overlay::Change> changes;
    for (const overlay::FileDiff& file : diffs)
        changes.push_back(file.change);
    const std::string text = text_of(diffs, only_names);
    return ToolAnswer{false, text,
                      answer_json(false, std::to_string(changes.size()) + " paths differ.", "",
                                  Json{{"changes", encode(changes)}, {"diff", text}}),
                      ""};
}

Result<ToolAnswer> log(ToolSession& session, const Json& json) {
    TRY_ASSIGN(const Arguments arguments, Arguments::check(json, {"path", "all", "limit"}));
    TRY_ASSIGN(const std::string path, arguments.name("path"));
    TRY_ASSIGN(const bool all, arguments.flag("all"));
    TRY_ASSIGN(const auto limit, arguments.number("limit", 1, kMostNodes));
    TRY_ASSIGN(const auto room, session.enter());
    TRY_ASSIGN(const overlay::Log log, room->operations().log(path, all, true));
    const std::size_t most = limit.value_or(20);
    return ToolAnswer{
        false, text_of(log, most),
        answer_json(false, std::to_string(std::min(most, log.entries.size())) + " nodes.", "",
                    encode(log, most)),
        ""};
}

Json changes_schema() {
    const Json kinds{{"type", "string"},
                     {"enum", {"created", "deleted", "modified", "renamed", "attributes"}}};
    return list_of(
        object_schema({{"kind", kinds},
                       {"path", typed("string", "Relative to the workspace.")},
                       {"old_path", typed("string", "Where a renamed one was.")},
                       {"below", typed("integer", "How many objects the directory holds.")},
                       {"files", typed("integer", "How many files it stands for, unless one.")},
                       {"ignored", typed("integer", "How many of these git ignores.")},
                       {"content", typed("boolean", "Whether a renamed one was modified, too.")},
                       {"by", list_of(Json{{"type", "string"}}, "Who changed it; in a dry run.")},
                       {"aspects", list_of(Json{{"type", "string"}},
                                           "Which attributes differ: mode, owner, acl, xattrs, "
                                           "time.")}},
                      {"kind", "path"}),
        "What changed.");
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
    return answered(checkpoint(session, arguments));
}

ToolAnswer call_rollback(ToolSession& session, const Json& arguments) {
    return answered(rollback(session, arguments));
}

bool is_dry_run(const Json& rollback) {
    return member(rollback, kDryRun) == Json(true);
}

Json as_dry_run(Json rollback) {
    rollback[kDryRun] = true;
    return rollback;
}

ToolAnswer call_status(ToolSession& session, const Json& arguments) {
    return answered(status(session, arguments));
}

ToolAnswer call_diff(ToolSession& session, const Json& arguments) {
    return answered(diff(session, arguments));
}

ToolAnswer call_log(ToolSession& session, const Json& arguments) {
    return answered(log(session, arguments));
}

Json checkpoint_description(const edit::Settings& /*settings*/) {
    return described("Remembers the workspace as it is now, so that rollback can return to it.",
                     object_schema({{"name", typed("string", "A name for rollback. Optional.")},
                                    {"text", typed("string", "What it is for.")}}),
                     answer_schema(node_members()));
}

Json rollback_description(const edit::Settings& /*settings*/) {
    return described(
        "Returns all files of the workspace to a checkpoint or node. It takes back what you wrote "
        "since, with any program. To reverse it, roll back to the node that the answer calls "
        "from.",
        object_schema(
            {{"to", typed("string",
                          "A checkpoint's name, \"n12\" or \"root\". Default: the "
                          "newest checkpoint.")},
             {kDryRun, typed("boolean", "Only say what would change, and whose it is.")},
             {"include_others", typed("boolean",
                                      "Also take back what others changed, and what "
                                      "changed outside the mount. Ask the user first.")}}),
        answer_schema(
            {{"from", or_null("string", "The node that leads back; null: nothing was done.")},
             {"to", typed("string", "The node that was meant.")},
             {"changes", changes_schema()},
             {"others", list_of(Json{{"type", "string"}}, "Whose work would be taken along.")},
             {"behind", list_of(Json{{"type", "string"}}, "What changed behind the mount.")}}));
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
