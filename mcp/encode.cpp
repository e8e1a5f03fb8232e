#include "mcp/encode.h"

#include "edit/text_safety.h"
#include "overlay/changes.h"
#include "overlay/editing_record.h"
#include "overlay/state_tags.h"

namespace unwrite::mcp {

namespace {

using overlay::ChangeKind;
using overlay::NodeKind;

const char* word(ChangeKind kind) {
    switch (kind) {
        case ChangeKind::kCreated:
            return "created";
        case ChangeKind::kDeleted:
            return "deleted";
        case ChangeKind::kModified:
            return "modified";
        case ChangeKind::kRenamed:
            return "renamed";
        case ChangeKind::kAttributes:
            break;
    }
    return "attributes";
}

const char* word(NodeKind kind) {
    switch (kind) {
        case NodeKind::kRoot:
            return "root";
        case NodeKind::kCheckpoint:
            return "checkpoint";
        case NodeKind::kRun:
            return "run";
        case NodeKind::kUndo:
            return "undo";
        case NodeKind::kMount:
            return "mount";
        case NodeKind::kTurn:
            return "handoff";
        case NodeKind::kBegin:
            return "begin";
        case NodeKind::kStep:
            break;
    }
    return "step";
}

std::string name_of(overlay::NodeNumber number) {
    return "n" + std::to_string(number);
}

std::string first_words(const std::string& text) {
    return edit::displayed(overlay::words_of_step(text));
}

}  // namespace

std::string cut(std::string text) {
    if (text.size() <= kMaxText) return text;
    std::size_t end = kMaxText;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80)
        --end;
    const std::size_t left = text.size() - end;
    text.resize(end);
    return text + "\n... (" + std::to_string(left) + " bytes more; ask for fewer paths)";
}

Json encode(const overlay::Node& node) {
    Json json{{"node", name_of(node.number)},
              {"parent", node.parent == 0 ? Json() : Json(name_of(node.parent))},
              {"kind", word(node.kind)},
              {"name", edit::displayed(node.name)},
              {"text", first_words(node.text)},
              {"time_ns", node.time_ns}};
    if (const auto by = node.tags.find(overlay::kCauseTag); by != node.tags.end()) {
        const Json cause = Json::parse(by->second, nullptr, /*allow_exceptions=*/false);
        if (cause.is_object()) json["by"] = cause;
    }
    return json;
}

Json encode(const std::vector<overlay::Change>& changes) {
    Json list = Json::array();
    for (const overlay::Change& change : changes) {
        if (list.size() == kMaxChanges) break;
        Json item{{"kind", word(change.kind)}, {"path", edit::displayed(change.path)}};
        if (!change.old_path.empty()) item["old_path"] = edit::displayed(change.old_path);
        if (change.below > 0) item["below"] = change.below;
        if (change.files != 1) item["files"] = change.files;
        if (change.ignored > 0) item["ignored"] = change.ignored;
        if (change.kind == ChangeKind::kRenamed) item["content"] = change.content;
        if (change.aspects != 0) item["aspects"] = overlay::aspect_names(change.aspects);
        list.push_back(std::move(item));
    }
    return list;
}

Json encode(const overlay::Status& status) {
    return Json{{"root", name_of(status.root)},
                {"current", name_of(status.current)},
                {"checkpoint", edit::displayed(status.checkpoint)},
                {"wounded", status.wounded},
                {"task_open", status.task_open},
                {"steps", status.steps},
                {"lines_added", status.lines.added},
                {"lines_removed", status.lines.removed},
                {"files_changed", overlay::files_in(status.changes)},
                {"lines_not_counted", status.lines_not_counted},
                {"change_count", status.changes.size()},
                {"changes", encode(status.changes)}};
}

Json encode(const overlay::Log& log, std::size_t most) {
    Json list = Json::array();
    const overlay::StateNotes state = overlay::notes_of(log);
    for (const overlay::LogEntry& entry : log.entries) {
        if (list.size() == most) break;
        Json item = encode(entry.node);
        item["on_trunk"] = entry.on_trunk;
        if (state.squashed.contains(entry.node.number)) item["squashed"] = true;
        const auto notes = state.notes.find(entry.node.number);
        if (notes != state.notes.end()) item["notes"] = notes->second;
        item["changes"] = encode(entry.changes);
        list.push_back(std::move(item));
    }
    return Json{{"current", name_of(log.current)}, {"nodes", std::move(list)}};
}

