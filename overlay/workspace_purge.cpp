// A discard that is final, on a disk that has no room for the way back. From its beginning on there
// is one way only: what stops it half-way, recovery carries on. Each step that it has left is gone,
// so that none is there whose way forth was not kept.
#include <cerrno>
#include <utility>

#include "base/crash_point.h"
#include "overlay/closing.h"
#include "overlay/set_aside.h"
#include "overlay/sync_restored.h"
#include "overlay/workspace.h"

namespace unwrite::overlay {

using journal::ContentImage;
using journal::Delta;
using journal::DeltaNumber;
using journal::Pending;
using journal::Store;

namespace {

/// While it lives a delta speaks of no bytes.
class WithoutBytes {
 public:
    explicit WithoutBytes(Delta& delta) : delta_(delta) {
        for (auto& [key, image] : delta.objects) {
            if (!image.size) continue;
            taken_.push_back(
                {key, std::exchange(image.size, std::nullopt), std::exchange(image.content, {})});
        }
    }
    WithoutBytes(const WithoutBytes&) = delete;
    WithoutBytes& operator=(const WithoutBytes&) = delete;
    ~WithoutBytes() {
        for (Taken& taken : taken_) {
            auto& image = delta_.objects[taken.key];
            image.size = taken.size;
            image.content = std::move(taken.content);
        }
    }

 private:
    struct Taken {
        ObjectKey key;
        std::optional<std::uint64_t> size;
        std::vector<ContentImage> content;
    };
    Delta& delta_;
    std::vector<Taken> taken_;
};

Pending purge_to_root(NodeNumber root) {
    return {Pending::Verb::kPurge, root, 0, 0, false};
}

}  // namespace

// `why`: what a discard that can be taken back said.
Result<Moved> Workspace::purge_in_place(const Asker& asker, const Error& why) {
    NodeNumber root = 0;
    {
        const std::lock_guard lock(operation_mutex_);
        root = head_.root;
    }
    TRY_ASSIGN(Foreseen foreseen, foresee(asker, root, Detail::kRough));
    Closing closing(operation_mutex_, gate_, tree_, restorer_);
    TRY(closing.refuse_if_unable("discard"));
    locator_.begin();
    TRY_ASSIGN(const History history, this->history());
    // Those need the way back.
    if (foreseen.vanished || tree_.unseen().any() || head_.root != root ||
        !history.is_above(root, head_.current))
        return why;
    RoomNeeded::Amount needed = foreseen.room;
    needed.copied = needed.grown;
    TRY(refuse_without_room(needed));
    TRY(end_interval(asker.cause));
    foreseen.moved.from = head_.current;
    TRY(begin_purge());
    const Result<> done = purge_steps(root);
    if (!done) return purge_stopped(done.error());
    put_room_by();
    return std::move(foreseen.moved);
}

// What nothing leads back from goes first, and no step is left beside the way.
Result<> Workspace::begin_purge() {
    TRY_ASSIGN(const History history, this->history());
    Store::Change change;
    for (const Node& node : history.nodes) {
        if (!history.is_on_trunk(node.number)) change.remove_nodes.push_back(node.number);
    }
    change.head = head_;
    change.head->redo_tip = 0;
    change.pending = std::optional<Pending>(purge_to_root(head_.root));
    TRY(store(change));
    crash_point("purge.begun");
    return {};
}

Error Workspace::purge_stopped(const Error& why) {
    gate_.set_wounded(true);
    return Error(ErrorKind::kRecovery, why.number(),
                 "the discard stopped half-way: " + why.message(),
                 "remove what stopped it; `unwrite recover` carries it on");
}

// The open interval is empty.
Result<> Workspace::purge_steps(NodeNumber root) {
    TRY(journal_->remove_unreferenced_deltas());
    while (head_.current != root) {
        TRY_ASSIGN(const History history, this->history());
        const Node* const node = history.nodes.find(head_.current);
        if (node == nullptr || node->parent == 0 || node->down)
            return Error(ErrorKind::kCorrupt, EIO,
                         "the way to n" + std::to_string(root) + " is not whole",
                         "`unwrite check` says what is damaged");
        TRY(cross_for_good(*node, root));
    }
    TRY(drop_all_but(root));
    crash_point("purge.dropped");
    return end_pending(0);
}

// The inverse has what recovery needs to tell what is not ours: names and attributes.
Result<> Workspace::cross_for_good(const Node& node, NodeNumber root) {
    TRY_ASSIGN(Delta delta, journal_->read_delta(node.delta));
    if (delta.empty()) return leave_for_good(node, 0, root);
    Store::Change number;
    number.take_delta_number = true;
    TRY_ASSIGN(const Store::Changed taken, store(number));
    Pending pending = purge_to_root(root);
    pending.edge = node.number;
    pending.inverse = taken.delta;
    TRY(set_pending(pending));
    {
        const WithoutBytes names(delta);
        const auto inverse = write_inverse(delta, taken.delta);
        if (!inverse) return inverse.error();
    }
    pending.applying = true;
    TRY(set_pending(pending));
    crash_point("purge.apply.before");
    Result<> applied = apply_delta(delta, node.delta, Meanwhile::kStays);
    if (!applied && sys::is_out_of_room(applied.error())) {
        make_room_after(applied.error());
        applied = apply_delta(delta, node.delta, Meanwhile::kGoes);
    }
    TRY(applied);
    if (survives_cuts()) TRY(sync_restored(delta, locator_));
    return leave_for_good(node, taken.delta, root);
}

// Its files go at once: they are the room for what is left to do.
Result<> Workspace::leave_for_good(const Node& node, DeltaNumber inverse, NodeNumber root) {
    Store::Change change;
    change.remove_nodes.push_back(node.number);
    change.head = head_;
    change.head->current = node.parent;
    change.pending = std::optional<Pending>(purge_to_root(root));
    crash_point("purge.leave.before");
    TRY(store(change));
    crash_point("purge.leave.after");
    if (!journal_->sync_before_removal()) return {};
    const int deltas = journal_->state_dir().deltas();
    for (const DeltaNumber number : {node.delta, inverse}) {
        if (number != 0) ignore(journal::remove_delta(deltas, number), "nothing refers to it");
    }
    return {};
}

// After a kill, or after what stopped it is gone.
Result<> Workspace::finish_purge(const Pending& pending) {
    if (pending.edge != 0 && pending.applying) {
        TRY_ASSIGN(const History history, this->history());
        const Node* const node = history.nodes.find(pending.edge);
        if (node == nullptr)
            return Error(
                ErrorKind::kCorrupt, EIO,
                "cannot finish a discard: node n" + std::to_string(pending.edge) + " is missing",
                "`unwrite check` says what is damaged");
        Layers layers(*journal_);
        TRY_ASSIGN(const LayerPtr wanted, layers.read_to_keep(node->delta));
        TRY_ASSIGN(const LayerPtr before, layers.read(pending.inverse));
        TRY_ASSIGN(const auto kept, set_aside(locator_, wanted, before));
        found_.set_aside.insert(found_.set_aside.end(), kept.begin(), kept.end());
        TRY(apply_delta(wanted->delta, node->delta, Meanwhile::kGoes));
        TRY(leave_for_good(*node, pending.inverse, pending.target));
    }
    if (!capture_.interval_is_empty()) {
        TRY(seal({.kind = NodeKind::kUndo, .text = "interrupted"}));
        tree_.unseen().drop_images();  // they are of the state before it
    }
    return purge_steps(pending.target);
}

}  // namespace unwrite::overlay
