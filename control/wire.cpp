#include "control/wire.h"

#include <algorithm>
#include <array>
#include <utility>

#include "overlay/changes.h"

namespace unwrite::control {

namespace {

using overlay::ChangeKind;
using overlay::NodeKind;

constexpr std::array<std::pair<ChangeKind, const char*>, 5> kChangeKinds = {{
    {ChangeKind::kCreated, "created"},
    {ChangeKind::kDeleted, "deleted"},
    {ChangeKind::kModified, "modified"},
    {ChangeKind::kRenamed, "renamed"},
    {ChangeKind::kAttributes, "attributes"},
}};

constexpr std::array<std::pair<NodeKind, const char*>, 8> kNodeKinds = {{
    {NodeKind::kRoot, "root"},
    {NodeKind::kCheckpoint, "checkpoint"},
    {NodeKind::kStep, "step"},
    {NodeKind::kRun, "run"},
    {NodeKind::kUndo, "undo"},
    {NodeKind::kMount, "mount"},
    {NodeKind::kTurn, "turn"},
    {NodeKind::kBegin, "begin"},
}};

constexpr std::array<std::pair<overlay::Consent, const char*>, 3> kConsents = {{
    {overlay::Consent::kNone, "none"},
    {overlay::Consent::kOwn, "own"},
    {overlay::Consent::kAll, "all"},
}};

template <class Kinds, class Kind>
const char* word(const Kinds& kinds, Kind kind) {
    for (const auto& [value, name] : kinds) {
        if (value == kind) return name;
    }
    return "";
}

template <class Kinds, class Kind>
void get_word(Fields& fields, const char* key, const Kinds& kinds, Kind& kind) {
    std::string text;
    fields.get(key, text);
    if (text.empty()) return;
    for (const auto& [value, name] : kinds) {
        if (text == name) {
            kind = value;
            return;
        }
    }
    fields.fail(key);
}

Json encode_lines(const overlay::LineCounts& lines) {
    return Json{{"added", lines.added}, {"removed", lines.removed}};
}

Result<> decode_lines(const Json& json, overlay::LineCounts& lines) {
    return Fields(json).get("added", lines.added).get("removed", lines.removed).done();
}

Json encode_entry(const overlay::LogEntry& entry) {
    return Json{{"node", encode(entry.node)}, {"on_trunk", entry.on_trunk},
                {"is_step", entry.is_step},   {"nested", entry.nested},
                {"undone", entry.undone},     {"running", entry.running},
                {"since", entry.since},       {"changes", encode_list(entry.changes)}};
}

Result<> decode_entry(const Json& json, overlay::LogEntry& entry) {
    return Fields(json)
        .get_object("node", entry.node)
        .get("on_trunk", entry.on_trunk)
        .get("is_step", entry.is_step)
        .get("nested", entry.nested)
        .get("undone", entry.undone)
        .get("running", entry.running)
        .get("since", entry.since)
        .get_list("changes", entry.changes)
        .done();
}

}  // namespace

const char* consent_word(overlay::Consent consent) {
    return word(kConsents, consent);
}

Fields& get_consent(Fields& fields, overlay::Consent& consent) {
    get_word(fields, "consent", kConsents, consent);
    return fields;
}

Json encode_texts(const std::vector<std::string>& values) {
    Json list = Json::array();
    for (const std::string& value : values)
        list.push_back(encode_bytes(value));
    return list;
}

namespace {

// A word that is not known is of a newer daemon.
void get_aspects(Fields& fields, std::uint32_t& aspects) {
    std::vector<std::string> words;
    fields.get("aspects", words);
    for (const overlay::AspectWord& one : overlay::kAspectWords) {
        if (std::find(words.begin(), words.end(), one.word) != words.end()) aspects |= one.aspect;
    }
}

}  // namespace

Json encode(const overlay::Asker& asker) {
    Json json{{"session", encode_bytes(asker.session)}};
    if (!asker.cause.empty()) json["cause"] = encode_bytes(asker.cause);
    return json;
}

Json encode(const overlay::Change& change) {
    Json json{{"kind", word(kChangeKinds, change.kind)},
              {"path", encode_bytes(change.path)},
              {"type", change.type},
              {"below", change.below},
              {"files", change.files},
              {"ignored", change.ignored},
              {"bytes", change.bytes},
              {"content", change.content},
              {"attributes", change.attributes},
              {"aspects", overlay::aspect_names(change.aspects)},
              {"origins", change.origins}};
    if (!change.old_path.empty()) json["old_path"] = encode_bytes(change.old_path);
    return json;
}

Result<> decode(const Json& json, overlay::Change& change) {
    Fields fields(json);
    get_word(fields, "kind", kChangeKinds, change.kind);
    get_aspects(fields, change.aspects);
    return fields.get("path", change.path)
        .get("old_path", change.old_path)
        .get("type", change.type)
        .get("below", change.below)
        .get("files", change.files)
        .get("ignored", change.ignored)
        .get("bytes", change.bytes)
        .get("content", change.content)
        .get("attributes", change.attributes)
        .get("origins", change.origins)
        .done();
}

namespace {

using Tags = std::map<std::string, std::string>;

Json encode_tags(const Tags& tags) {
    Json json = Json::object();
    for (const auto& [key, value] : tags)
        json[key] = encode_bytes(value);
    return json;
}

Result<> decode_tags(Fields& fields, Tags& tags) {
    const Json* json = fields.find("tags");
    if (json == nullptr) return {};
    if (!json->is_object()) {
        fields.fail("tags");
        return {};
    }
    for (const auto& [key, value] : json->items()) {
        TRY_ASSIGN(std::string text, decode_bytes(value));
        tags[key] = std::move(text);
    }
    return {};
}

}  // namespace

Json encode(const overlay::Node& node) {
    return Json{{"number", node.number},
                {"parent", node.parent},
                {"kind", word(kNodeKinds, node.kind)},
                {"name", encode_bytes(node.name)},
                {"text", encode_bytes(node.text)},
                {"time_ns", node.time_ns},
                {"origin", node.origin},
                {"open", node.open},
                {"tags", encode_tags(node.tags)}};
}

Result<> decode(const Json& json, overlay::Node& node) {
    Fields fields(json);
    get_word(fields, "kind", kNodeKinds, node.kind);
    TRY(decode_tags(fields, node.tags));
    return fields.get("number", node.number)
        .get("parent", node.parent)
        .get("name", node.name)
        .get("text", node.text)
        .get("time_ns", node.time_ns)
        .get("origin", node.origin)
        .get("open", node.open)
        .done();
}

Json encode(const overlay::Origin& origin) {
    return Json{{"number", origin.number},
                {"uid", origin.uid},
                {"pid", origin.pid},
                {"executable", encode_bytes(origin.executable)},
                {"session", encode_bytes(origin.session)},
                {"step", origin.step},
                {"agent", origin.agent},
                {"time_ns", origin.time_ns}};
}

Result<> decode(const Json& json, overlay::Origin& origin) {
    return Fields(json)
        .get("number", origin.number)
        .get("uid", origin.uid)
        .get("pid", origin.pid)
        .get("executable", origin.executable)
        .get("session", origin.session)
        .get("step", origin.step)
        .get("agent", origin.agent)
        .get("time_ns", origin.time_ns)
        .done();
}

Json encode(const overlay::Status& status) {
    return Json{{"root", status.root},
                {"current", status.current},
                {"checkpoint", encode_bytes(status.checkpoint)},
                {"wounded", status.wounded},
                {"out_of_room", status.out_of_room},
                {"task_open", status.task_open},
                {"steps", status.steps},
                {"tags", encode_tags(status.tags)},
                {"lines", encode_lines(status.lines)},
                {"lines_not_counted", status.lines_not_counted},
                {"lost_objects", status.lost.objects},
                {"lost_deltas", status.lost.deltas},
                {"outside", encode_texts(status.outside)},
                {"unproved", encode_texts(status.unproved)},
                {"changes", encode_list(status.changes)}};
}

Result<> decode(const Json& json, overlay::Status& status) {
    Fields fields(json);
    if (const Json* lines = fields.find("lines")) TRY(decode_lines(*lines, status.lines));
    TRY(decode_tags(fields, status.tags));
    return fields.get("root", status.root)
        .get("current", status.current)
        .get("checkpoint", status.checkpoint)
        .get("wounded", status.wounded)
        .get("out_of_room", status.out_of_room)
        .get("task_open", status.task_open)
        .get("lines_not_counted", status.lines_not_counted)
        .get("steps", status.steps)
        .get("lost_objects", status.lost.objects)
        .get("lost_deltas", status.lost.deltas)
        .get("outside", status.outside)
        .get("unproved", status.unproved)
        .get_list("changes", status.changes)
        .done();
}

Json encode(const overlay::Counted& counted) {
    return Json{{"files", counted.files},
                {"wounded", counted.wounded},
                {"out_of_room", counted.out_of_room}};
}

Result<> decode(const Json& json, overlay::Counted& counted) {
    return Fields(json)
        .get("files", counted.files)
        .get("wounded", counted.wounded)
        .get("out_of_room", counted.out_of_room)
        .done();
}

Json encode(const overlay::Log& log) {
    Json entries = Json::array();
    for (const overlay::LogEntry& entry : log.entries)
        entries.push_back(encode_entry(entry));
    return Json{{"current", log.current},
                {"root", log.root},
                {"entries", std::move(entries)},
                {"open_changes", encode_list(log.open_changes)},
                {"origins", encode_list(log.origins)}};
}

Result<> decode(const Json& json, overlay::Log& log) {
    Fields fields(json);
    if (const Json* entries = fields.find("entries")) {
        if (!entries->is_array()) fields.fail("entries");
        for (const Json& entry : *entries)
            TRY(decode_entry(entry, log.entries.emplace_back()));
    }
    return fields.get("current", log.current)
        .get("root", log.root)
        .get_list("open_changes", log.open_changes)
        .get_list("origins", log.origins)
        .done();
}

Json encode(const overlay::FileDiff& diff) {
    return Json{{"change", encode(diff.change)},
                {"binary", diff.binary},
                {"text", encode_bytes(diff.text)},
                {"lines", encode_lines(diff.lines)}};
}

Result<> decode(const Json& json, overlay::FileDiff& diff) {
    Fields fields(json);
    if (const Json* lines = fields.find("lines")) TRY(decode_lines(*lines, diff.lines));
    return fields.get_object("change", diff.change)
        .get("binary", diff.binary)
        .get("text", diff.text)
        .done();
}

Json encode(const overlay::Moved& moved) {
    return Json{{"from", moved.from},
                {"to", moved.to},
                {"changes", encode_list(moved.changes)},
                {"others", encode_list(moved.others)},
                {"own", moved.own},
                {"behind", encode_texts(moved.behind)},
                {"can_redo", moved.can_redo},
                {"merged", encode_texts(moved.merged)},
                {"left", encode_texts(moved.left)}};
}

Result<> decode(const Json& json, overlay::Moved& moved) {
    return Fields(json)
        .get("from", moved.from)
        .get("to", moved.to)
        .get_list("changes", moved.changes)
        .get_list("others", moved.others)
        .get("own", moved.own)
        .get("behind", moved.behind)
        .get("can_redo", moved.can_redo)
        .get("merged", moved.merged)
        .get("left", moved.left)
        .done();
}

Json encode(const overlay::Decision::Part& part) {
    return Json{{"path", encode_bytes(part.path)}, {"hunks", part.hunks}, {"seen", part.seen}};
}

Result<> decode(const Json& json, overlay::Decision::Part& part) {
    return Fields(json)
        .get("path", part.path)
        .get("hunks", part.hunks)
        .get("seen", part.seen)
        .done();
}

Json encode(const overlay::Decision& decision) {
    return Json{{"keep", encode_texts(decision.keep)},
                {"take_back", encode_texts(decision.take_back)},
                {"parts", encode_list(decision.parts)},
                {"text", encode_bytes(decision.text)}};
}

Result<> decode(const Json& json, overlay::Decision& decision) {
    return Fields(json)
        .get("keep", decision.keep)
        .get("take_back", decision.take_back)
        .get_list("parts", decision.parts)
        .get("text", decision.text)
        .done();
}

Json encode(const overlay::Decided::Needed& needed) {
    return Json{{"path", encode_bytes(needed.path)}, {"reason", encode_bytes(needed.reason)}};
}

Result<> decode(const Json& json, overlay::Decided::Needed& needed) {
    return Fields(json).get("path", needed.path).get("reason", needed.reason).done();
}

Json encode(const overlay::Decided& decided) {
    return Json{{"from", decided.from},
                {"current", decided.current},
                {"kept", encode_list(decided.kept)},
                {"taken_back", encode_list(decided.taken_back)},
                {"needed", encode_list(decided.needed)},
                {"others", encode_list(decided.others)},
                {"given_up", decided.given_up}};
}

Result<> decode(const Json& json, overlay::Decided& decided) {
    return Fields(json)
        .get("from", decided.from)
        .get("current", decided.current)
        .get_list("kept", decided.kept)
        .get_list("taken_back", decided.taken_back)
        .get_list("needed", decided.needed)
        .get_list("others", decided.others)
        .get("given_up", decided.given_up)
        .done();
}

Json encode(const DaemonInfo& info) {
    return Json{{"version", info.version},
                {"id", info.id},
                {"workspace", encode_bytes(info.workspace)},
                {"mount_point", encode_bytes(info.mount_point)},
                {"pid", info.pid},
                {"device", info.device},
                {"inode", info.inode},
                {"fresh", info.fresh},
                {"interrupted", info.interrupted},
                {"finished_restore", info.finished_restore},
                {"task_open", info.task_open},
                {"ending", info.ending},
                {"runs", info.runs},
                {"set_aside", encode_texts(info.set_aside)},
                {"in_use", encode_texts(info.in_use)},
                {"taken_back", encode_texts(info.taken_back)},
                {"retention", encode(info.retention)}};
}

Result<> decode(const Json& json, DaemonInfo& info) {
    return Fields(json)
        .get("version", info.version)
        .get("id", info.id)
        .get("workspace", info.workspace)
        .get("mount_point", info.mount_point)
        .get("pid", info.pid)
        .get("device", info.device)
        .get("inode", info.inode)
        .get("fresh", info.fresh)
        .get("interrupted", info.interrupted)
        .get("finished_restore", info.finished_restore)
        .get("task_open", info.task_open)
        .get("ending", info.ending)
        .get("runs", info.runs)
        .get("set_aside", info.set_aside)
        .get("in_use", info.in_use)
        .get("taken_back", info.taken_back)
        .get_object("retention", info.retention)
        .done();
}

}  // namespace unwrite::control
