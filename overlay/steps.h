// Steps: what a line of `log` stands for, and so what `undo`, `undo nK`, `diff nK` and
// `log --changes` speak of. A node is a state and the step that led to it, as a commit is in git.
//
// Most steps are all that changed between two nodes. Where sessions worked at the same time, their
// steps share deltas and are told apart by origin: the step of a run has what that run changed, and
// a step of the others (the user, what an ended run left) leaves out the runs that were going on.
// Every change belongs to exactly one step that is listed and not nested.
//
// Nodes that only keep sessions apart (kTurn), or mark where a run or an edit began (kBegin), are
// hidden: their changes belong to the next step.
//
// Pure functions over a History; what a node says of its step is in its tags.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "overlay/history.h"
#include "overlay/origins.h"

namespace unwrite::overlay {

using journal::Node;
using journal::NodeNumber;

/// Whose changes a step has.
struct StepFilter {
    NodeNumber run = 0;             ///< only this run's; 0: see `except`
    std::set<NodeNumber> except{};  ///< all but these runs'; empty: everything

    bool takes_all() const { return run == 0 && except.empty(); }
    bool takes(NodeNumber run_of_change) const {
        return run != 0 ? run_of_change == run : !except.contains(run_of_change);
    }
};

struct Step {
    NodeNumber node = 0;   ///< 0: what is open
    NodeNumber since = 0;  ///< the state before it: its changes are between the two
    StepFilter filter{};
    NodeNumber run = 0;   ///< of a run's own step: which run
    NodeNumber in = 0;    ///< made by this run
    bool nested = false;  ///< and that run has a step of its own, which has these changes too
    std::set<NodeNumber> undoes{};  ///< the steps that it took back, by their nodes
    bool undone = false;            ///< another step took it back
    bool partly = false;            ///< of what it undoes it left something
    NodeNumber newest = 0;  ///< node 0: the newest edge with its changes; 0: the open interval

    /// It counts for `undo`: it is neither part of another, nor taken back, nor a taking back.
    bool counts() const { return !nested && !undone && undoes.empty(); }
};

/// What is said of a step when its node is made.
struct StepTags {
    NodeNumber since = 0;  ///< 0: where the step before ended
    StepFilter filter{};
    NodeNumber run = 0;  ///< the step of this run
    NodeNumber in = 0;   ///< made by this run
    std::set<NodeNumber> undoes{};
    bool partly = false;
};
void set_step_tags(Node& node, const StepTags& tags);
/// A tag of this kind is no user's.
bool is_step_tag(const std::string& key);

/// The run that this node is the step of; 0: of none.
NodeNumber run_of_step(const Node& node);

/// The steps on the way from `tip` up to `top` (which ends the oldest one), the newest first. No
/// other node is a step: what was squashed, and a hidden one, unless somebody went back to it, so
/// that its changes belong to no other step on this way. `active`: runs that have not ended; what
/// a run changed that has ended and has no step on this way belongs to the others' steps.
std::vector<Step> steps_of(const History& history, NodeNumber tip, NodeNumber top,
                           const std::set<NodeNumber>& active);
/// Those of the live state, since the root; without what is open.
std::vector<Step> steps_of(const History& history, const std::set<NodeNumber>& active);
/// The step of any node, also of an abandoned one; nothing when it is none.
std::optional<Step> step_of(const History& history, NodeNumber node);

/// The edges between `step.since` and its node, as nodes; the newest first. `tip`: as in steps_of.
std::vector<NodeNumber> edges_of(const History& history, const Step& step, NodeNumber tip);

/// True when going back to `chosen`'s oldest `since` takes back `chosen` and nothing else.
/// `others`: the other steps of node 0, and those that changed something and count.
bool is_clean_cut(const History& history, const std::set<NodeNumber>& active,
                  const std::vector<Step>& others, const std::vector<Step>& chosen);

}  // namespace unwrite::overlay
