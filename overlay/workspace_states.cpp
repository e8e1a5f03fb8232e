// revert_to_state: requests are only noted; they are carried out later, one after the other, each
// judged by the tree that the one before it has left.
#include <algorithm>
#include <cerrno>

#include "base/clock.h"
#include "base/crash_point.h"
#include "edit/text_safety.h"
#include "overlay/closing.h"
#include "overlay/state_tags.h"
#include "overlay/workspace.h"

namespace unwrite::overlay {

namespace {

/// Requests that may wait at once.
constexpr std::size_t kMostWaiting = 64;

std::set<OriginNumber> origins_in(const journal::Delta& delta) {
    std::set<OriginNumber> origins;
    for (const auto& [at, state] : delta.names)
        origins.insert(state.origins.begin(), state.origins.end());
    for (const auto& [key, image] : delta.objects)
        origins.insert(image.origins.begin(), image.origins.end());
    origins.erase(0);
    return origins;
}

}  // namespace

// The tree of states as the rules of revert_to_state see it, for one request. The gate is closed
// and the open interval empty.
class Workspace::StateTree final : public edit::RevertTree {
 public:
    StateTree(Workspace& workspace, History history, const WaitingRevert& waiting)
        : workspace_(workspace), history_(std::move(history)), waiting_(waiting) {}

    std::vector<edit::TreeNode> log() override {
        auto tree = tree_of(history_.nodes);
        for (edit::TreeNode& node : tree) {
            // Only what would be abandoned is asked about.
            if (node.id > waiting_.request.target) mark(node);
        }
        return tree;
    }
    std::optional<edit::NodeId> committed() override { return history_.head.root; }
    std::uint64_t turn() override { return history_.nodes.rbegin()->number; }

    Result<> apply(const edit::Revert& revert) override {
        TRY(revert.restores_files ? restore(revert.target) : squash(revert));
        done_ = revert;
        return {};
    }

    const std::optional<edit::Revert>& done() const { return done_; }
    NodeNumber squashed_by() const { return squashed_by_; }

 private:
    void mark(edit::TreeNode& node) const;
    Result<> restore(NodeNumber target);
    Result<> squash(const edit::Revert& revert);

