#include "edit/revert_tree.h"

#include <algorithm>
#include <map>
#include <set>

namespace unwrite::edit {

void NodeNumbers::resume(NodeId largest) {
    next_ = std::max(next_, largest + 1);
}

std::vector<std::size_t> trunk_of(const std::vector<TreeNode>& log, std::optional<NodeId> active) {
    std::map<NodeId, std::size_t> places;
    for (std::size_t at = 0; at < log.size(); ++at)
        places.emplace(log[at].id, at);
    std::vector<std::size_t> trunk;
    if (!active || !places.contains(*active)) {
        for (std::size_t at = 0; at < log.size(); ++at)
            trunk.push_back(at);
        return trunk;
    }
    std::set<NodeId> passed;
    for (auto id = active; id && passed.insert(*id).second;) {
        const auto place = places.find(*id);
        if (place == places.end()) break;
        trunk.push_back(place->second);
        id = log[place->second].parent;
    }
    std::reverse(trunk.begin(), trunk.end());
    return trunk;
}

std::vector<ShownTag> shown_tags(const std::vector<TreeNode>& log,
                                 const std::vector<std::size_t>& trunk, std::uint64_t turn,
                                 const TagPolicy& policy) {
    std::vector<ShownTag> all;
    for (const std::size_t at : trunk) {
        for (const NodeTag& tag : log[at].tags)
            all.push_back({log[at].id, tag});
    }
    // The newest of each kind come first; of one turn, the later one on the trunk.
    std::vector<std::size_t> order(all.size());
    for (std::size_t i = 0; i < all.size(); ++i)
        order[i] = all.size() - 1 - i;
    std::stable_sort(order.begin(), order.end(), [&](std::size_t one, std::size_t other) {
        return all[one].tag.created_turn > all[other].tag.created_turn;
    });
    std::map<TagKind, std::size_t> counts;
    std::vector<bool> shown(all.size());
    for (const std::size_t i : order) {
        const NodeTag& tag = all[i].tag;
        const bool is_new = turn <= tag.created_turn || turn - tag.created_turn <= policy.turns;
        shown[i] = counts[tag.kind]++ < policy.newest || is_new || is_pinned(tag.kind);
    }
    std::vector<ShownTag> kept;
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (shown[i]) kept.push_back(std::move(all[i]));
    }
    return kept;
}

std::string rendered(NodeId id, std::string_view text) {
    return "[ID: " + node_text(id) + "] " + std::string(text);
}

std::string rendered(const NodeTag& tag) {
    return "   -> [" + std::string(name_of(tag.kind)) + "] " + tag.text;
}

}  // namespace unwrite::edit
