#include "cli/told.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/refusals.h"
#include "cli/text.h"

namespace unwrite::cli {

namespace {

using Json = nlohmann::json;

constexpr std::size_t kMostSteps = 10;
constexpr std::size_t kMostFiles = 10;
constexpr std::size_t kMostRefusals = 5;
constexpr std::size_t kMostRemembered = 200;
constexpr std::size_t kTitle = 60;

std::string files_words(const std::vector<overlay::Change>& changes) {
    std::string text;
    for (std::size_t i = 0; i < std::min(changes.size(), kMostFiles); ++i)
        text += (i == 0 ? "" : ", ") + quote_name(changes[i].path);
    if (changes.size() > kMostFiles)
        text += " and " + std::to_string(changes.size() - kMostFiles) + " more";
    return text;
}

std::string step_words(const StepTold& step) {
    std::string text = "step n" + std::to_string(step.node);
    if (!step.title.empty()) text += " \"" + harmless(first_words(step.title)) + '"';
    if (step.changes.empty()) return text;
    return text + " (" + counted(step.changes.size(), "file", "files") + ": " +
           files_words(step.changes) + ")";
}

std::string session_of(const overlay::Node& node) {
    const auto tag = node.tags.find("session");
    return tag == node.tags.end() ? "" : tag->second;
}

std::set<overlay::OriginNumber> origins_of(const std::vector<overlay::Origin>& origins,
                                           const std::string& session) {
    std::set<overlay::OriginNumber> own;
    for (const overlay::Origin& origin : origins)
        if (origin.session == session) own.insert(origin.number);
    return own;
}

bool is_undo_of(const overlay::Node& node, const std::string& session) {
    return node.kind == overlay::NodeKind::kUndo && node.text == "undo " + session;
}

Json cause_in(const overlay::Node& node) {
    const auto cause = node.tags.find(overlay::kCauseTag);
    if (cause == node.tags.end()) return Json();
    return Json::parse(cause->second, nullptr, /*allow_exceptions=*/false);
}

}  // namespace

Turn last_turn(const overlay::Log& log, const std::string& session) {
    for (const overlay::LogEntry& entry : log.entries) {
        const Json cause = cause_in(entry.node);
        if (!cause.is_object() || !cause.contains("prompt_of") || cause["prompt_of"] != session)
            continue;
        Turn turn{entry.node.number, entry.node.time_ns, {}};
        const Json undone = cause.value("undone", Json::array());
        for (const Json& number : undone)
            if (number.is_number_unsigned()) turn.undone.insert(number.get<std::uint64_t>());
        return turn;
    }
    return {};
}

std::string cause_of(const std::string& session, const std::set<overlay::NodeNumber>& undone) {
    Json numbers = Json::array();
    std::size_t left = kMostRemembered;
    for (auto number = undone.rbegin(); number != undone.rend() && left > 0; ++number, --left)
        numbers.push_back(*number);
    std::string text;
    for (;;) {
        text = Json{{"prompt_of", session}, {"undone", numbers}}.dump(
            -1, ' ', false, Json::error_handler_t::replace);
        if (text.size() <= overlay::kMostOfCause || numbers.empty()) return text;
        numbers.erase(numbers.size() - 1);
    }
}

std::set<overlay::NodeNumber> undone_of(const overlay::Log& log, const std::string& session) {
    std::set<overlay::NodeNumber> undone;
    for (const overlay::LogEntry& entry : log.entries) {
        const bool is_there = entry.on_trunk && !entry.undone;
        if (is_there != is_undo_of(entry.node, session)) continue;
        const bool is_step =
            entry.node.kind == overlay::NodeKind::kRun && session_of(entry.node) == session;
        if (is_step || title_of_interrupted(log, entry.node, session))
            undone.insert(entry.node.number);
    }
    return undone;
}

std::optional<std::string> title_of_interrupted(const overlay::Log& log, const overlay::Node& node,
                                                const std::string& session) {
    using overlay::NodeKind;
    if (!session_of(node).empty()) return std::nullopt;
    // `unwrite undo SESSION` leaves an undo instead, which is on the trunk.
    if (node.kind != NodeKind::kBegin && !is_undo_of(node, session)) return std::nullopt;
    // Newest first, so a parent comes later.
    overlay::NodeNumber wanted = node.parent;
    for (const overlay::LogEntry& entry : log.entries) {
        if (entry.node.number != wanted) continue;
        if (session_of(entry.node) == session && entry.node.kind == NodeKind::kBegin)
            return entry.node.text;
        if (session_of(entry.node) == session && entry.node.kind == NodeKind::kRun) break;
        wanted = entry.node.parent;
    }
    return std::nullopt;
}

std::vector<overlay::Change> by_session(std::vector<overlay::Change> changes,
                                        const std::vector<overlay::Origin>& origins,
                                        const std::string& session) {
    const std::set<overlay::OriginNumber> own = origins_of(origins, session);
    std::erase_if(changes, [&](const overlay::Change& change) {
        return std::none_of(change.origins.begin(), change.origins.end(),
                            [&](overlay::OriginNumber origin) { return own.contains(origin); });
    });
    return changes;
}

std::vector<overlay::Change> by_others(const std::vector<overlay::Change>& changes,
                                       const std::vector<overlay::Origin>& origins,
                                       const std::string& session) {
    const std::set<overlay::OriginNumber> own = origins_of(origins, session);
    std::vector<overlay::Change> others;
    for (const overlay::Change& change : changes) {
        const bool any = std::any_of(
            change.origins.begin(), change.origins.end(),
            [&](overlay::OriginNumber origin) { return origin != 0 && !own.contains(origin); });
        const bool shows = change.content || change.kind != overlay::ChangeKind::kAttributes;
        if (any && shows && change.ignored < change.files) others.push_back(change);
    }
    return others;
}

std::string told_words(const std::vector<StepTold>& taken_back,
                       const std::vector<StepTold>& brought_back,
                       const std::vector<overlay::Change>& by_others,
                       const overlay::Refused& refused) {
    std::string text;
    const auto line = [&](const std::string& words) { text += (text.empty() ? "" : "\n") + words; };
    const auto steps = [&](const std::vector<StepTold>& list, const std::string& before,
                           const std::string& after) {
        for (std::size_t i = 0; i < std::min(list.size(), kMostSteps); ++i)
            line(before + step_words(list[i]) + after);
        if (list.size() > kMostSteps)
            line(before + counted(list.size() - kMostSteps, "more step", "more steps") + after);
    };
    steps(taken_back, "The user took back ", ". Do not redo it. Read these files again.");
    steps(brought_back, "The user brought back ", ". Read these files again.");
    if (!by_others.empty()) {
        line("Changed by others since your last turn: " + files_words(by_others) +
             ". Read these files again before you change them.");
    }
    if (!refused.entries.empty()) {
        line("unwrite refused this in your last turn. Do not work around it; the user decides:");
        line(refused_lines(refused.entries, kMostRefusals).text);
        while (text.ends_with('\n'))
            text.pop_back();
    }
    return text;
}

std::string first_words(const std::string& prompt) {
    std::string text;
    for (const char c : prompt) {
        if (text.size() > 4 * kTitle) break;
        const auto byte = static_cast<unsigned char>(c);
        if (byte > 0x20 && byte != 0x7f) {
            text += c;
        } else if (!text.empty() && text.back() != ' ') {
            text += ' ';
        }
    }
    while (text.ends_with(' '))
        text.pop_back();
    // Whole characters, and if possible whole words.
    std::size_t end = 0;
    std::size_t count = 0;
    while (end < text.size() && count < kTitle) {
        do {
            ++end;
        } while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xc0U) == 0x80U);
        ++count;
    }
    if (end == text.size()) return text;
    const std::size_t space = text.rfind(' ', end);
    if (space != std::string::npos && space > kTitle / 2) end = space;
    return text.substr(0, end) + "...";
}

}  // namespace unwrite::cli
