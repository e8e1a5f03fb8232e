// Carrying revert requests out, between two turns: each is judged by the tree that the one before
// it has left, and each gives exactly one event.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "edit/revert_tree.h"

namespace unwrite::edit {

/// What a request that is allowed does to the tree and the files.
struct Revert {
    RevertCategory category = RevertCategory::kFailure;
    NodeId target = 0;
    std::vector<NodeId> abandoned{};  ///< all after the target, in the order of the log
    bool restores_files = false;      ///< else the steps after the target are squashed
    NodeTag tag{};                    ///< to be added to the target
};

/// The tree that is reverted.
class RevertTree {
 public:
    virtual ~RevertTree() = default;
    /// Every node there ever was, in the order of its making, abandoned ones too.
    virtual std::vector<TreeNode> log() = 0;
    /// The node that was last committed; what is older cannot be gone back to.
    virtual std::optional<NodeId> committed() = 0;
    virtual std::uint64_t turn() = 0;
    /// Makes the target the active node, restores the files if so asked, adds the tag: all of it
    /// or nothing. An error's message is the reason.
    virtual Result<> apply(const Revert& revert) = 0;
};

/// The end of one request.
struct RevertEvent {
    RevertCategory category = RevertCategory::kFailure;
    std::optional<NodeId> target{};   ///< nothing when refused
    std::vector<NodeId> abandoned{};  ///< empty when refused
    std::optional<std::string> summary{};
    bool applied = false;
    std::optional<std::string> reason{};  ///< when refused
    std::int64_t time_ms = 0;             ///< since 1970
};

/// What the request would do, or why it is refused (kRefused; kNotFound for an unknown target):
///  revert target n99 not found in message history
///  revert refused: abandoned span contains a user message; auto-rebase is not implemented in 0.8.0
///  revert refused: abandoned span contains a change by the user (n12)
///  revert refused: n3 is older than the last commit
///  revert refused: n12: <obstacle>, when files would be restored
/// Abandoned nodes and the newest one are legal targets.
Result<Revert> judge(const RevertRequest& request, RevertTree& tree);

/// In the order of submission.
std::vector<RevertEvent> drain(const std::vector<RevertRequest>& requests, RevertTree& tree,
                               std::int64_t now_ms);

/// One JSON object: category, target, abandoned_node_ids, summary, applied, reason, timestamp.
std::string encode_event(const RevertEvent& event);
/// What is kept with the node: category, target, abandoned_node_ids, summary.
std::string encode_record(const RevertEvent& event);

}  // namespace unwrite::edit
