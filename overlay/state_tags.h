// What `revert_to_state` keeps in the tree of states, as tags of nodes: requests that wait, what is
// to be remembered of an abandoned way, what was done, and which steps count as one.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "edit/revert_drain.h"
#include "overlay/operations.h"

namespace unwrite::overlay {

using journal::Node;
using journal::NodeNumber;
using journal::OriginNumber;

/// A tag of this kind is no user's.
bool is_state_tag(const std::string& key);

struct WaitingRevert {
    std::string key{};  ///< of the tag
    edit::RevertRequest request{};
    OriginNumber origin = 0;  ///< who asked
    bool for_agent = true;    ///< what the user changed is protected
    std::string cause{};      ///< Asker::cause
};
/// Requests wait with the root, in the order of their coming.
void add_waiting(Node& root, const WaitingRevert& waiting);
/// What cannot be read as one is passed over.
std::vector<WaitingRevert> waiting_of(const Node& root);
/// Those of `from` wait with `to` instead.
void move_waiting(const Node& from, Node& to);

void add_tag(Node& node, const edit::NodeTag& tag);
std::vector<edit::NodeTag> tags_of(const Node& node);
/// What a log or a status shows of all this.
struct StateNotes {
    std::map<NodeNumber, std::vector<std::string>> notes{};  ///< "[lesson] text"
    std::set<NodeNumber> squashed{};                         ///< part of a later step
};
StateNotes notes_of(const Log& log);

/// `event` as edit::encode_event() writes it; `cause` becomes its member "by".
void add_event(Node& node, const std::string& event, const std::string& cause);

/// The node counts as one step from `first` on (not included).
void set_squash(Node& node, NodeNumber first);
std::optional<NodeNumber> squash_of(const Node& node);

/// As the pure rules see them; who made a node is left for the caller to say.
std::vector<edit::TreeNode> tree_of(const journal::NodeTree& nodes);

}  // namespace unwrite::overlay