Json encode(const overlay::Moved& moved) {
    Json others = Json::array();
    for (const overlay::Origin& origin : moved.others)
        others.push_back(edit::displayed(origin.session));
    Json behind = Json::array();
    for (const std::string& path : moved.behind)
        behind.push_back(edit::displayed(path));
    return Json{{"from", moved.from == 0 ? Json() : Json(name_of(moved.from))},
                {"to", name_of(moved.to)},
                {"changes", encode(moved.changes)},
                {"others", std::move(others)},
                {"behind", std::move(behind)}};
}

std::string lines_of(const std::vector<overlay::Change>& changes) {
    std::string text;
    std::size_t count = 0;
    for (const overlay::Change& change : changes) {
        if (count++ == kMaxChanges) {
            text += "... and " + std::to_string(changes.size() - kMaxChanges) + " more\n";
            break;
        }
        text += std::string(word(change.kind)) + ": " + edit::displayed(change.path);
        if (!change.old_path.empty()) text += " (was " + edit::displayed(change.old_path) + ")";
        if (change.below > 0) text += " (" + std::to_string(change.below) + " below)";
        if (change.kind == ChangeKind::kRenamed && change.content) text += " (modified)";
        const std::string aspects = overlay::aspect_words(change);
        if (!aspects.empty()) text += " (" + aspects + ")";
        text += '\n';
    }
    return text;
}

namespace {

std::string files_text(std::uint64_t files) {
    return std::to_string(files) + (files == 1 ? " file" : " files");
}

}  // namespace

std::string files_words(const overlay::Status& status, const std::string& since) {
    const std::string from = since.empty() ? name_of(status.root) : edit::displayed(since);
    if (status.changes.empty()) return "No changes since " + from;
    std::string text = files_text(overlay::files_in(status.changes)) + " changed since " + from +
                       ", +" + std::to_string(status.lines.added) + " -" +
                       std::to_string(status.lines.removed) + " lines";
    if (status.lines_not_counted > 0)
        text += " (lines of " + files_text(status.lines_not_counted) + " not counted)";
    return text;
}

std::string text_of(const overlay::Status& status, const std::string& since) {
    std::string text = files_words(status, since) + (status.changes.empty() ? ".\n" : ":\n");
    text += lines_of(status.changes);
    if (!status.checkpoint.empty())
        text += "Newest open checkpoint with a name: " + edit::displayed(status.checkpoint) + "\n";
    if (status.wounded) text += "The workspace is wounded: `unwrite recover` is needed.\n";
    return text;
}

Json encode_notes(const overlay::Log& log) {
    Json list = Json::array();
    for (const auto& [node, notes] : overlay::notes_of(log).notes) {
        for (const std::string& note : notes)
            list.push_back({{"node", name_of(node)}, {"text", note}});
    }
    return list;
}

std::string notes_text(const overlay::Log& log) {
    std::string text;
    for (const auto& [node, notes] : overlay::notes_of(log).notes) {
        for (const std::string& note : notes)
            text += name_of(node) + " " + note + "\n";
    }
    return text;
}

std::string text_of(const overlay::Log& log, std::size_t most) {
    std::string text;
    std::size_t count = 0;
    const overlay::StateNotes state = overlay::notes_of(log);
    for (const overlay::LogEntry& entry : log.entries) {
        if (count++ == most) break;
        const overlay::Node& node = entry.node;
        text +=
            (entry.on_trunk ? "" : "(abandoned) ") + name_of(node.number) + " " + word(node.kind);
        if (!node.name.empty()) text += " " + edit::displayed(node.name);
        if (!node.text.empty()) text += ": " + first_words(node.text);
        if (state.squashed.contains(node.number)) text += " (part of a later step)";
        text += node.number == log.current ? " (newest)\n" : "\n";
        const auto notes = state.notes.find(node.number);
        if (notes == state.notes.end()) continue;
        for (const std::string& note : notes->second)
            text += "   -> " + note + "\n";
    }
    return text.empty() ? "No nodes.\n" : text;
}

std::string text_of(const std::vector<overlay::FileDiff>& diffs, bool only_names) {
    if (diffs.empty()) return "No differences.\n";
    std::string text;
    for (const overlay::FileDiff& diff : diffs) {
        if (only_names || diff.text.empty()) text += lines_of({diff.change});
        if (!only_names) text += diff.text;
    }
    return cut(std::move(text));
}

}  // namespace unwrite::mcp
