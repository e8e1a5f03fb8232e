#include "cli/log_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "cli/git_words.h"
#include "cli/render.h"
#include "cli/text.h"
#include "overlay/changes.h"
#include "overlay/editing_record.h"
#include "overlay/session.h"
#include "overlay/state_tags.h"
#include "overlay/steps.h"

namespace unwrite::cli {

namespace {

using overlay::Change;
using overlay::LogEntry;
using overlay::NodeKind;
using overlay::Origin;

constexpr std::size_t kMostListed = 20;

const char* kind_word(const LogEntry& entry) {
    switch (entry.node.kind) {
        case NodeKind::kRoot:
            return "start of the task";
        case NodeKind::kCheckpoint:
            return "checkpoint";
        case NodeKind::kRun:
            return "run";
        case NodeKind::kUndo:
        case NodeKind::kStep:
        case NodeKind::kMount:
            return "";
        case NodeKind::kTurn:
            return "handoff";
        case NodeKind::kBegin:
            return entry.running ? "running" : "begin";
    }
    return "";
}

/// A command line may be long; the log has one line for it.
std::string shortened(const std::string& text) {
    constexpr std::size_t most = 60;
    return text.size() <= most ? quote_name(text) : quote_name(text.substr(0, most)) + "...";
}

std::vector<Origin> origins_of(const std::vector<Change>& changes, const overlay::Log& log) {
    std::set<overlay::OriginNumber> numbers;
    for (const Change& change : changes)
        numbers.insert(change.origins.begin(), change.origins.end());
    std::vector<Origin> origins;
    for (const Origin& origin : log.origins) {
        if (numbers.contains(origin.number)) origins.push_back(origin);
    }
    return origins;
}

std::string files_words(const std::vector<Change>& changes) {
    return counted(overlay::files_in(changes), "file", "files");
}

/// What nobody else made as well.
std::uint64_t files_of_user(const std::vector<Change>& changes, const overlay::Log& log) {
    std::set<overlay::OriginNumber> agents;
    for (const Origin& origin : log.origins) {
        if (origin.agent) agents.insert(origin.number);
    }
    std::uint64_t files = 0;
    for (const Change& change : changes) {
        const bool own = std::none_of(change.origins.begin(), change.origins.end(),
                                      [&](auto number) { return agents.contains(number); });
        if (own) files += overlay::files_in(change);
    }
    return files;
}

std::string now_line(const overlay::Log& log) {
    if (log.open_changes.empty()) return "";
    const std::uint64_t all = overlay::files_in(log.open_changes);
    const std::uint64_t own = files_of_user(log.open_changes, log);
    std::string line =
        fmt::format("now: {} since n{}", counted(all, "file", "files"), newest_step(log));
    if (own == all) {
        line += ", by you";
    } else if (own > 0) {
        line += fmt::format(", {} by you", own);
    }
    return line + "\n";
}

/// Whether the title says who it was.
bool names_its_makers(const LogEntry& entry) {
    return entry.node.text.empty() && entry.node.name.empty() &&
           (entry.node.kind == NodeKind::kStep || entry.node.kind == NodeKind::kMount);
}

std::string tag_words(const overlay::Node& node) {
    std::string words;
    for (const auto& [key, value] : node.tags) {
        if (key == kGitTag || key == overlay::kCauseTag) continue;  // for programs
        if (key == "session" || overlay::is_step_tag(key)) continue;
        if (overlay::is_state_tag(key)) continue;  // what it says is in the notes
        words += key == overlay::kInterruptedTag
                     ? "  (interrupted; \"unwrite recover\" decides)"
                     : fmt::format("  [{}: {}]", quote_name(key), quote_name(value));
    }
    return words;
}

std::string who_words(const LogEntry& entry, const overlay::Log& log) {
    if (entry.changes.empty()) return entry.node.kind == NodeKind::kRoot ? "" : "  no files";
    const auto origins = origins_of(entry.changes, log);
    // Whose changes an undo took back is not who undid them.
    const bool said =
        names_its_makers(entry) || origins.empty() || entry.node.kind == NodeKind::kUndo;
    return "  " + files_words(entry.changes) + (said ? "" : " by " + origins_words(origins));
}

std::string entry_line(const LogEntry& entry, const overlay::Log& log,
                       const overlay::StateNotes& state, Colour colour) {
    const overlay::Node& node = entry.node;
    const char* mark = !entry.on_trunk              ? "x "
                       : entry.running              ? "> "
                       : node.number == log.current ? "@ "
                                                    : "* ";
    std::string line = (entry.nested ? "  " : "") + std::string(mark);
    line += painted(fmt::format("{:<5}", fmt::format("n{}", node.number)), kCyan, colour);
    line += time_words(node.time_ns);
    if (const std::string kind = kind_word(entry); !kind.empty()) line += "  " + kind;
    const std::string title = step_title(entry, log);
    if (!title.empty()) line += "  " + (node.name.empty() ? title : painted(title, kBold, colour));
    if (!node.name.empty() && !node.text.empty()) line += "  " + shortened(node.text);
    if (!node.name.empty() && !node.open) line += " (closed)";
    if (entry.is_step) line += who_words(entry, log);
    line += tag_words(node);
    if (!entry.on_trunk && node.parent != 0)
        line += fmt::format("  (abandoned, from n{})", node.parent);
    if (entry.undone) line += "  (undone)";
    if (state.squashed.contains(node.number)) line += "  (part of a later step)";
    line += "\n";
    const auto notes = state.notes.find(node.number);
    if (notes == state.notes.end()) return line;
    for (const std::string& note : notes->second)
        line += "   -> " + harmless(note) + "\n";
    return line;
}

}  // namespace

std::string step_title(const LogEntry& entry, const overlay::Log& log) {
    const overlay::Node& node = entry.node;
    if (!node.name.empty()) return quote_name(node.name);
    if (!node.text.empty()) return shortened(overlay::words_of_step(node.text));
    if (!names_its_makers(entry)) return "";
    const auto origins = origins_of(entry.changes, log);
    return origins.empty() ? "changes" : "changes by " + origins_words(origins);
}

overlay::NodeNumber newest_step(const overlay::Log& log) {
    const auto found = std::find_if(
        log.entries.begin(), log.entries.end(),
        [](const LogEntry& entry) { return entry.on_trunk && entry.is_step && !entry.running; });
    return found == log.entries.end() ? log.current : found->node.number;
}

std::string log_lines(const overlay::Log& log, bool list_changes, Colour colour) {
    const overlay::StateNotes state = overlay::notes_of(log);
    const auto listed = [&](const std::vector<Change>& changes) {
        return list_changes ? change_lines(changes, kMostListed, colour) : std::string();
    };
    std::string text = now_line(log) + listed(log.open_changes);
    for (const LogEntry& entry : log.entries)
        text += entry_line(entry, log, state, colour) + listed(entry.changes);
    return text;
}

}  // namespace unwrite::cli
