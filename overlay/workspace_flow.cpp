#include "base/clock.h"
#include "base/crash_point.h"
#include "overlay/closing.h"
#include "overlay/set_aside.h"
#include "overlay/sync_restored.h"
#include "overlay/unproved.h"
#include "overlay/workspace.h"

namespace unwrite::overlay {

using journal::Delta;
using journal::DeltaNumber;
using journal::DeltaWriter;
using journal::Pending;
using journal::Store;

Result<Store::Changed> Workspace::store(const Store::Change& change) {
    janitor_.free({tally_.forget()});
    return store_sealed(change);
}

// Of a change that moves nothing.
Result<Store::Changed> Workspace::store_sealed(const Store::Change& change) {
    std::optional<Store::Changed> changed;
    {
        const std::lock_guard lock(journal_->store_mutex());
        TRY_ASSIGN(changed, apply_in_any_room(change));
        head_ = changed->head;
    }
    journal_->ballast().fill();
    beginning_.forget();
    return *std::move(changed);
}

Result<History> Workspace::history() {
    const std::lock_guard lock(journal_->store_mutex());
    return History::read(journal_->store());
}

std::map<std::string, std::string> Workspace::tags() {
    if (!options_.tags) return {};
    const auto root = objects_.open(objects_.root(), Access::kPath);
    return root ? options_.tags((*root)->fd.get()) : std::map<std::string, std::string>();
}

Result<> Workspace::sync_if_durable() {
    if (!options_.durable) return {};
    TRY(capture_.sync());
    // The node's state is the live bytes, which programs may not have synced.
    return sys::sync_filesystem(journal_->state_dir().deltas());
}

// The change of the store that makes a node of the open interval.
Result<Store::Change> Workspace::sealing(const Seal& seal) {
    Node node;
    node.parent = head_.current;
    node.kind = seal.kind;
    node.name = seal.name;
    node.text = seal.text;
    node.time_ns = wall_clock_ns();
    node.origin = seal.origin;
    node.delta = head_.open_delta;
    node.tags = tags();
    node.tags.insert(seal.tags.begin(), seal.tags.end());
    set_step_tags(node, seal.step);
    if (!seal.cause.empty()) node.tags[kCauseTag] = seal.cause;
    Store::Change change;
    change.add_nodes.push_back(std::move(node));
    TRY_ASSIGN(const journal::DeltaSeal files, capture_.writer().seal());
    change.seals.push_back(files);
    change.head = head_;
    if (seal.redo_tip == kOwnNode) {
        change.redo_tip_is_added_node = true;
    } else if (seal.redo_tip) {
        change.head->redo_tip = *seal.redo_tip;
    }
    change.take_delta_number = true;
    change.current_is_added_node = true;
    change.open_delta_is_new = true;
    return change;
}

Result<NodeNumber> Workspace::seal(const Seal& seal) {
    TRY(sync_if_durable());
    TRY_ASSIGN(Store::Change change, sealing(seal));
    if (seal.ends_pending) change.pending = std::optional<Pending>();
    crash_point("seal.before");
    TRY_ASSIGN(const Store::Changed changed, store_sealed(change));
    crash_point("seal.after");
    is_sealed(capture_.delta());
    janitor_.free(capture_.begin_interval(changed.delta));
    tally_.sealed(changed.delta);
    return changed.nodes.front();
}

// What the open interval holds, the files are at this state as well: it stays the open one, and the
// node's own is empty. So who only holds a file open makes no step.
Result<NodeNumber> Workspace::seal_idle(const Seal& seal) {
    TRY(sync_if_durable());
    Store::Change number;
    number.take_delta_number = true;
    TRY_ASSIGN(const Store::Changed taken, store_sealed(number));
    TRY_ASSIGN(Store::Change change, sealing(seal));
    change.add_nodes.front().delta = taken.delta;
    change.seals = {journal::DeltaSeal{taken.delta, 0, 0, 0}};
    change.take_delta_number = false;
    change.open_delta_is_new = false;
    crash_point("seal.idle");
    TRY_ASSIGN(const Store::Changed changed, store_sealed(change));
    return changed.nodes.front();
}

// Nothing moves, so neither the kernel nor anyone who watches is told; and a write that waits for
// this must not be waited for, so nothing is written back. (A mapping's stores of before may thus
// fall behind the division, like those of anyone who does not sync.)
Result<bool> Workspace::divide(const Who& who) {
    const std::lock_guard lock(operation_mutex_);
    const Gate::Closed closed = gate_.close();
    if (gate_.wounded() || capture_.interval_is_empty()) return false;
    const LiveTree::Held held(tree_);
    TRY(seal(
        {.kind = NodeKind::kTurn,
         .text = "before " + origins_->name_of(who.session) + " changed what others had changed",
         .origin = who.origin}));
    tree_.capture_unseen();
    return true;
}

Result<> Workspace::set_pending(const std::optional<Pending>& pending) {
    Store::Change change;
    change.pending = pending;
    TRY(store(change));
    return {};
}

// What is left in the store would be carried out in the next life, over whatever is done until
// then: so nothing is.
Result<> Workspace::end_pending(NodeNumber redo_tip) {
    Store::Change change;
    change.pending = std::optional<Pending>();
    change.head = head_;
    change.head->redo_tip = redo_tip;
    const auto ended = store(change);
    if (ended) return {};
    gate_.set_wounded(true);
    return Error(ErrorKind::kRecovery, ended.error().number(),
                 "cannot end a restore: " + ended.error().message(),
                 "`unwrite recover` finishes it");
}

Result<> Workspace::apply_delta(const Delta& delta, DeltaNumber number, Meanwhile meanwhile) {
    TRY_ASSIGN(
        const journal::DeltaDataPtr data,
        journal::DeltaData::find(journal_->state_dir().deltas(), number,
                                 std::make_shared<journal::DeltaDataPool>(&journal_->checksums())));
    const auto data_of = [&](const ObjectKey&, std::size_t) -> Result<journal::OpenData> {
        if (!data) return journal::captured_bytes_missing(number);
        return data->open();
    };
    return apply(delta, data_of, meanwhile);
}

// What the restore leaves is ours like any other change: whoever changes it behind the mount before
// the next one is noticed too.
Result<> Workspace::apply(const Delta& delta, const Restorer::DataOf& data_of,
                          Meanwhile meanwhile) {
    janitor_.free({tally_.forget()});
    for (const auto& [key, image] : delta.objects) {
        if (image.attributes && !image.size && S_ISREG(image.attributes->mode) &&
            is_written_behind(key))
            restorer_.spare_time_of(key);
    }
    capture_.forget_stamps(delta);
    janitor_.restore_begins();
    TRY(restorer_.apply(delta, data_of, meanwhile));
    std::unordered_set<ObjectKey> left;
    for (const auto& [key, image] : delta.objects) {
        if (image.size || image.attributes) left.insert(key);
    }
    for (const auto& [at, state] : delta.names) {
        if (state.image.object) left.insert(*state.image.object);
    }
    for (const ObjectKey& key : left) {
        const auto st = locator_.stat(key);
        if (st) capture_.stamp(key, *st);
    }
    return {};
}

// The far side is reached: the edge has the inverse now, and the head stands there.
Result<> Workspace::arrive(const Crossing& crossing, const Node& node,
                           const journal::DeltaSeal& inverse, NodeNumber target) {
    Store::Change change;
    change.update_nodes.push_back(node);
    change.update_nodes.back().delta = inverse.delta;
    change.update_nodes.back().down = crossing.up;
    change.head = head_;
    change.head->current = crossing.reached;
    change.pending = std::optional<Pending>(Pending{Pending::Verb::kRestore, target, 0, 0, false});
    change.seals.push_back(inverse);
    crash_point("cross.arrive.before");
    TRY(store(change));
    is_sealed(inverse.delta);
    crash_point("cross.arrive.after");
    return {};
}

// An edge could not be crossed (no room, say): the live state goes back to where the crossing
// began, with the inverse.
Result<> Workspace::turn_back(const Error& why, const Pending& pending) {
    const int deltas = journal_->state_dir().deltas();
    make_room_after(why);
    const auto back = [&]() -> Result<> {
        TRY_ASSIGN(const Delta inverse, journal::read_delta(deltas, pending.inverse));
        TRY(apply_delta(inverse, pending.inverse, Meanwhile::kGoes));
        if (tree_.unseen().any()) TRY(begin_interval_anew());
        return set_pending(Pending{pending.verb, pending.target, 0, 0, false});
    }();
    if (!back) {
        gate_.set_wounded(true);
        return Error(ErrorKind::kRecovery, why.number(),
                     why.message() + "; going back failed too: " + back.error().message(),
                     "`unwrite recover` finishes it");
    }
    ignore(journal::remove_delta(deltas, pending.inverse), "nothing refers to it");
    return why;
}

// Who has a file mapped can be neither seen nor held. What was stored to it since it was copied is
// in no state yet, and the restore is about to write there.
Result<> Workspace::refuse_late_writes(const Delta& delta) {
    for (const auto& [key, image] : delta.objects) {
        if (!image.size) continue;
        TRY_ASSIGN(const bool same, tree_.is_as_carried(key));
        if (same) continue;
        return Error(ErrorKind::kConflict, ESTALE,
                     locator_.live_path(key).value_or(journal::Attic::file_name(key)) +
                         " is being written at this moment",
                     "try again, or end the program that writes to it");
    }
    return {};
}

Result<journal::DeltaSeal> Workspace::write_inverse(const Delta& delta, DeltaNumber number) {
    const int deltas = journal_->state_dir().deltas();
    // After a power cut the store may hand out a number whose files were there already.
    TRY(journal::remove_delta(deltas, number));
    DeltaWriter writer(deltas, number);
    writer.hold();
    Result<> inverted = restorer_.invert(delta, writer);
    if (inverted) inverted = survives_cuts() ? writer.sync() : writer.flush();
    auto sealed = inverted ? writer.seal() : Result<journal::DeltaSeal>(inverted.error());
    if (!sealed) ignore(journal::remove_delta(deltas, number), "nothing needs it");
    return sealed;
}

// Whoever writes unseen goes on when this process is killed. So the journal has at any time what
// his files are at the state that it names: the open interval, which is empty or idle, stays until
// one with the images of the far side takes its place, in the transaction from which on that is
// where recovery leads. (On the way to a further state that one is empty.)
Result<> Workspace::begin_applying(const Pending& pending, const LayerPtr& layer, bool is_last) {
    crash_point("cross.apply.before");
    if (!layer || (!is_last && capture_.interval_is_empty())) return set_pending(pending);
    const int deltas = journal_->state_dir().deltas();
    Store::Change number;
    number.take_delta_number = true;
    TRY_ASSIGN(const Store::Changed taken, store(number));
    TRY(journal::remove_delta(deltas, taken.delta));
    const DeltaNumber old = head_.open_delta;
    janitor_.free(capture_.begin_interval(taken.delta));
    const auto begun = [&]() -> Result<> {
        if (is_last) TRY(tree_.adopt_unseen(layer));
        crash_point("cross.unseen");
        Store::Change change;
        change.pending = std::optional<Pending>(pending);
        change.head = head_;
        change.head->open_delta = taken.delta;
        TRY(store(change));
        return {};
    }();
    if (!begun) janitor_.free(capture_.begin_interval(old));
    ignore(journal::remove_delta(deltas, begun ? old : taken.delta), "nothing refers to it");
    return begun;
}

// What the open interval holds is no image of the state that is the head.
Result<> Workspace::begin_interval_anew() {
    Store::Change change;
    change.head = head_;
    change.take_delta_number = true;
    change.open_delta_is_new = true;
    const DeltaNumber old = head_.open_delta;
    TRY_ASSIGN(const Store::Changed changed, store(change));
    janitor_.free(capture_.begin_interval(changed.delta));
    ignore(journal::remove_delta(journal_->state_dir().deltas(), old), "nothing refers to it");
    return {};
}

Result<> Workspace::stop_before_applying(const Error& why, Pending pending) {
    pending.applying = false;
    Result<> stopped = begin_interval_anew();
    if (stopped) stopped = set_pending(pending);
    if (!stopped) {
        gate_.set_wounded(true);
        return Error(ErrorKind::kRecovery, stopped.error().number(), stopped.error().message(),
                     "`unwrite recover` finishes it");
    }
    ignore(journal::remove_delta(journal_->state_dir().deltas(), pending.inverse),
           "nothing needs it");
    return why;
}

Result<> Workspace::cross(const Crossing& crossing, const Node& node, NodeNumber target,
                          Late late) {
    const int deltas = journal_->state_dir().deltas();
    TRY_ASSIGN(const Delta delta, journal_->read_delta(crossing.delta));
    LayerPtr layer;
    if (tree_.unseen().any()) {
        TRY_ASSIGN(layer, Layers(*journal_).read_to_keep(crossing.delta));
    }
    if (delta.empty() && !layer) return arrive(crossing, node, {crossing.delta, 0, 0, 0}, target);
    Store::Change number;
    number.take_delta_number = true;
    TRY_ASSIGN(const Store::Changed taken, store(number));
    Pending pending{Pending::Verb::kRestore, target, crossing.edge, taken.delta, false};
    TRY(set_pending(pending));
    TRY_ASSIGN(const journal::DeltaSeal inverse, write_inverse(delta, taken.delta));
    pending.applying = true;
    const Result<> begun = begin_applying(pending, layer, crossing.reached == target);
    if (begun && options_.ordered) ignore(journal_->store().sync(), kAsUnproved);
    if (!begun) {
        ignore(journal::remove_delta(deltas, taken.delta), "nothing needs it");
        return begun;
    }
    if (layer && late == Late::kRefuse) {
        const Result<> none_late = refuse_late_writes(delta);
        if (!none_late) return stop_before_applying(none_late.error(), pending);
    }
    const auto crossed = [&]() -> Result<> {
        TRY(apply_delta(delta, crossing.delta, Meanwhile::kStays));
        if (survives_cuts()) TRY(sync_restored(delta, locator_));
        return arrive(crossing, node, inverse, target);
    }();
    if (!crossed) return turn_back(crossed.error(), pending);
    if (layer) tree_.unseen().crossed(layer, deltas);
    // On the disk the store may still refer to it; the next life removes it then.
    if (!journal_->sync_before_removal()) return {};
    ignore(journal::remove_delta(deltas, crossing.delta), "nothing refers to it");
    return {};
}

Result<> Workspace::cross_all(NodeNumber target, Late late) {
    TRY_ASSIGN(const History history, this->history());
    TRY_ASSIGN(auto path, history.path_to(target));
    path.erase(path.begin());  // the open interval is empty, for it was sealed, or idle
    for (const Crossing& crossing : path) {
        TRY(cross(crossing, history.nodes.at(crossing.edge), target, late));
        late = Late::kStays;
    }
    return {};
}

// The open interval must be empty or idle. Several edges are one move: when one of them cannot be
// crossed, those before it are crossed back, and when that fails too, recovery does it.
Result<> Workspace::go_to(NodeNumber target, std::optional<NodeNumber> redo_tip, Late late) {
    TRY(tree_.carry_unseen());
    const NodeNumber start = head_.current;
    const NodeNumber tip = head_.redo_tip;
    // A commit may have removed it since it was chosen; recovery must never be asked for what is
    // not there.
    TRY_ASSIGN(const History history, this->history());
    TRY(refuse_unproved(history, target));
    ignore(committer_.commit(), kAsUnproved);
    // Where redo leads is stored with the intent, for recovery to arrive with it.
    Store::Change begun;
    begun.pending = Pending{Pending::Verb::kRestore, target, 0, 0, false};
    begun.head = head_;
    // Who goes on to what was left before goes back over nothing.
    if (!redo_tip && target != start && history.is_above(start, target)) redo_tip = 0;
    if (!redo_tip && target != start) {
        Node left = history.nodes.at(start);
        left.tags[kWentTag] = std::to_string(target);
        left.tags.erase(kLeftThenTag);
        if (tip != 0) left.tags[kLeftThenTag] = std::to_string(tip);
        begun.update_nodes.push_back(std::move(left));
        redo_tip = start;
    }
    begun.head->redo_tip = redo_tip.value_or(tip);
    TRY(store(begun));
    const Result<> moved = cross_all(target, late);
    if (!moved && !gate_.wounded() && head_.current != start) {
        Result<> back = set_pending(Pending{Pending::Verb::kRestore, start, 0, 0, false});
        if (back) back = cross_all(start, Late::kStays);
        if (!back) {
            gate_.set_wounded(true);
            return Error(
                ErrorKind::kRecovery, moved.error().number(),
                moved.error().message() + "; going back failed too: " + back.error().message(),
                "`unwrite recover` finishes it");
        }
    }
    if (gate_.wounded()) return moved;
    TRY(end_pending(moved ? redo_tip.value_or(tip) : tip));
    if (moved) ignore(committer_.commit(), kAsUnproved);
    return moved;
}

// ---- recovery

Result<> Workspace::finish_pending(const Pending& pending) {
    const int deltas = journal_->state_dir().deltas();
    if (pending.edge != 0 && !pending.applying) TRY(journal::remove_delta(deltas, pending.inverse));
    if (pending.verb == Pending::Verb::kPurge) return finish_purge(pending);
    if (pending.edge != 0 && pending.applying) {
        TRY_ASSIGN(const History history, this->history());
        const Node* const found = history.nodes.find(pending.edge);
        if (found == nullptr) {
            return Error(
                ErrorKind::kCorrupt, EIO,
                "cannot finish a restore: node n" + std::to_string(pending.edge) + " is missing",
                "`unwrite check` says what is damaged");
        }
        const Node& node = *found;
        Crossing crossing{node.number, node.delta, !node.down,
                          node.down ? node.number : node.parent};
        Layers layers(*journal_);
        TRY_ASSIGN(const LayerPtr wanted, layers.read_to_keep(node.delta));
        TRY_ASSIGN(const LayerPtr before, layers.read(pending.inverse));
        TRY_ASSIGN(const auto kept, set_aside(locator_, wanted, before));
        found_.set_aside.insert(found_.set_aside.end(), kept.begin(), kept.end());
        TRY(apply_delta(wanted->delta, node.delta, Meanwhile::kGoes));
        TRY_ASSIGN(const journal::DeltaSeal inverse,
                   journal::measure_delta(deltas, pending.inverse));
        TRY(arrive(crossing, node, inverse, pending.target));
        tree_.unseen().crossed(wanted, deltas);
        TRY(journal::remove_delta(deltas, crossing.delta));
    }
    if (!capture_.interval_is_empty()) {
        TRY(seal({.kind = NodeKind::kUndo, .text = "interrupted"}));
        tree_.unseen().drop_images();  // they are of the state before it
    }
    return go_to(pending.target, head_.redo_tip, Late::kStays);
}

Result<Edges> Workspace::all_edges() {
    const int directory = journal_->state_dir().deltas();
    Edges edges;
    TRY_ASSIGN(const auto numbers, journal::list_deltas(directory));
    for (const DeltaNumber number : numbers) {
        TRY_ASSIGN(Delta delta, journal::read_delta(directory, number));
        edges.push_back({number, std::move(delta)});
    }
    return edges;
}

// What the restore needs may have been removed while nothing was mounted: then it goes on with what
// is made in its place.
Result<> Workspace::mend_for_recovery() {
    if (!capture_.interval_is_empty()) return {};
    locator_.begin();
    TRY_ASSIGN(const Edges before, all_edges());
    TRY_ASSIGN(const Vanished found, find_vanished(locator_, before));
    if (found.empty()) return {};
    TRY_ASSIGN(const Successors successors, make_successors(locator_, found, before));
    TRY(put_back(locator_, successors.images, found_.set_aside));
    TRY(finish_successors(locator_, successors));
    locator_.begin();
    return {};
}

Result<> Workspace::recover_closed() {
    std::optional<Pending> pending;
    {
        const std::lock_guard lock(journal_->store_mutex());
        TRY_ASSIGN(head_, journal_->store().head());
        TRY_ASSIGN(pending, journal_->store().pending());
    }
    if (!pending) {
        gate_.set_wounded(false);
        return {};
    }
    gate_.set_wounded(false);
    restorer_.changed_anything();
    Result<> finished = mend_for_recovery();
    if (finished) finished = finish_pending(*pending);
    if (!finished) {
        gate_.set_wounded(true);
        return finished;
    }
    found_.finished_restore = true;
    return {};
}

Result<> Workspace::recover() {
    Closing closing(operation_mutex_, gate_, tree_, restorer_);
    return recover_closed();
}

}  // namespace unwrite::overlay
