// The tree of nodes as reverts see it: which node follows which, what hangs on them, which of them
// a reader is shown. The log is append-only; a revert moves the active node and adds a tag.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "edit/revert_request.h"

namespace unwrite::edit {

struct NodeTag {
    TagKind kind = TagKind::kLesson;
    std::string text{};  ///< may be empty
    std::uint64_t created_turn = 0;
    std::vector<NodeId> abandoned{};
    bool operator==(const NodeTag&) const = default;
};

/// Who made a node; a revert never abandons what a user did.
enum class NodeMaker { kAgent, kUserMessage, kUserChange };

struct TreeNode {
    NodeId id = 0;
    std::optional<NodeId> parent{};
    NodeMaker maker = NodeMaker::kAgent;
    /// Why the files of this node cannot be taken back: content that is missing or damaged, a step
    /// over the size cap or not reversible, a denied path.
    std::optional<std::string> obstacle{};
    std::vector<NodeTag> tags{};
};

/// Hands out the numbers of nodes: from 0 on, each once, also after a restart. Not thread-safe.
class NodeNumbers {
 public:
    /// Numbers go on behind `largest`, the largest there is. Never goes back, so that it may be
    /// called again.
    void resume(NodeId largest);
    NodeId next() { return next_++; }

 private:
    NodeId next_ = 0;
};

/// The path to `active` along the parents, the oldest first, as indexes into `log`. It ends at a
/// parent that is not there and at one that was passed already. All of the log when `active` is
/// not in it.
std::vector<std::size_t> trunk_of(const std::vector<TreeNode>& log, std::optional<NodeId> active);

/// Which tags are shown: pinned ones always, others for `turns` turns and the newest `newest` of
/// each kind on the trunk.
struct TagPolicy {
    std::uint64_t turns = 5;
    std::size_t newest = 3;
};

struct ShownTag {
    NodeId node = 0;
    NodeTag tag{};
};

/// In the order of the trunk. Changes nothing that is stored.
std::vector<ShownTag> shown_tags(const std::vector<TreeNode>& log,
                                 const std::vector<std::size_t>& trunk, std::uint64_t turn,
                                 const TagPolicy& policy);

/// "[ID: n10] text"
std::string rendered(NodeId id, std::string_view text);
/// "   -> [lesson] text"
std::string rendered(const NodeTag& tag);

}  // namespace unwrite::edit
