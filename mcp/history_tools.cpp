#include "mcp/history_tools.h"

#include <cerrno>
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

ToolAnswer answered(Result<ToolAnswer> answer) {
    return answer ? *std::move(answer) : failed(answer.error());
}

Result<ToolAnswer> checkpoint(ToolSession& session, const Json& json) {
    TRY_ASSIGN(const Arguments arguments, Arguments::check(json, {"name", "text"}));
    TRY_ASSIGN(const std::string name, arguments.text("name"));
    TRY_ASSIGN(const std::string text, arguments.text("text"));
    if (edit::has_unsafe_character(name))
        return Error(ErrorKind::kUsage, EINVAL, "Bad args: name contains control characters");
    TRY_ASSIGN(const auto room, session.enter());
    TRY_ASSIGN(const overlay::Node node,
               room->operations().checkpoint(asker_of(session, *room),
                                             overlay::NodeKind::kCheckpoint, name, text));
    const std::string number = "n" + std::to_string(node.number);
    return ToolAnswer{false,
                      "Checkpoint " + number + (name.empty() ? "" : " " + edit::displayed(name)) +
                          ". The tool rollback goes back to it.",
                      encode(node)};
}

// A restore that took nobody's work along but the asker's has a node to come back to.
bool was_held_back(const overlay::Moved& moved) {
    return moved.from == 0 && !(moved.others.empty() && moved.behind.empty());
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

Result<ToolAnswer> rollback(ToolSession& session, const Json& json) {
    TRY_ASSIGN(const Arguments arguments,
               Arguments::check(json, {"to", kDryRun, "include_others"}));
    TRY_ASSIGN(const std::string to, arguments.text("to"));
    TRY_ASSIGN(const bool dry_run, arguments.flag(kDryRun));
    TRY_ASSIGN(const bool include_others, arguments.flag("include_others"));
    TRY_ASSIGN(const auto room, session.enter());
    TRY_ASSIGN(const overlay::Moved moved, roll_back(session, *room, to, dry_run, include_others));
    ToolAnswer answer{false, "", encode(moved)};
    const std::string target = "n" + std::to_string(moved.to);
    if (dry_run) {
        answer.text = "A rollback to " + target + " would do this:\n" + lines_of(moved.changes) +
                      lines_of_others(moved);
    } else if (was_held_back(moved)) {
        answer.failed = true;
        answer.text =
            "Nothing was done: this rollback would also take along what others changed, or what "
            "changed behind the mount (see others and behind). Ask the user; if that is wanted, "
            "call again with include_others true.";
    } else {
        answer.text = "Rolled back to " + target + ". What was before is n" +
                      std::to_string(moved.from) + ".";
    }
    return answer;
}

Result<ToolAnswer> status(ToolSession& session, const Json& json) {
    TRY_ASSIGN(const Arguments arguments, Arguments::check(json, {"since"}));
    TRY_ASSIGN(const std::string since, arguments.text("since"));
    TRY_ASSIGN(const auto room, session.enter());
    TRY_ASSIGN(const overlay::Status status, room->operations().status(since, true));
    TRY_ASSIGN(const overlay::Log log, room->operations().log("", false, false));
    return ToolAnswer{false, text_of(status) + notes_text(log), encode(status)};
}

Result<ToolAnswer> diff(ToolSession& session, const Json& json) {
    TRY_ASSIGN(const Arguments arguments,
               Arguments::check(json, {"from", "to", "paths", "only_names"}));
    TRY_ASSIGN(const std::string from, arguments.text("from"));
    TRY_ASSIGN(const std::string to, arguments.text("to"));
    TRY_ASSIGN(const std::vector<std::string> paths, arguments.texts("paths"));
    TRY_ASSIGN(const bool only_names, arguments.flag("only_names"));
    TRY_ASSIGN(const auto room, session.enter());
    TRY_ASSIGN(const std::vector<overlay::FileDiff> diffs,
               room->operations().diff(from, to, paths, !only_names));
    std::vector<overlay::Change> changes;
    for (const overlay::FileDiff& file : diffs)
        changes.push_back(file.change);
    const std::string text = text_of(diffs, only_names);
    return ToolAnswer{false, text, Json{{"changes", encode(changes)}, {"diff", text}}};
}

Result<ToolAnswer> log(ToolSession& session, const Json& json) {
    TRY_ASSIGN(const Arguments arguments, Arguments::check(json, {"path", "all", "limit"}));
    TRY_ASSIGN(const std::string path, arguments.text("path"));
    TRY_ASSIGN(const bool all, arguments.flag("all"));
    TRY_ASSIGN(const auto limit, arguments.number("limit", 1, kMostNodes));
    TRY_ASSIGN(const auto room, session.enter());
    TRY_ASSIGN(const overlay::Log log, room->operations().log(path, all, true));
    const std::size_t most = limit.value_or(20);
    return ToolAnswer{false, text_of(log, most), encode(log, most)};
}

Json changes_schema() {
    const Json kinds{{"type", "string"},
                     {"enum", {"created", "deleted", "modified", "renamed", "attributes"}}};
    Json aspects{{"type", "array"},
                 {"items", {{"type", "string"}}},
                 {"description", "Which attributes differ: mode, owner, acl, xattrs, time."}};
    return Json{
        {"type", "array"},
        {"items",
         object_schema({{"kind", kinds},
                        {"path", typed("string", "Relative to the workspace.")},
                        {"old_path", typed("string", "Where it was: of a renamed one.")},
                        {"below", typed("integer", "How many objects the directory holds.")},
                        {"files", typed("integer", "How many files it stands for, unless one.")},
                        {"ignored", typed("integer", "How many of these git ignores.")},
                        {"content", typed("boolean", "Whether a renamed one was modified, too.")},
                        {"aspects", std::move(aspects)}},
                       {"kind", "path"}, false)}};
}

Json nodes_schema() {
    return Json{{"type", "array"},
                {"items", object_schema({{"node", typed("string", "Its number, as n3.")},
                                         {"kind", typed("string", "What made it.")},
                                         {"text", typed("string", "What it says of itself.")},
                                         {"on_trunk", typed("boolean", "Not abandoned.")},
                                         {"changes", changes_schema()}},
                                        {"node", "kind", "changes"}, false)}};
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

Json checkpoint_description() {
    return described("Remembers the workspace as it is now, at no cost, for rollback.",
                     object_schema({{"name", typed("string", "To go back by; may be left out.")},
                                    {"text", typed("string", "What it is for.")}}),
                     object_schema({{"node", typed("string", "As \"n12\".")},
                                    {"kind", typed("string", "checkpoint")},
                                    {"name", typed("string", "As given.")}},
                                   {"node", "kind", "name"}, false));
}

Json rollback_description() {
    return described(
        "Makes the whole workspace what it was at a checkpoint or node; everything written since, "
        "by whatever program, is gone from it, but can be brought back by rolling forward to "
        "the node that the answer names as from. With dry_run it only says what it would do.",
        object_schema({{"to", typed("string",
                                    "A checkpoint's name, \"n12\" or \"root\"; default: the "
                                    "newest checkpoint.")},
                       {kDryRun, typed("boolean", "Only say what would happen.")},
                       {"include_others", typed("boolean",
                                                "Also take along what others changed since, and "
                                                "what changed behind the mount.")}}),
        object_schema({{"to", typed("string", "The node that the workspace is at.")},
                       {"changes", changes_schema()},
                       {"others", Json{{"type", "array"}, {"items", {{"type", "string"}}}}},
                       {"behind", Json{{"type", "array"}, {"items", {{"type", "string"}}}}}},
                      {"to", "changes", "others", "behind"}, false));
}

Json status_description() {
    return described("What changed in the workspace since the task began, or since a node.",
                     object_schema({{"since", typed("string", "A checkpoint's name or \"n12\".")}}),
                     object_schema({{"root", typed("string", "Where the task began.")},
                                    {"current", typed("string", "The newest node.")},
                                    {"files_changed", typed("integer", "How many files.")},
                                    {"lines_not_counted",
                                     typed("integer", "Files of which no lines are counted.")},
                                    {"change_count", typed("integer", "How many entries.")},
                                    {"changes", changes_schema()}},
                                   {"root", "current", "change_count", "changes"}, false));
}

Json diff_description() {
    return described(
        "The differences between two states as a unified diff.",
        object_schema({{"from", typed("string", "The older one; default: where the task began.")},
                       {"to", typed("string", "The newer one; default: as it is now.")},
                       {"paths", Json{{"type", "array"},
                                      {"items", {{"type", "string"}}},
                                      {"description", "Only these files and what is below them."}}},
                       {"only_names", typed("boolean", "Which files, without their text.")}}),
        object_schema({{"changes", changes_schema()}, {"diff", typed("string", "The text.")}},
                      {"changes", "diff"}, false));
}

Json log_description() {
    return described(
        "The checkpoints and steps of the workspace, the newest first, with what each changed.",
        object_schema({{"path", typed("string", "Only those that changed it or what is below.")},
                       {"all", typed("boolean", "Abandoned ones too.")},
                       {"limit", typed("integer", "How many, at most 200; default 20.")}}),
        object_schema({{"current", typed("string", "The newest node.")}, {"nodes", nodes_schema()}},
                      {"current", "nodes"}, false));
}

}  // namespace unwrite::mcp
