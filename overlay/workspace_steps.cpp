#include <algorithm>
#include <array>

#include "overlay/workspace.h"

namespace unwrite::overlay {

using journal::Delta;
using journal::DeltaNumber;

namespace {

/// Beyond, nobody compares: something changed.
constexpr std::size_t kMostCompared = 64;
/// Of the marks of runs: nothing is to be done any more.
const std::string kEndedTag = "step.ended";

}  // namespace

Result<Workspace::Shares> Workspace::shares_of(const std::set<NodeNumber>& active,
                                               const std::vector<DeltaNumber>& deltas) {
    Shares shares;
    const auto add = [&](const std::set<OriginNumber>& origins) {
        if (origins.empty()) shares.unknown = true;
        for (const OriginNumber origin : origins) {
            const NodeNumber run = origins_->run_of_origin(origin);
            if (active.contains(run)) {
                shares.runs.insert(run);
            } else {
                (origin == 0 ? shares.unknown : shares.user) = true;
            }
        }
    };
    for (const DeltaNumber number : deltas) {
        if (is_empty_delta(number)) continue;
        TRY_ASSIGN(const Delta delta, journal_->read_delta(number));
        for (const auto& [at, state] : delta.names)
            add(state.origins);
        for (const auto& [key, image] : delta.objects) {
            // A directory's times follow from the names in it.
            if (image.size || !image.attributes || !S_ISDIR(image.attributes->mode))
                add(image.origins);
        }
    }
    return shares;
}

std::vector<DeltaNumber> Workspace::unlisted(const History& history) {
    std::vector<DeltaNumber> deltas = {head_.open_delta};
    const NodeNumber base = history.before_hidden(head_.current, 0);
    for (NodeNumber at = head_.current; at != base; at = history.parent_of(at))
        deltas.push_back(history.nodes.at(at).delta);
    return deltas;
}

Result<NodeNumber> Workspace::seal_either(const Seal& seal) {
    TRY_ASSIGN(const bool idle, is_idle());
    return idle && !capture_.interval_is_empty() ? seal_idle(seal) : this->seal(seal);
}

Result<NodeNumber> Workspace::seal_step(Seal seal) {
    const std::set<NodeNumber> active = origins_->active_runs();
    if (active.empty()) return seal_either(seal);
    TRY_ASSIGN(const History history, this->history());
    TRY_ASSIGN(const Shares shares, shares_of(active, unlisted(history)));
    const NodeNumber run = origins_->run_of_origin(seal.origin);
    if (!active.contains(run)) {
        seal.step.filter.except = shares.runs;
        return seal_either(seal);
    }
    seal.step.in = run;
    const bool alone = shares.runs.empty() || shares.runs == std::set<NodeNumber>{run};
    if (alone && !shares.others()) return seal_either(seal);
    seal.step.filter.run = run;
    if (shares.others()) {
        if (seal.step.since == 0) seal.step.since = history.before_hidden(head_.current, 0);
        Seal rest;
        rest.step.filter.except = shares.runs;
        TRY(seal_either(rest));
    }
    return seal_either(seal);
}

Result<> Workspace::close_step(OriginNumber origin, const std::string& cause) {
    TRY_ASSIGN(const bool changed, is_changed());
    if (!changed) return {};
    Seal seal;
    seal.cause = cause;
    const std::set<NodeNumber> active = origins_->active_runs();
    if (!active.empty()) {
        TRY_ASSIGN(const History history, this->history());
        TRY_ASSIGN(const Shares shares, shares_of(active, unlisted(history)));
        seal.step.filter.except = shares.runs;
        if (!shares.others()) {
            // It belongs to the steps of these runs, when they have ended.
            seal.kind = NodeKind::kBegin;
            seal.text = "handoff";
            seal.origin = origin;
            seal.step.filter = {};
        }
    }
    TRY(seal_either(seal));
    return {};
}

Result<NodeNumber> Workspace::mark_begin(const std::string& text, OriginNumber origin,
                                         const std::string& cause) {
    return seal_either({.kind = NodeKind::kBegin, .text = text, .origin = origin, .cause = cause});
}

Result<> Workspace::finish_run(NodeNumber run, const std::set<NodeNumber>& active) {
    TRY_ASSIGN(const History history, this->history());
    const Node* const mark = history.nodes.find(run);
    const NodeNumber since = begin_of(history, run);
    if (mark != nullptr) {
        journal::Store::Change ended;
        ended.update_nodes.push_back(*mark);
        ended.update_nodes.back().tags[kEndedTag] = "1";
        TRY(store_sealed(ended));
    }
    std::vector<DeltaNumber> deltas = {head_.open_delta};
    for (const NodeNumber edge : made_since(history, since))
        deltas.push_back(history.nodes.at(edge).delta);
    TRY_ASSIGN(const Shares all, shares_of(active, deltas));
    // Stores through a mapping are the run's where nobody else was there.
    const bool alone = !all.user && active.size() == 1 && (all.unknown || !all.runs.empty());
    if (!all.runs.contains(run) && !alone) return {};
    Seal seal;
    seal.kind = NodeKind::kRun;
    seal.step.since = since;
    seal.step.run = run;
    if (!alone && (all.others() || all.runs.size() > 1)) seal.step.filter.run = run;
    if (mark != nullptr) {
        seal.text = mark->text;
        seal.cause = mark->tags.contains(kCauseTag) ? mark->tags.at(kCauseTag) : "";
        if (const auto name = mark->tags.find("session"); name != mark->tags.end())
            seal.tags.insert(*name);
    }
    const auto own = origins_->of_run(run);
    if (!own.empty()) seal.origin = *own.begin();
    TRY_ASSIGN(const auto changes,
               inspector_.changes_of(Step{.since = since, .filter = seal.step.filter}));
    if (changes.empty()) return {};
    TRY_ASSIGN(const Shares open, shares_of(active, unlisted(history)));
    if (seal.step.filter.run != 0 && open.others()) {
        Seal rest;
        rest.step.filter.except = open.runs;
        TRY(seal_either(rest));
    }
    TRY(seal_either(seal));
    return {};
}

// Of a life that was interrupted: they have ended, whatever became of their processes.
Result<> Workspace::finish_interrupted_runs() {
    TRY_ASSIGN(const History history, this->history());
    std::set<NodeNumber> runs;
    for (NodeNumber at = head_.current; at > head_.root; at = history.parent_of(at)) {
        const Node& node = history.nodes.at(at);
        if (node.kind == NodeKind::kBegin && node.tags.contains("session") &&
            !node.tags.contains(kEndedTag))
            runs.insert(at);
    }
    // The newest ends first, as it most likely did.
    while (!runs.empty()) {
        const NodeNumber run = *runs.rbegin();
        TRY(finish_run(run, runs));
        runs.erase(run);
    }
    return {};
}

// What was made and removed again, and an index of git with the same entries, are no change. Of
// much nobody looks closer.
Result<bool> Workspace::is_changed() {
    TRY_ASSIGN(const bool idle, is_idle());
    if (idle) return false;
    TRY_ASSIGN(const Delta open,
               journal::read_delta(journal_->state_dir().deltas(), head_.open_delta));
    if (open.names.size() + open.objects.size() > kMostCompared) return true;
    locator_.begin();
    TRY_ASSIGN(const auto changes, inspector_.changes_of(Step{.since = head_.current}));
    return !changes.empty();
}

Result<bool> Workspace::has_effect(const History& history, const Step& step,
                                   Inspector::StepReader& reader) {
    std::size_t rows = 0;
    for (const NodeNumber edge : edges_of(history, step, head_.current)) {
        const DeltaNumber number = history.nodes.at(edge).delta;
        if (is_empty_delta(number)) continue;
        TRY_ASSIGN(const Delta delta, journal_->read_delta(number));
        rows += delta.names.size() + delta.objects.size();
        if (rows > kMostCompared && step.filter.takes_all()) return true;
    }
    if (rows == 0) return false;
    // An undo, rollback or restore said that it was done, so `undo` takes that back, even where no
    // file looks different.
    const Node* const node = history.nodes.find(step.node);
    if (node != nullptr && node->kind == NodeKind::kUndo) return true;
    TRY_ASSIGN(const auto changes, reader.changes_of(step));
    return !changes.empty();
}

// The edges down to `since`, the newest first, but for those on which something was taken back.
std::vector<NodeNumber> Workspace::made_since(const History& history, NodeNumber since) {
    std::vector<NodeNumber> edges;
    for (NodeNumber at = head_.current; at > since; at = history.parent_of(at)) {
        if (history.nodes.at(at).kind != NodeKind::kUndo) edges.push_back(at);
    }
    return edges;
}

NodeNumber Workspace::begin_of(const History& history, NodeNumber run) {
    NodeNumber since = history.nodes.contains(run) ? run : history.head.root;
    while (!history.is_above(since, history.head.current) && since != 0)
        since = history.parent_of(since);
    // What a commit or a new task kept is no step's any more.
    const NodeNumber root = history.head.root;
    return history.is_above(root, history.head.current) ? std::max(since, root) : since;
}

NodeNumber Workspace::newest_step_in(const History& history, NodeNumber run) {
    for (const Step& step : steps_of(history, origins_->active_runs())) {
        const OriginNumber origin = history.nodes.at(step.node).origin;
        if (step.in == run || origins_->run_of_origin(origin) == run) return step.node;
    }
    return 0;
}

// Where what an active run had changed so far was last taken back; 0: it was not.
NodeNumber Workspace::taken_back_at(const History& history, NodeNumber run) {
    for (const Step& step : steps_of(history, origins_->active_runs())) {
        if (!step.undone && step.undoes.contains(run)) return step.node;
    }
    return 0;
}

// Where runs are active, each has a step of its own, and so have the others.
Result<std::vector<Step>> Workspace::open_steps(const History& history, NodeNumber asking) {
    const NodeNumber base = history.before_hidden(head_.current, 0);
    const std::set<NodeNumber> active = origins_->active_runs();
    std::vector<Step> steps;
    TRY_ASSIGN(const bool changed, is_changed());
    if (active.empty()) {
        const Step open{.since = base};
        bool any = changed;
        if (!any && base != head_.current) {
            Inspector::StepReader reader(inspector_);
            TRY_ASSIGN(any, has_effect(history, open, reader));
        }
        if (any) steps.push_back(open);
        return steps;
    }
    NodeNumber top = base;
    for (const NodeNumber run : active)
        top = std::min(top, begin_of(history, run));
    // Who has changed something in which edge; 0: the open interval.
    std::vector<std::pair<NodeNumber, Shares>> shares;
    if (changed) {
        TRY_ASSIGN(Shares open, shares_of(active, {head_.open_delta}));
        shares.emplace_back(0, std::move(open));
    }
    for (const NodeNumber edge : made_since(history, top)) {
        TRY_ASSIGN(Shares its, shares_of(active, {history.nodes.at(edge).delta}));
        shares.emplace_back(edge, std::move(its));
    }
    // Of what is as new as the other the user's own is the newest.
    const auto others = std::find_if(shares.begin(), shares.end(), [&](const auto& share) {
        return (share.first == 0 || share.first > base) && share.second.others();
    });
    if (others != shares.end())
        steps.push_back({.since = base, .filter = {0, active}, .newest = others->first});
    for (const NodeNumber run : active) {
        NodeNumber since = std::max(begin_of(history, run), taken_back_at(history, run));
        if (run == asking) since = std::max(since, newest_step_in(history, run));
        bool alone = active.size() == 1;
        std::optional<NodeNumber> newest;
        for (const auto& [edge, its] : shares) {
            if (edge != 0 && edge <= since) continue;
            alone = alone && !its.user;
            if (!newest && its.runs.contains(run)) newest = edge;
        }
        for (const auto& [edge, its] : shares) {
            if (alone && !newest && its.unknown && (edge == 0 || edge > since)) newest = edge;
        }
        if (!newest) continue;
        steps.push_back(
            {.since = since, .filter = {alone ? 0 : run, {}}, .run = run, .newest = *newest});
    }
    // What nobody is known to have stored is the only run's.
    const bool taken = std::any_of(steps.begin(), steps.end(),
                                   [](const Step& step) { return step.filter.takes_all(); });
    if (taken) std::erase_if(steps, [](const Step& step) { return step.run == 0; });
    const auto recent = [](const Step& step) {
        return step.newest == 0 ? std::numeric_limits<NodeNumber>::max() : step.newest;
    };
    std::stable_sort(steps.begin(), steps.end(), [&](const Step& one, const Step& other) {
        return recent(one) > recent(other);
    });
    return steps;
}

// An active run that asks sees its own steps one by one.
Result<std::vector<Step>> Workspace::undoable(const History& history, std::size_t most,
                                              NodeNumber asking, bool own_only) {
    TRY_ASSIGN(const std::vector<Step> open, open_steps(history, asking));
    const std::set<NodeNumber> active = origins_->active_runs();
    std::vector<Step> steps;
    auto next = open.begin();
    NodeNumber reach = head_.current;
    Inspector::StepReader reader(inspector_);
    const auto is_own = [&](const Step& step) {
        const Node* const node = history.nodes.find(step.node);
        // What was taken back comes again by redo.
        if (node != nullptr && node->kind == NodeKind::kUndo) return false;
        const NodeNumber maker = node != nullptr ? origins_->run_of_origin(node->origin) : 0;
        const std::array<NodeNumber, 3> runs = {step.run, step.in, maker};
        return std::any_of(runs.begin(), runs.end(), [&](NodeNumber run) {
            return run != 0 && origins_->are_kin(run, asking);
        });
    };
    const auto add = [&](const Step& step) {
        if (own_only && !is_own(step)) return;
        if (steps.size() < most) reach = std::min(reach, step.since);
        steps.push_back(step);
    };
    for (const Step& step : steps_of(history, active)) {
        while (next != open.end() && (next->newest == 0 || next->newest > step.node))
            add(*next++);
        if (!step.counts() || (step.in != asking && active.contains(step.in))) continue;
        if (steps.size() >= most && step.node <= reach) break;
        TRY_ASSIGN(const bool effect, has_effect(history, step, reader));
        if (effect) add(step);
    }
    while (next != open.end())
        add(*next++);
    return steps;
}

RevertPart Workspace::part_of(const History& history, const Step& step) {
    RevertPart part;
    const auto edges =
        step.node == 0 ? made_since(history, step.since) : edges_of(history, step, head_.current);
    for (const NodeNumber edge : edges) {
        const bool back = edge != step.node && history.nodes.at(edge).kind == NodeKind::kUndo;
        if (!back) part.deltas.insert(history.nodes.at(edge).delta);
    }
    if (step.node == 0) part.deltas.insert(head_.open_delta);
    part.except = step.filter.except;
    if (step.filter.run != 0) {
        part.origins = origins_->of_run(step.filter.run);
        // Of nobody is not of everybody.
        if (part.origins.empty()) part.deltas = {0};
    }
    if (part.deltas.empty()) part.deltas = {0};
    return part;
}

}  // namespace unwrite::overlay
