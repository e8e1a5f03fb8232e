#include "overlay/history.h"

#include <algorithm>
#include <cerrno>
#include <charconv>

namespace unwrite::overlay {

using journal::Node;
using journal::NodeNumber;

Result<History> History::read(journal::Store& store) {
    History history;
    TRY_ASSIGN(history.head, store.head());
    TRY_ASSIGN(const auto nodes, store.nodes());
    for (const Node& node : nodes)
        history.nodes.emplace(node.number, node);
    return history;
}

Result<std::vector<Crossing>> History::path_to(NodeNumber target) const {
    if (!nodes.contains(target)) {
        return Error(ErrorKind::kNotFound, ENOENT,
                     "find node n" + std::to_string(target) + ": no such node",
                     "run `unwrite log --all` to see the nodes");
    }
    const auto above = [this](NodeNumber node) {
        std::vector<NodeNumber> chain;
        while (node != 0 && nodes.contains(node)) {
            chain.push_back(node);
            node = nodes.at(node).parent;
        }
        return chain;
    };
    const std::vector<NodeNumber> from = above(head.current);
    const std::vector<NodeNumber> to = above(target);
    std::size_t shared = 0;
    while (shared < from.size() && shared < to.size() &&
           from[from.size() - 1 - shared] == to[to.size() - 1 - shared])
        ++shared;
    std::vector<Crossing> path;
    path.push_back({0, head.open_delta, true, head.current});
    for (std::size_t i = 0; i + shared < from.size(); ++i) {
        const Node& node = nodes.at(from[i]);
        path.push_back({node.number, node.delta, true, node.parent});
    }
    for (std::size_t i = to.size() - shared; i > 0; --i) {
        const Node& node = nodes.at(to[i - 1]);
        path.push_back({node.number, node.delta, false, node.number});
    }
    return path;
}

std::vector<NodeNumber> History::trunk() const {
    std::vector<NodeNumber> chain;
    for (NodeNumber node = head.current; node != 0 && nodes.contains(node);
         node = nodes.at(node).parent)
        chain.push_back(node);
    std::reverse(chain.begin(), chain.end());
    return chain;
}

bool History::is_on_trunk(NodeNumber node) const {
    const auto chain = trunk();
    return std::find(chain.begin(), chain.end(), node) != chain.end();
}

bool History::is_above(NodeNumber node, NodeNumber other) const {
    while (other != node && other != 0 && nodes.contains(other))
        other = nodes.at(other).parent;
    return other == node && node != 0;
}

NodeNumber History::newest_checkpoint() const {
    const auto chain = trunk();
    for (auto node = chain.rbegin(); node != chain.rend(); ++node) {
        const Node& row = nodes.at(*node);
        if (row.kind == journal::NodeKind::kCheckpoint && row.open && !row.name.empty())
            return *node;
    }
    return head.root;
}

// The rest is what was sealed first.
bool History::is_divided(NodeNumber node, NodeNumber next) const {
    if (node == head.root || nodes.at(node).kind != journal::NodeKind::kTurn) return false;
    const auto rest = std::find_if(nodes.upper_bound(node), nodes.end(),
                                   [node](const auto& row) { return row.second.parent == node; });
    return next == (rest == nodes.end() ? 0 : rest->first);
}

NodeNumber History::before_turns(NodeNumber node, NodeNumber next) const {
    while (is_divided(node, next)) {
        next = node;
        node = nodes.at(node).parent;
    }
    return node;
}

Result<NodeNumber> History::resolve(const std::string& name, NodeNumber otherwise) const {
    if (name.empty()) return otherwise;
    if (name == "root") return head.root;
    for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {
        if (node->second.name == name && is_on_trunk(node->first)) return node->first;
    }
    for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {
        if (node->second.name == name) return node->first;
    }
    NodeNumber number = 0;
    const char* end = name.data() + name.size();
    if (name.size() > 1 && name[0] == 'n') {
        const auto parsed = std::from_chars(name.data() + 1, end, number);
        if (parsed.ec == std::errc() && parsed.ptr == end && nodes.contains(number)) return number;
    }
    return Error(ErrorKind::kNotFound, ENOENT,
                 "find " + name + ": no node or checkpoint of that name",
                 "run `unwrite log --all` to see the nodes");
}

}  // namespace unwrite::overlay