    Workspace& workspace_;
    const History history_;
    const WaitingRevert& waiting_;
    std::optional<edit::Revert> done_;
    NodeNumber squashed_by_ = 0;
};

// Who changed anything in the node's interval. A user who asks for himself may abandon what is his.
void Workspace::StateTree::mark(edit::TreeNode& node) const {
    const Node& row = history_.nodes.at(node.id);
    if (row.parent == 0) return;
    const auto delta = workspace_.journal_->read_delta(row.delta);
    if (!delta) {
        node.obstacle = delta.error().message();
        return;
    }
    const Origins& origins = *workspace_.origins_;
    const SessionNumber own = origins.session_of(waiting_.origin);
    for (const OriginNumber origin : origins_in(*delta)) {
        const SessionNumber session = origins.session_of(origin);
        const bool protects_user = waiting_.for_agent && session == kUserSession;
        if (origin == waiting_.origin || (session == own && !protects_user)) continue;
        if (session == kUserSession) {
            node.maker = edit::NodeMaker::kUserChange;
        } else {
            node.obstacle = "it holds a change by another session";
        }
    }
}

Result<> Workspace::StateTree::restore(NodeNumber target) {
    Workspace& w = workspace_;
    if (target == w.head_.current) return {};  // also when a kill came after the restore
    TRY_ASSIGN(const Edges edges, w.edges_to(target));
    std::vector<std::string> behind = w.written_behind(edges);
    TRY_ASSIGN(const Vanished vanished, find_vanished(w.locator_, edges));
    TRY_ASSIGN(const auto outside, w.put_outside(wanted_names(edges)));
    behind.insert(behind.end(), vanished.paths.begin(), vanished.paths.end());
    behind.insert(behind.end(), outside.begin(), outside.end());
    if (!behind.empty() || !vanished.empty()) {
        const std::string first = behind.empty() ? "a file" : edit::displayed(behind.front());
        return Error(ErrorKind::kConflict, EBUSY,
                     "revert refused: " + first + " was changed outside the mount since then");
    }
    return w.go_to(target, std::nullopt, Late::kStays);
}

// The files stay, and so do the nodes; that they count as one step is said by the node on top.
Result<> Workspace::StateTree::squash(const edit::Revert& revert) {
    if (!history_.is_above(revert.target, history_.head.current)) {
        return Error(ErrorKind::kRefused, EINVAL,
                     "revert refused: " + edit::node_text(revert.target) +
                         " is not on the way to the live state, so nothing can be squashed");
    }
    if (revert.target == history_.head.current) return {};
    const std::string text = std::string(edit::name_of(revert.category)) +
                             (revert.tag.text.empty() ? "" : ": " + revert.tag.text);
    TRY_ASSIGN(squashed_by_,
               workspace_.seal({.text = text, .origin = waiting_.origin, .cause = waiting_.cause}));
    return {};
}

Result<std::string> Workspace::request_revert(const Asker& asker, const std::string& arguments,
                                              bool for_agent) {
    TRY_ASSIGN(const edit::RevertRequest request, edit::decode_revert(arguments));
    const OriginNumber origin = origin_of(asker);
    Closing closing(operation_mutex_, gate_, tree_, restorer_);
    TRY(closing.refuse_if_unable("revert", 3));
    TRY_ASSIGN(const History history, this->history());
    journal::Store::Change change;
    change.update_nodes.push_back(history.nodes.at(history.head.root));
    Node& root = change.update_nodes.back();
    if (waiting_of(root).size() >= kMostWaiting)
        return Error(ErrorKind::kConflict, EAGAIN, "too many requests of revert_to_state wait",
                     "`unwrite revert-to-state` carries them out");
    add_waiting(root, {"", request, origin, for_agent, asker.cause});
    TRY(store(change));
    return revert_acknowledgement(request);
}

// One transaction says what was done and takes the request away. A kill before it: the request is
// carried out again, which changes nothing more.
Result<> Workspace::note_revert(const StateTree& tree, const WaitingRevert& waiting,
                                const std::string& event) {
    TRY_ASSIGN(const History history, this->history());
    std::map<NodeNumber, Node> rows;
    const auto row = [&](NodeNumber number) -> Node& {
        return rows.try_emplace(number, history.nodes.at(number)).first->second;
    };
    row(history.head.root).tags.erase(waiting.key);
    if (tree.done()) add_tag(row(tree.done()->target), tree.done()->tag);
    if (tree.squashed_by() != 0) set_squash(row(tree.squashed_by()), tree.done()->target);
    add_event(row(history.head.current), event, waiting.cause);
    journal::Store::Change change;
    for (auto& [number, node] : rows)
        change.update_nodes.push_back(std::move(node));
    crash_point("states.note.before");
    TRY(store(change));
    crash_point("states.note.after");
    return {};
}

Result<std::vector<std::string>> Workspace::apply_reverts(const Asker& /*asker*/) {
    std::vector<std::string> events;
    for (;;) {
        TRY_ASSIGN(const History seen, this->history());
        if (waiting_of(seen.nodes.at(seen.head.root)).empty()) return events;
        Closing closing(operation_mutex_, gate_, tree_, restorer_);
        TRY(closing.refuse_if_unable("revert", 3));
        locator_.begin();
        TRY_ASSIGN(const History before, this->history());
        const auto waiting = waiting_of(before.nodes.at(before.head.root));
        if (waiting.empty()) return events;  // somebody else was faster
        TRY(end_interval(waiting.front().cause));
        TRY_ASSIGN(History history, this->history());
        StateTree tree(*this, std::move(history), waiting.front());
        const auto drained =
            edit::drain({waiting.front().request}, tree, wall_clock_ns() / 1'000'000);
        TRY(closing.refuse_if_unable("revert", 3));
        const std::string event = encode_event(drained.front());
        TRY(note_revert(tree, waiting.front(), event));
        events.push_back(event);
    }
}

}  // namespace unwrite::overlay
