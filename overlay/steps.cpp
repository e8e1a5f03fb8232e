#include "overlay/steps.h"

#include <algorithm>
#include <charconv>
#include <map>

#include "overlay/state_tags.h"

namespace unwrite::overlay {

namespace {

const std::string kPrefix = "step.";
const std::string kSince = kPrefix + "since";
const std::string kRun = kPrefix + "run";
const std::string kOnly = kPrefix + "only";  // of a run, although others changed things as well
const std::string kExcept = kPrefix + "except";
const std::string kIn = kPrefix + "in";
const std::string kUndoes = kPrefix + "undoes";
const std::string kPartly = kPrefix + "partly";

std::set<NodeNumber> numbers_in(const std::string& text) {
    std::set<NodeNumber> numbers;
    const char* at = text.data();
    const char* const end = at + text.size();
    while (at < end) {
        NodeNumber number = 0;
        const auto parsed = std::from_chars(at, end, number);
        if (parsed.ec != std::errc()) break;
        numbers.insert(number);
        at = parsed.ptr + (parsed.ptr < end ? 1 : 0);
    }
    return numbers;
}

std::set<NodeNumber> numbers_of(const Node& node, const std::string& key) {
    const auto found = node.tags.find(key);
    return found == node.tags.end() ? std::set<NodeNumber>() : numbers_in(found->second);
}

NodeNumber number_in(const Node& node, const std::string& key) {
    const auto numbers = numbers_of(node, key);
    return numbers.empty() ? 0 : *numbers.begin();
}

StepFilter filter_of(const Node& node) {
    return {number_in(node, kOnly), numbers_of(node, kExcept)};
}

bool reaches_above(const History& history, const Step& step, NodeNumber target) {
    for (NodeNumber edge = step.node; edge > step.since; edge = history.parent_of(edge)) {
        if (edge > target) return true;
    }
    return false;
}

}  // namespace

void set_step_tags(Node& node, const StepTags& tags) {
    const auto set = [&node](const std::string& key, NodeNumber number) {
        if (number != 0) node.tags[key] = std::to_string(number);
    };
    set(kSince, tags.since);
    set(kRun, tags.run);
    set(kIn, tags.in);
    set(kOnly, tags.filter.run);
    const auto set_all = [&node](const std::string& key, const std::set<NodeNumber>& numbers) {
        std::string text;
        for (const NodeNumber number : numbers)
            text += (text.empty() ? "" : " ") + std::to_string(number);
        if (!text.empty()) node.tags[key] = text;
    };
    set_all(kExcept, tags.filter.except);
    set_all(kUndoes, tags.undoes);
    if (tags.partly) node.tags[kPartly] = "1";
}

bool is_step_tag(const std::string& key) {
    return key.starts_with(kPrefix);
}

NodeNumber run_of_step(const Node& node) {
    return number_in(node, kRun);
}

namespace {

Step step_at(const History& history, const Node& node) {
    Step step;
    step.node = node.number;
    step.filter = filter_of(node);
    step.run = run_of_step(node);
    step.in = number_in(node, kIn);
    step.undoes = numbers_of(node, kUndoes);
    step.partly = node.tags.contains(kPartly);
    // What a damaged store says leads nowhere but up.
    NodeNumber since = number_in(node, kSince);
    if (const auto first = squash_of(node)) since = *first;
    const bool believed = since != 0 && since < step.node && history.is_above(since, step.node);
    step.since = believed ? since : history.before_hidden(history.parent_of(step.node), step.node);
    return step;
}

}  // namespace

std::optional<Step> step_of(const History& history, NodeNumber number) {
    const Node* const node = history.nodes.find(number);
    if (node == nullptr || node->parent == 0 || is_hidden(node->kind)) return std::nullopt;
    return step_at(history, *node);
}

std::vector<Step> steps_of(const History& history, NodeNumber tip, NodeNumber top,
                           const std::set<NodeNumber>& active) {
    std::vector<Step> steps;
    // Runs whose step was met, and where they began: what they made further up is nested.
    std::map<NodeNumber, NodeNumber> runs;
    std::set<NodeNumber> undone;
    NodeNumber next = 0;
    for (NodeNumber at = tip; at > top;) {
        const Node* const node = history.nodes.find(at);
        if (node == nullptr || node->parent == 0) break;
        const bool passed = is_hidden(node->kind) && history.goes_on(at, next);
        next = at;
        at = history.parent_of(at);
        if (passed) continue;
        Step step = step_at(history, *node);
        step.since = std::max(step.since, top);
        step.undone = undone.contains(step.node);
        if (!step.undone) undone.insert(step.undoes.begin(), step.undoes.end());
        const auto made_by = runs.find(step.in);
        step.nested = made_by != runs.end() && step.node > made_by->second;
        std::erase_if(step.filter.except,
                      [&](NodeNumber run) { return !runs.contains(run) && !active.contains(run); });
        if (step.run != 0) runs.emplace(step.run, step.since);
        if (squash_of(*node)) {
            at = std::min(at, step.since);
            next = 0;
        }
        steps.push_back(std::move(step));
    }
    return steps;
}

// Whoever went back behind a commit that kept the history is above the root.
std::vector<Step> steps_of(const History& history, const std::set<NodeNumber>& active) {
    const bool below = history.is_above(history.head.root, history.head.current);
    return steps_of(history, history.head.current, below ? history.head.root : 0, active);
}

std::vector<NodeNumber> edges_of(const History& history, const Step& step, NodeNumber tip) {
    std::vector<NodeNumber> edges;
    for (NodeNumber at = step.node == 0 ? tip : step.node; at > step.since;
         at = history.parent_of(at))
        edges.push_back(at);
    return edges;
}

bool is_clean_cut(const History& history, const std::set<NodeNumber>& active,
                  const std::vector<Step>& others, const std::vector<Step>& chosen) {
    if (chosen.empty()) return false;
    NodeNumber target = history.head.current;
    for (const Step& step : chosen)
        target = std::min(target, step.since);
    const auto stays = [&](const Step& step) {
        if (step.node == 0) return step.newest == 0 || step.newest > target;
        return reaches_above(history, step, target);
    };
    if (std::any_of(others.begin(), others.end(), stays)) return false;
    // What was taken back must not come again: its taking back would go, and it would stay.
    for (const Step& step : steps_of(history, active)) {
        if (step.undone || step.undoes.empty() || !reaches_above(history, step, target)) continue;
        if (step.partly) return false;  // what it left would go
        for (const NodeNumber undone : step.undoes) {
            const auto what = step_of(history, undone);
            if (!what || what->since < target) return false;
        }
    }
    return true;
}

}  // namespace unwrite::overlay
