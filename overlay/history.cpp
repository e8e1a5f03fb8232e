#include "overlay/history.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <optional>
#include <set>

#include "base/near_words.h"
#include "overlay/steps.h"

namespace unwrite::overlay {

using journal::Node;
using journal::NodeNumber;

Result<History> History::read(journal::Store& store) {
    TRY_ASSIGN(journal::Store::Known known, store.known());
    return History{std::move(known.head), std::move(known.nodes)};
}

NodeNumber History::parent_of(NodeNumber node) const {
    const Node* const row = nodes.find(node);
    return row != nullptr && row->parent < node ? row->parent : 0;
}

// Whoever has the higher number climbs, until both are where the ways part: what lies above is not
// looked at, nor are the ways of others.
Result<std::vector<Crossing>> History::path_to(NodeNumber target) const {
    if (!nodes.contains(target)) {
        return Error(ErrorKind::kNotFound, ENOENT, "there is no state n" + std::to_string(target),
                     "`unwrite log --all` lists the states");
    }
    std::vector<Crossing> path;
    path.push_back({0, head.open_delta, true, head.current});
    std::vector<Crossing> down;
    NodeNumber from = head.current;
    NodeNumber to = target;
    while (from != to) {
        const bool up = from > to;
        NodeNumber& at = up ? from : to;
        const Node* const node = nodes.find(at);
        const NodeNumber parent = parent_of(at);
        if (node == nullptr || parent == 0) {
            return Error(ErrorKind::kCorrupt, EIO,
                         "there is no way to state n" + std::to_string(target) + ": n" +
                             std::to_string(at) + " leads nowhere",
                         "`unwrite check` says what is damaged");
        }
        (up ? path : down).push_back({at, node->delta, up, up ? parent : at});
        at = parent;
    }
    path.insert(path.end(), down.rbegin(), down.rend());
    return path;
}

std::vector<NodeNumber> History::trunk() const {
    std::vector<NodeNumber> chain;
    for (NodeNumber node = head.current; nodes.contains(node); node = parent_of(node))
        chain.push_back(node);
    std::reverse(chain.begin(), chain.end());
    return chain;
}

bool History::is_on_trunk(NodeNumber node) const {
    return is_above(node, head.current);
}

bool History::is_above(NodeNumber node, NodeNumber other) const {
    while (other > node)
        other = parent_of(other);
    return other == node && node != 0;
}

NodeNumber History::newest_checkpoint(bool named) const {
    for (const Node* node = nodes.find(head.current); node != nullptr && node->number > head.root;
         node = nodes.find(parent_of(node->number))) {
        if (node->kind == journal::NodeKind::kCheckpoint && node->open &&
            !(named && node->name.empty()))
            return node->number;
    }
    return 0;
}

// The rest is what was sealed first.
bool History::goes_on(NodeNumber node, NodeNumber next) const {
    const auto rest = std::find_if(nodes.after(node), nodes.end(),
                                   [node](const Node& row) { return row.parent == node; });
    return next == (rest == nodes.end() ? 0 : rest->number);
}

bool History::is_divided(NodeNumber node, NodeNumber next) const {
    return node != head.root && nodes.at(node).kind == journal::NodeKind::kTurn &&
           goes_on(node, next);
}

NodeNumber History::before_hidden(NodeNumber node, NodeNumber next) const {
    while (node != head.root && node != 0 && is_hidden(nodes.at(node).kind) &&
           goes_on(node, next)) {
        next = node;
        node = parent_of(node);
    }
    return node;
}

namespace {

/// The node that "n12" means, with another letter perhaps.
std::optional<NodeNumber> numbered(const History& history, const std::string& name, char letter) {
    NodeNumber number = 0;
    const char* const end = name.data() + name.size();
    if (name.size() < 2 || name.front() != letter) return std::nullopt;
    const auto parsed = std::from_chars(name.data() + 1, end, number);
    if (parsed.ec != std::errc() || parsed.ptr != end || !history.nodes.contains(number))
        return std::nullopt;
    return number;
}

/// The end of an error: what was probably meant. Empty where nothing is near.
std::string like(const History& history, const std::string& name) {
    std::vector<std::string> meant;
    if (const auto number = numbered(history, name, 'N')) {
        meant.push_back("n" + std::to_string(*number));
    } else {
        std::set<std::string> names;
        for (const Node& node : history.nodes) {
            if (!node.name.empty()) names.insert(node.name);
        }
        meant = nearest(name, {names.begin(), names.end()});
    }
    return meant.empty() ? "" : "." + did_you_mean(meant);
}

}  // namespace

Result<NodeNumber> History::resolve(const std::string& name, NodeNumber otherwise) const {
    if (name.empty()) return otherwise;
    if (name == "root") return head.root;
    if (name.size() > 1 && name.ends_with('^')) {
        TRY_ASSIGN(const NodeNumber node, resolve(name.substr(0, name.size() - 1), otherwise));
        const auto step = step_of(*this, node);
        return step ? step->since : node;
    }
    // No checkpoint is called like a node (workspace_nodes.cpp).
    if (const auto number = numbered(*this, name, 'n')) return *number;
    NodeNumber newest = 0;
    for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {
        if (node->name != name) continue;
        if (is_on_trunk(node->number)) return node->number;
        if (newest == 0) newest = node->number;
    }
    if (newest != 0) return newest;
    return Error(ErrorKind::kNotFound, ENOENT,
                 name + " is neither a state nor a checkpoint" + like(*this, name),
                 "`unwrite log --all` lists them");
}

}  // namespace unwrite::overlay
