// undo and redo: which steps, and how. Where the steps to be taken back are all that changed since
// a node, the live state moves there; else they are taken out of it and the rest is kept.
#include <algorithm>
#include <cerrno>
#include <charconv>

#include "overlay/closing.h"
#include "overlay/redo_plan.h"
#include "overlay/workspace.h"

namespace unwrite::overlay {

namespace {

std::string name_of(NodeNumber node) {
    return "n" + std::to_string(node);
}

std::optional<NodeNumber> node_number(const std::string& text) {
    NodeNumber number = 0;
    const char* const end = text.data() + text.size();
    if (text.size() < 2 || text[0] != 'n') return std::nullopt;
    const auto parsed = std::from_chars(text.data() + 1, end, number);
    if (parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
    return number;
}

NodeNumber number_tag(const Node& node, const std::string& key) {
    const auto found = node.tags.find(key);
    return found == node.tags.end() ? 0 : node_number("n" + found->second).value_or(0);
}

Error nothing_to_redo() {
    return Error(ErrorKind::kNothing, ENOENT, "there is nothing to redo");
}

// Why `undo` does not take the node: log lists it, but not as a step of this task.
Error no_step_of_the_task(const History& history, NodeNumber number, const std::string& undo) {
    if (number < history.head.root && history.is_on_trunk(number))
        return Error(ErrorKind::kUsage, EINVAL, undo + ": it belongs to an earlier task",
                     "`unwrite rollback " + name_of(number) + "` returns to it");
    return Error(ErrorKind::kUsage, EINVAL,
                 undo + ": it is not a step between the beginning of the task and now",
                 "`unwrite log` lists the steps");
}

}  // namespace

// A node's step, or nothing where `what` is the name of a session.
Result<std::optional<Step>> Workspace::step_called(const std::string& what) {
    const auto number = node_number(what);
    TRY_ASSIGN(const History history, this->history());
    if (!number) {
        if (!origins_->of_session(what).empty() || what.starts_with(':'))
            return std::optional<Step>();
        const auto named = history.resolve(what, 0);
        if (!named) {
            return Error(ErrorKind::kNotFound, ENOENT,
                         "undo " + what + ": there is no step and no session of this name",
                         "`unwrite log` lists the steps");
        }
        return Error(ErrorKind::kUsage, EINVAL,
                     "undo " + what + ": this is a checkpoint, not a step or a session",
                     "`unwrite rollback " + what +
                         "` goes back to it; the step that led to it is " + name_of(*named));
    }
    const Node* const node = history.nodes.find(*number);
    if (node == nullptr)
        return Error(ErrorKind::kNotFound, ENOENT, "undo " + what + ": there is no such step",
                     "`unwrite log` lists the steps");
    if (node->kind == NodeKind::kBegin && node->tags.contains("session")) {
        // Where a run began stands for it while it goes on.
        for (const Step& step : steps_of(history, origins_->active_runs())) {
            if (step.run != *number) continue;
            return Error(ErrorKind::kUsage, EINVAL,
                         "undo " + what + ": a run began here; its step is " + name_of(step.node),
                         "`unwrite undo " + name_of(step.node) + "` takes it back");
        }
        const auto own = origins_->of_run(*number);
        if (own.empty())
            return Error(ErrorKind::kNothing, ENOENT, "undo " + what + ": the run changed nothing");
        return std::optional(
            Step{.since = begin_of(history, *number), .filter = {*number, {}}, .run = *number});
    }
    // As log lists it, and no further up than the task.
    const auto steps = steps_of(history, origins_->active_runs());
    const auto step = std::find_if(steps.begin(), steps.end(),
                                   [&](const Step& one) { return one.node == *number; });
    if (step == steps.end()) return no_step_of_the_task(history, *number, "undo " + what);
    const auto undone_by = std::find_if(steps.begin(), steps.end(), [&](const Step& one) {
        return !one.undone && !one.partly && one.undoes.contains(*number);
    });
    if (undone_by != steps.end()) {
        const std::string by = name_of(undone_by->node);
        return Error(ErrorKind::kNothing, ENOENT,
                     "undo " + what + ": " + by + " has undone it already",
                     "`unwrite undo " + by + "` brings it back");
    }
    return std::optional(*step);
}

Result<Moved> Workspace::take_back(const Asker& asker, const std::vector<Step>& chosen,
                                   const std::string& text, Consent consent, Extent extent) {
    NodeNumber target = 0;
    {
        const std::lock_guard lock(operation_mutex_);
        TRY_ASSIGN(const History history, this->history());
        TRY_ASSIGN(auto others, undoable(history, chosen.size(), run_asking(asker)));
        std::erase_if(others, [&](const Step& step) {
            return std::any_of(chosen.begin(), chosen.end(), [&](const Step& one) {
                return one.node == step.node && one.run == step.run;
            });
        });
        NodeNumber since = history.head.current;
        for (const Step& step : chosen)
            since = std::min(since, step.since);
        if (is_clean_cut(history, origins_->active_runs(), others, chosen)) target = since;
    }
    if (target != 0) return move(asker, target, consent, /*refuse_behind=*/true);
    Closing closing(operation_mutex_, gate_, tree_, restorer_);
    TRY(closing.refuse_if_unable("undo", 3));
    locator_.begin();
    TRY_ASSIGN(const History history, this->history());
    RevertSelection selection{.partly = extent == Extent::kPartly};
    Record record{.text = text};
    for (const Step& step : chosen) {
        selection.parts.push_back(part_of(history, step));
        if (step.node != 0) record.undoes.insert(step.node);
        if (step.node == 0 && step.run != 0) record.undoes.insert(step.run);
        if (step.node == 0 && step.run == 0) record.undoes_open = true;
    }
    auto done = revert_parts(asker, selection, record, consent);
    if (!done && done.error().kind() == ErrorKind::kNothing)
        return Error(ErrorKind::kNothing, ENOENT,
                     text + ": nothing that it changed can still be taken back");
    return done;
}

NodeNumber Workspace::run_asking(const Asker& asker) {
    const NodeNumber run = origins_->run_of_origin(origin_of(asker));
    return origins_->active_runs().contains(run) ? run : 0;
}

// The steps of a session's runs, those that have ended.
std::set<NodeNumber> Workspace::steps_of_session(const std::string& session) {
    std::set<NodeNumber> steps;
    std::set<NodeNumber> runs;
    for (const Origin& origin : origins_->rows(origins_->of_session(session)))
        runs.insert(origin.step);
    const auto history = this->history();
    if (!history) return steps;
    for (const Step& step : overlay::steps_of(*history, origins_->active_runs())) {
        if (step.run != 0 && runs.contains(step.run)) steps.insert(step.node);
    }
    return steps;
}

Result<Moved> Workspace::undo(const Asker& asker, unsigned count, Consent consent) {
    const std::size_t wanted = std::max(count, 1U);
    // An agent takes back its own steps; those of others that came later stay.
    const NodeNumber asking = run_asking(asker);
    std::vector<Step> steps;
    {
        const std::lock_guard lock(operation_mutex_);
        TRY_ASSIGN(const History history, this->history());
        TRY_ASSIGN(steps, undoable(history, wanted, asking, asking != 0));
    }
    if (steps.empty() && asking != 0)
        return Error(ErrorKind::kNothing, ENOENT,
                     "there is nothing to undo: this agent has changed nothing since the task "
                     "began");
    if (steps.empty())
        return Error(ErrorKind::kNothing, ENOENT,
                     "there is nothing to undo: nothing has changed since the task began");
    if (steps.size() < wanted) {
        const std::string there = std::to_string(steps.size());
        const std::string whose = asking != 0 ? " of this agent" : "";
        return Error(ErrorKind::kNotFound, ENOENT,
                     "undo " + std::to_string(wanted) + ": there " +
                         (steps.size() == 1 ? "is only 1 step" : "are only " + there + " steps") +
                         whose + " since the task began",
                     "`unwrite undo " + there + "` takes " +
                         (steps.size() == 1 ? "it" : "them all") +
                         " back, `unwrite log` lists the steps");
    }
    steps.resize(wanted);
    return take_back(asker, steps, wanted == 1 ? "undo" : "undo " + std::to_string(wanted), consent,
                     Extent::kWhole);
}

struct Workspace::Redo {
    NodeNumber target = 0;  ///< where the live state moves to; 0: `edges` are crossed again
    std::vector<journal::DeltaNumber> edges{};  ///< in this order
    std::vector<journal::DeltaNumber> later{};  ///< what came since, the oldest first
    Record record{};
};

// Where nothing but hidden nodes came since, the live state moves; else what went is taken back as
// a step would be. operation_mutex_ held.
Result<Workspace::Redo> Workspace::plan_redo(const History& history) {
    const NodeNumber tip = history.head.redo_tip;
    const Node* const last = history.nodes.find(tip);
    if (last == nullptr || last->parent == 0) return nothing_to_redo();
    TRY_ASSIGN(const bool changed, is_changed());
    Redo redo;
    const bool is_record = history.is_on_trunk(tip);
    const NodeNumber then = number_tag(*last, is_record ? kThenTag : kLeftThenTag);
    redo.record.redo_tip = history.nodes.contains(then) ? then : 0;
    if (is_record) {
        // A revert is a step like any other.
        if (last->kind != NodeKind::kUndo || tip <= history.head.root) return nothing_to_redo();
        if (tip == history.head.current && !changed) {
            redo.target = last->parent;
            return redo;
        }
        redo.edges = {last->delta};
        for (NodeNumber at = history.head.current; at > tip; at = history.parent_of(at))
            redo.later.push_back(history.nodes.at(at).delta);
        std::reverse(redo.later.begin(), redo.later.end());
        redo.record.text = "redo of " + name_of(tip);
        redo.record.undoes = {tip};
        return redo;
    }
    NodeNumber went = number_tag(*last, kWentTag);
    if (!history.nodes.contains(went)) went = last->parent;
    TRY_ASSIGN(const auto way, history.path_to(tip));
    bool plain = !changed;
    NodeNumber at = history.head.current;
    for (const Crossing& crossing : way) {
        if (at == went && crossing.edge != 0) {
            redo.edges.push_back(crossing.delta);
            went = crossing.reached;
        } else if (crossing.edge != 0) {
            plain = plain && is_hidden(history.nodes.at(crossing.edge).kind);
            redo.later.push_back(crossing.delta);
        }
        at = crossing.reached;
    }
    std::reverse(redo.later.begin(), redo.later.end());
    if (redo.edges.empty()) return nothing_to_redo();
    if (plain) redo.target = tip;
    redo.record.text = "redo";
    return redo;
}

Result<> Workspace::cross_edge_again(const Asker& asker, const LayerPtr& layer,
                                     const LaterChanges& later, const Record& record,
                                     Consent consent, Moved& moved) {
    TRY_ASSIGN(const RevertPlan plan, plan_again(layer, later, locator_));
    if (plan.empty() && plan.conflicts.empty() && record.hidden) return {};
    if (consent != Consent::kAll && plan.conflicts.empty()) {
        const auto changes = changes_of(plan, locator_);
        moved.changes.insert(moved.changes.end(), changes.begin(), changes.end());
        return {};
    }
    TRY_ASSIGN(const Moved once, carry_out(asker, plan, record, consent != Consent::kAll));
    moved.to = once.to;
    moved.changes.insert(moved.changes.end(), once.changes.begin(), once.changes.end());
    locator_.begin();
    return {};
}

// Of several edges recovery finishes none, or all have been crossed.
Result<Moved> Workspace::cross_again(const Asker& asker, const Redo& redo, Consent consent) {
    TRY(close_step(0, asker.cause));
    if (!capture_.interval_is_empty())
        TRY(seal({.kind = NodeKind::kBegin, .text = "before: " + redo.record.text}));
    const NodeNumber start = head_.current;
    const NodeNumber tip = head_.redo_tip;
    TRY_ASSIGN(const History before, this->history());
    // With what was open until now.
    std::vector<journal::DeltaNumber> deltas = redo.later;
    if (const auto sealed = before.nodes.at(start).delta;
        sealed != 0 && std::find(deltas.begin(), deltas.end(), sealed) == deltas.end() &&
        std::find(redo.edges.begin(), redo.edges.end(), sealed) == redo.edges.end())
        deltas.push_back(sealed);
    Layers layers(*journal_);
    TRY_ASSIGN(const LaterChanges later, LaterChanges::read(layers, deltas, locator_));
    Moved moved;
    const Result<> crossed = [&]() -> Result<> {
        for (const journal::DeltaNumber edge : redo.edges) {
            TRY_ASSIGN(const LayerPtr layer, layers.read(edge));
            Record record = redo.record;
            record.since = start;
            record.hidden = edge != redo.edges.back();
            record.is_part = redo.edges.size() > 1;
            TRY(cross_edge_again(asker, layer, later, record, consent, moved));
        }
        return {};
    }();
    if (!crossed) {
        if (head_.current != start && !gate_.wounded()) TRY(go_to(start, tip, Late::kStays));
        return crossed.error();
    }
    name_owners(moved, origin_of(asker));
    if (consent == Consent::kOwn && moved.others.empty())
        return cross_again(asker, redo, Consent::kAll);
    moved.from = consent == Consent::kAll ? start : 0;
    return moved;
}

Result<Moved> Workspace::redo_once(const Asker& asker, Consent consent) {
    Redo redo;
    {
        const std::lock_guard lock(operation_mutex_);
        TRY_ASSIGN(const History history, this->history());
        TRY_ASSIGN(redo, plan_redo(history));
    }
    if (redo.target != 0) return move(asker, redo.target, consent, true, redo.record.redo_tip);
    Closing closing(operation_mutex_, gate_, tree_, restorer_);
    TRY(closing.refuse_if_unable("redo", 3));
    locator_.begin();
    return cross_again(asker, redo, consent);
}

// Of the chain as many as lead from state to state with nothing else in between are one move.
Result<Workspace::RedoWay> Workspace::redo_way(const History& history, unsigned count) {
    RedoWay way{.target = history.head.current, .tip = history.head.redo_tip};
    TRY_ASSIGN(const bool changed, is_changed());
    way.is_plain = !changed;
    NodeNumber tip = way.tip;
    NodeNumber live = way.target;
    for (; way.count < count; ++way.count) {
        const Node* const entry = history.nodes.find(tip);
        if (entry == nullptr || entry->parent == 0) break;
        const bool is_record = history.is_above(tip, live);
        if (is_record && (entry->kind != NodeKind::kUndo || tip <= history.head.root)) break;
        NodeNumber from = is_record ? tip : number_tag(*entry, kWentTag);
        if (!history.nodes.contains(from)) from = entry->parent;
        NodeNumber at = live;
        while (at > from && is_hidden(history.nodes.at(at).kind))
            at = history.parent_of(at);
        way.is_plain = way.is_plain && at == from;
        live = is_record ? entry->parent : tip;
        tip = number_tag(*entry, is_record ? kThenTag : kLeftThenTag);
    }
    way.target = live;
    way.tip_after = history.nodes.contains(tip) ? tip : 0;
    return way;
}

Result<Moved> Workspace::redo(const Asker& asker, unsigned count, Consent consent) {
    RedoWay way;
    {
        const std::lock_guard lock(operation_mutex_);
        TRY_ASSIGN(const History history, this->history());
        TRY_ASSIGN(way, redo_way(history, std::max(count, 1U)));
    }
    if (way.count == 0) return nothing_to_redo();
    if (way.is_plain) return move(asker, way.target, consent, true, way.tip_after);
    TRY_ASSIGN(Moved moved, redo_once(asker, consent));
    // Of several only the first one can be told before it is done.
    for (unsigned i = 1; i < way.count && moved.from != 0; ++i) {
        const auto once = redo_once(asker, Consent::kAll);
        if (!once) {
            TRY(move(asker, moved.from, Consent::kAll, false, way.tip));
            return once.error();
        }
        moved.to = once->to;
        moved.changes.insert(moved.changes.end(), once->changes.begin(), once->changes.end());
        moved.others.insert(moved.others.end(), once->others.begin(), once->others.end());
    }
    return moved;
}

}  // namespace unwrite::overlay
