#include "overlay/state_tags.h"

#include <nlohmann/json.hpp>
#include <set>

#include "edit/text_safety.h"

namespace unwrite::overlay {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kPrefix = "revert.";
const std::string kRequest = "revert.request.";
const std::string kTag = "revert.tag.";
const std::string kEvent = "revert.event.";
const std::string kSquash = "revert.squash";

// Keys sort as their numbers do.
std::string next_key(const Node& node, const std::string& kind) {
    std::uint64_t last = 0;
    for (const auto& [key, value] : node.tags) {
        if (!key.starts_with(kind)) continue;
        const auto number = edit::node_from(key.substr(kind.size()));
        last = std::max(last, number.value_or(0));
    }
    const std::string digits = std::to_string(last + 1);
    return kind + std::string(20 - digits.size(), '0') + digits;
}

Json parsed(const std::string& text) {
    Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
    return json.is_object() ? json : Json::object();
}

std::string dumped(const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::uint64_t number_in(const Json& json, const char* name) {
    const auto found = json.find(name);
    return found != json.end() && found->is_number_unsigned() ? found->get<std::uint64_t>() : 0;
}

std::string text_in(const Json& json, const char* name) {
    const auto found = json.find(name);
    return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::optional<edit::TagKind> kind_from(const std::string& name) {
    for (const auto kind : {edit::TagKind::kLesson, edit::TagKind::kFinding,
                            edit::TagKind::kOutcome, edit::TagKind::kCheckpoint}) {
        if (edit::name_of(kind) == name) return kind;
    }
    return std::nullopt;
}

/// Not by the parents: a log leaves out the nodes that are no steps.
std::vector<std::size_t> trunk_in(const Log& log, const std::vector<edit::TreeNode>& tree) {
    std::set<NodeNumber> numbers;
    for (const LogEntry& entry : log.entries) {
        if (entry.on_trunk) numbers.insert(entry.node.number);
    }
    std::vector<std::size_t> trunk;
    for (std::size_t at = 0; at < tree.size(); ++at) {
        if (numbers.contains(tree[at].id)) trunk.push_back(at);
    }
    return trunk;
}

}  // namespace

bool is_state_tag(const std::string& key) {
    return key.starts_with(kPrefix);
}

void add_waiting(Node& root, const WaitingRevert& waiting) {
    Json json{{"category", edit::name_of(waiting.request.category)},
              {"step", edit::node_text(waiting.request.target)}};
    if (waiting.request.summary) json["summary"] = *waiting.request.summary;
    json["origin"] = waiting.origin;
    json["for_agent"] = waiting.for_agent;
    if (!waiting.cause.empty()) json["cause"] = waiting.cause;
    root.tags[next_key(root, kRequest)] = dumped(json);
}

std::vector<WaitingRevert> waiting_of(const Node& root) {
    std::vector<WaitingRevert> list;
    for (const auto& [key, value] : root.tags) {
        if (!key.starts_with(kRequest)) continue;
        auto request = edit::decode_revert(value);
        if (!request) continue;
        const Json json = parsed(value);
        list.push_back({key, *std::move(request), number_in(json, "origin"),
                        json.value("for_agent", Json(true)) != Json(false),
                        text_in(json, "cause")});
    }
    return list;
}

void move_waiting(const Node& from, Node& to) {
    for (const auto& [key, value] : from.tags) {
        if (key.starts_with(kRequest)) to.tags[key] = value;
    }
}

void add_tag(Node& node, const edit::NodeTag& tag) {
    node.tags[next_key(node, kTag)] = dumped(Json{{"kind", edit::name_of(tag.kind)},
                                                  {"text", tag.text},
                                                  {"created_turn", tag.created_turn},
                                                  {"abandoned_node_ids", tag.abandoned}});
}

std::vector<edit::NodeTag> tags_of(const Node& node) {
    std::vector<edit::NodeTag> list;
    for (const auto& [key, value] : node.tags) {
        if (!key.starts_with(kTag)) continue;
        const Json json = parsed(value);
        const auto kind = kind_from(text_in(json, "kind"));
        if (!kind) continue;
        edit::NodeTag tag{*kind, text_in(json, "text"), number_in(json, "created_turn"), {}};
        const auto abandoned = json.find("abandoned_node_ids");
        if (abandoned != json.end() && abandoned->is_array()) {
            for (const Json& id : *abandoned) {
                if (id.is_number_unsigned()) tag.abandoned.push_back(id.get<std::uint64_t>());
            }
        }
        list.push_back(std::move(tag));
    }
    return list;
}

void add_event(Node& node, const std::string& event, const std::string& cause) {
    Json json = parsed(event);
    if (!cause.empty()) json[kCauseTag] = parsed(cause);
    node.tags[next_key(node, kEvent)] = dumped(json);
}

void set_squash(Node& node, NodeNumber first) {
    node.tags[kSquash] = edit::node_text(first);
}

std::optional<NodeNumber> squash_of(const Node& node) {
    const auto found = node.tags.find(kSquash);
    return found == node.tags.end() ? std::nullopt : edit::node_from(found->second);
}

std::vector<edit::TreeNode> tree_of(const journal::NodeTree& nodes) {
    std::vector<edit::TreeNode> tree;
    for (const Node& node : nodes) {
        edit::TreeNode one{node.number, std::nullopt, edit::NodeMaker::kAgent, std::nullopt,
                           tags_of(node)};
        if (node.parent != 0) one.parent = node.parent;
        tree.push_back(std::move(one));
    }
    return tree;
}

StateNotes notes_of(const Log& log) {
    journal::NodeTree nodes;
    StateNotes all;
    for (const LogEntry& entry : log.entries)
        nodes.put(entry.node);
    const auto tree = tree_of(nodes);
    const std::uint64_t turn = nodes.size() == 0 ? 0 : nodes.rbegin()->number;
    for (const edit::ShownTag& tag :
         edit::shown_tags(tree, trunk_in(log, tree), turn, edit::TagPolicy{})) {
        const std::string text = tag.tag.text.empty() ? "" : " " + edit::displayed(tag.tag.text);
        all.notes[tag.node].push_back("[" + std::string(edit::name_of(tag.tag.kind)) + "]" + text);
    }
    for (const Node& node : nodes) {
        const auto first = squash_of(node);
        if (!first) continue;
        for (const LogEntry& entry : log.entries) {
            const NodeNumber number = entry.node.number;
            if (entry.on_trunk && number > *first && number < node.number)
                all.squashed.insert(number);
        }
    }
    return all;
}

}  // namespace unwrite::overlay
