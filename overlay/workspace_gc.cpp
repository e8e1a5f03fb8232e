// Which abandoned states go, and their going.
#include <algorithm>

#include "base/clock.h"
#include "overlay/closing.h"
#include "overlay/workspace.h"

namespace unwrite::overlay {

namespace {

/// Nodes that may go, beginning with leaves: nothing may lose its parent.
class Abandoned {
 public:
    Abandoned(const History& history, const Retention& retention, int deltas)
        : history_(history), retention_(retention), deltas_(deltas) {
        const auto trunk = history.trunk();
        std::set<NodeNumber> kept(trunk.begin(), trunk.end());
        // Whoever went back behind a commit that kept the history has the root off the trunk; it
        // stays all the same.
        for (NodeNumber at = history.head.root; at != 0; at = history.parent_of(at))
            kept.insert(at);
        for (const Node& node : history.nodes) {
            ++children_[node.parent];
            if (kept.contains(node.number)) continue;
            left_.insert(node.number);
            bytes_ += bytes_of(node);
        }
    }

    /// The oldest first. What need not go when it is looked at need not go later either: there is
    /// only ever less.
    std::set<NodeNumber> collect() {
        std::vector<NodeNumber> leaves;
        for (const NodeNumber number : left_) {
            if (!children_.contains(number)) leaves.push_back(number);
        }
        std::set<NodeNumber> gone;
        while (!leaves.empty()) {
            std::vector<NodeNumber> next;
            for (const NodeNumber number : leaves) {
                const Node& node = history_.nodes.at(number);
                if (!must_go(node)) continue;
                gone.insert(number);
                left_.erase(number);
                bytes_ -= std::min(bytes_, bytes_of(node));
                if (--children_[node.parent] == 0 && left_.contains(node.parent))
                    next.push_back(node.parent);
            }
            std::sort(next.begin(), next.end());
            leaves = std::move(next);
        }
        return gone;
    }

 private:
    std::uint64_t bytes_of(const Node& node) const {
        return journal::delta_bytes(deltas_, node.delta);
    }
    bool must_go(const Node& node) const {
        const auto age = static_cast<std::uint64_t>(std::max<std::int64_t>(0, now_ - node.time_ns) /
                                                    1'000'000'000);
        const auto is_over = [](std::uint64_t value, std::uint64_t limit) {
            return limit != 0 && value > limit;
        };
        return is_over(age, retention_.max_age_seconds) ||
               is_over(left_.size(), retention_.max_abandoned) ||
               is_over(bytes_, retention_.max_bytes);
    }

    const History& history_;
    const Retention& retention_;
    const int deltas_;
    const std::int64_t now_ = wall_clock_ns();
    std::set<NodeNumber> left_;  // abandoned and not gone
    std::unordered_map<NodeNumber, std::size_t> children_;
    std::uint64_t bytes_ = 0;
};

}  // namespace

Result<Collected> Workspace::gc(const Retention& retention) {
    Collected collected;
    {
        Closing closing(operation_mutex_, gate_, tree_, restorer_);
        TRY(closing.refuse_if_unable("gc"));
        TRY_ASSIGN(const History history, this->history());
        const std::set<NodeNumber> gone =
            Abandoned(history, retention, journal_->state_dir().deltas()).collect();
        for (const NodeNumber number : gone)
            collected.deltas += is_empty_delta(history.nodes.at(number).delta) ? 0U : 1U;
        journal::Store::Change change;
        change.remove_nodes.assign(gone.begin(), gone.end());
        change.head = head_;
        if (gone.contains(head_.redo_tip)) change.head->redo_tip = 0;
        TRY(store(change));
        TRY(journal_->remove_unreferenced_deltas());
        collected.nodes = gone.size();
    }
    TRY_ASSIGN(collected.objects, janitor_.sweep_now());
    if (retention.drop_lost) {
        const std::lock_guard lock(operation_mutex_);
        TRY_ASSIGN(collected.lost,
                   journal::drop_lost(journal_->state_dir().fd(), journal_->attic()));
    }
    put_room_by();
    return collected;
}

}  // namespace unwrite::overlay
