// History: paths in the tree of states. A move from the live state to a node crosses edges, each
// with its delta: first the open interval's, then up to the common ancestor, then down.
#pragma once

#include <vector>

#include "journal/store.h"

namespace unwrite::overlay {

struct Crossing {
    journal::NodeNumber edge =
        0;  ///< the child node whose edge to its parent is crossed; 0: the open interval
    journal::DeltaNumber delta = 0;  ///< its images are of the side that is reached
    bool up = true;
    journal::NodeNumber reached = 0;  ///< the node after the crossing
};

/// A node that ends no step: it only keeps sessions apart, or marks a beginning (steps.h).
inline bool is_hidden(journal::NodeKind kind) {
    return kind == journal::NodeKind::kTurn || kind == journal::NodeKind::kBegin;
}

/// The nodes by number, and the head, as the store had them at one moment. A node's parent has a
/// lower number than the node; what a damaged store says otherwise leads nowhere.
struct History {
    journal::Head head;
    journal::NodeTree nodes;

    /// `store` is that of the one writer.
    static Result<History> read(journal::Store& store);

    /// What must be crossed to reach `target` from the live state. kNotFound when there is no such
    /// node.
    Result<std::vector<Crossing>> path_to(journal::NodeNumber target) const;
    /// 0 when there is none.
    journal::NodeNumber parent_of(journal::NodeNumber node) const;
    /// From the root down to `head.current`.
    std::vector<journal::NodeNumber> trunk() const;
    bool is_on_trunk(journal::NodeNumber node) const;
    /// `node` is `other`, or on the way from the root to it.
    bool is_above(journal::NodeNumber node, journal::NodeNumber other) const;
    /// `node` divides a step between sessions (turns.h), and what leads on to `next` (0: what is
    /// not sealed yet) is the rest of it; what was done after going back to `node` is not.
    bool is_divided(journal::NodeNumber node, journal::NodeNumber next) const;
    /// The node at which the step began that leads from `node` to `next`: `node`, unless it is
    /// hidden and `next` (0: what is not sealed yet) goes on with it.
    journal::NodeNumber before_hidden(journal::NodeNumber node, journal::NodeNumber next) const;
    /// A node as people name it: "n12", "root", a checkpoint's name (newest on the trunk, else
    /// newest anywhere), "" as `otherwise`; with "^" the state before the step that led to it.
    Result<journal::NodeNumber> resolve(const std::string& name,
                                        journal::NodeNumber otherwise) const;
    /// The newest open checkpoint on the trunk since the root; 0 when there is none.
    journal::NodeNumber newest_checkpoint(bool named) const;

    /// `next` (0: what is not sealed yet) is what was sealed first after `node`.
    bool goes_on(journal::NodeNumber node, journal::NodeNumber next) const;
};

}  // namespace unwrite::overlay
