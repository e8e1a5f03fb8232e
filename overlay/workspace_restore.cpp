#include <algorithm>
#include <cerrno>

#include "overlay/closing.h"
#include "overlay/content.h"
#include "overlay/path_list.h"
#include "overlay/unproved.h"
#include "overlay/workspace.h"

namespace unwrite::overlay {

namespace {

Error nothing(const std::string& text) {
    return Error(ErrorKind::kNothing, ENOENT, text);
}

}  // namespace

bool Workspace::is_empty_delta(journal::DeltaNumber delta) const {
    return !journal::delta_has_records(journal_->state_dir().deltas(), delta);
}

// Of an object that may still be changed it is the copy that is compared, and that stays.
Result<bool> Workspace::is_as_in(const LayerPtr& layer, const ObjectKey& key) {
    const journal::ObjectImage& image = *layer->object(key);
    const Unseen::ImagePtr carried = tree_.unseen().image(key);
    const auto live = locator_.object(key, Access::kRead);
    if (!live || !image.size || !image.attributes || !is_whole(image)) return false;
    const HandlePtr bytes = carried ? carried->bytes : *live;
    TRY_ASSIGN(const journal::Attributes attributes, Unseen::attributes(carried, bytes->fd.get()));
    TRY_ASSIGN(const Content then, Content::open(bytes, key, {layer}));
    TRY_ASSIGN(const Content now,
               Content::open(bytes, key, carried ? carried->layers : std::vector<LayerPtr>()));
    if (attributes != *image.attributes || now.size() != then.size()) return false;
    return equal_in(now, then, {{0, now.size()}});
}

Result<bool> Workspace::is_idle() {
    if (capture_.interval_is_empty()) return true;
    if (!capture_.holds_only_unseen() && !capture_.may_hold_only_unseen()) return false;
    locator_.begin();
    Layers layers(*journal_);
    TRY_ASSIGN(const LayerPtr layer, layers.read(head_.open_delta));
    if (!layer->delta.names.empty()) return false;
    for (const auto& [key, image] : layer->delta.objects) {
        TRY_ASSIGN(const bool same, is_as_in(layer, key));
        if (!same) return false;
    }
    return true;
}

Result<bool> Workspace::looks_idle() {
    const std::lock_guard lock(operation_mutex_);
    return is_idle();
}

Result<> Workspace::end_interval(const std::string& cause) {
    TRY(tree_.carry_unseen());
    if (capture_.interval_is_empty()) return {};
    TRY_ASSIGN(const bool idle, is_idle());
    if (!idle) {
        TRY(close_step(0, cause));
        // What shows nothing is no step, and yet part of the state.
        if (!capture_.interval_is_empty())
            TRY(seal({.kind = NodeKind::kBegin, .text = "before going back", .cause = cause}));
        return {};
    }
    // Of files that are in use it stays until the far side has images of its own (begin_applying).
    return tree_.unseen().any() ? Result<>() : begin_interval_anew();
}

bool Workspace::has_changes(const History& history) const {
    // The way to the root, which also lies above it when somebody went back behind a commit that
    // kept the history.
    const auto path = history.path_to(history.head.root);
    return !path || std::any_of(path->begin(), path->end(), [this](const Crossing& crossing) {
        return !is_empty_delta(crossing.delta);
    });
}

OriginNumber Workspace::origin_of(const Asker& asker) {
    Caller caller;
    caller.uid = asker.uid;
    caller.pid = static_cast<pid_t>(asker.pid);
    return origins_->resolve(caller).origin;
}

Result<Edges> Workspace::edges_to(NodeNumber target) {
    TRY_ASSIGN(const History history, this->history());
    TRY_ASSIGN(const auto path, history.path_to(target));
    Edges edges;
    for (const Crossing& crossing : path) {
        TRY_ASSIGN(journal::Delta delta, journal_->read_delta(crossing.delta));
        edges.push_back({crossing.delta, std::move(delta)});
    }
    return edges;
}

bool Workspace::is_written_behind(const ObjectKey& key) {
    const auto stamped = capture_.stamped(key);
    if (!stamped) return false;
    const auto st = locator_.stat(key);
    return st && journal::Stamp::of(*st) != *stamped;
}

// Files whose content is not as the mount left it last.
std::vector<std::string> Workspace::written_behind(const Edges& edges) {
    std::set<ObjectKey> seen;
    std::vector<std::string> paths;
    for (const Edge& edge : edges) {
        for (const auto& [key, image] : edge.delta.objects) {
            if (!image.size || !seen.insert(key).second || !is_written_behind(key)) continue;
            if (auto path = locator_.live_path(key)) paths.push_back(*std::move(path));
        }
    }
    return paths;
}

Result<std::vector<std::string>> Workspace::put_outside(const WantedNames& wanted) {
    if (!knows_all_made_) return std::vector<std::string>();
    return find_outside(locator_, capture_, wanted);
}

// What lost its place behind the mount lost it, as far as the journal can say, in the last interval
// that captured it: with that in the delta it comes back like anything else, and what stands there
// now is kept for the way back. Gate closed.
Result<> Workspace::book_vanished(NodeNumber target) {
    if (!capture_.interval_is_empty()) TRY(seal({.kind = NodeKind::kStep}));
    janitor_.free({tally_.forget()});
    TRY_ASSIGN(const Edges before, edges_to(target));
    TRY_ASSIGN(const Vanished found, find_vanished(locator_, before));
    TRY_ASSIGN(const Successors successors, make_successors(locator_, found, before));
    for (const journal::NameImage& image : successors.images)
        capture_.note(*image.object);
    TRY_ASSIGN(const Edges edges, edges_to(target));
    TRY(book(locator_, successors, edges));
    restorer_.changed_anything();
    TRY(finish_successors(locator_, successors));
    locator_.begin();
    return {};
}

Result<> Workspace::find_behind(const Edges& edges, Foreseen& foreseen) {
    locator_.begin();
    TRY_ASSIGN(Vanished vanished, find_vanished(locator_, edges));
    foreseen.vanished = !vanished.empty();
    std::vector<std::string>& behind = foreseen.moved.behind;
    behind = written_behind(edges);
    TRY_ASSIGN(const auto outside, put_outside(wanted_names(edges)));
    behind.insert(behind.end(), vanished.paths.begin(), vanished.paths.end());
    behind.insert(behind.end(), outside.begin(), outside.end());
    std::sort(behind.begin(), behind.end());
    behind.erase(std::unique(behind.begin(), behind.end()), behind.end());
    return {};
}

// A call under way may have changed what it has not booked yet: nobody is accused before a second
// look without any.
Result<> Workspace::find_behind_surely(const Edges& edges, Foreseen& foreseen) {
    TRY(find_behind(edges, foreseen));
    if (foreseen.moved.behind.empty() && !foreseen.vanished) return {};
    const auto closed = gate_.close();
    return find_behind(edges, foreseen);
}

Result<std::vector<std::string>> Workspace::behind_since(NodeNumber node) {
    TRY_ASSIGN(const Edges edges, edges_to(node));
    Foreseen foreseen;
    TRY(find_behind_surely(edges, foreseen));
    return std::move(foreseen.moved.behind);
}

Result<Workspace::Foreseen> Workspace::foresee(const Asker& asker, NodeNumber target,
                                               Detail detail) {
    const OriginNumber asking = origin_of(asker);
    const std::lock_guard lock(operation_mutex_);
    TRY_ASSIGN(const History history, this->history());
    TRY(refuse_unproved(history, target));
    TRY_ASSIGN(const Edges edges, edges_to(target));
    Foreseen foreseen;
    foreseen.room = room_for(edges).amount();
    foreseen.moved.to = target;
    TRY(find_behind_surely(edges, foreseen));
    if (detail == Detail::kRough) TRY(refuse_damaged(edges));  // this is not only to be looked at
    TRY_ASSIGN(foreseen.moved.changes, inspector_.changes_to(target, detail));
    name_owners(foreseen.moved, asking);
    const auto gone = steps_on_the_way(history, target);
    if (gone) name_who_went_back(history, *gone, foreseen.moved, asking);
    return foreseen;
}

/// Whose work, beside that of the asker's session, these changes are.
std::vector<Origin> Workspace::others_in(const std::vector<Change>& changes,
                                         OriginNumber asking) const {
    std::set<OriginNumber> numbers;
    for (const Change& change : changes) {
        for (const OriginNumber origin : change.origins) {
            if (origin != 0 && !origins_->are_kin_origins(origin, asking)) numbers.insert(origin);
        }
    }
    return origins_->rows(numbers);
}

void Workspace::name_owners(Moved& moved, OriginNumber asking) const {
    moved.others = others_in(moved.changes, asking);
    for (const Change& change : moved.changes) {
        for (const OriginNumber origin : change.origins)
            moved.own = moved.own || (origin != 0 && origins_->are_kin_origins(origin, asking));
    }
}

/// The steps from now up to a state; nothing where something else is on the way.
std::optional<std::set<NodeNumber>> Workspace::steps_on_the_way(const History& history,
                                                                NodeNumber target) const {
    const auto path = history.path_to(target);
    if (!path) return std::nullopt;
    std::set<NodeNumber> steps;
    for (const Crossing& crossing : *path) {
        if (!crossing.up) return std::nullopt;
        const bool is_step = crossing.edge != 0 && !is_hidden(history.nodes.at(crossing.edge).kind);
        if (is_step) steps.insert(crossing.edge);
        if (!is_step && !is_empty_delta(crossing.delta)) return std::nullopt;
    }
    return steps;
}

// Where all that goes is that somebody went back, it is that somebody's: what the others made comes
// again.
void Workspace::name_who_went_back(const History& history, const std::set<NodeNumber>& gone,
                                   Moved& moved, OriginNumber asking) const {
    std::set<OriginNumber> others;
    bool own = false;
    for (const NodeNumber number : gone) {
        const Node* const node = history.nodes.find(number);
        if (node == nullptr || node->kind != NodeKind::kUndo) return;
        const bool is_own = node->origin == 0 || origins_->are_kin_origins(node->origin, asking);
        own = own || is_own;
        if (!is_own) others.insert(node->origin);
    }
    if (gone.empty()) return;
    moved.others = origins_->rows(others);
    moved.own = own;
}

Result<Moved> Workspace::move(const Asker& asker, NodeNumber target, Consent consent,
                              bool refuse_behind, std::optional<NodeNumber> redo_tip) {
    const Detail detail = consent == Consent::kNone ? Detail::kFull : Detail::kRough;
    TRY_ASSIGN(Foreseen foreseen, foresee(asker, target, detail));
    Moved& moved = foreseen.moved;
    if (refuse_behind && !moved.behind.empty()) {
        return Error(
            ErrorKind::kConflict, EBUSY,
            "nothing was done, because these were changed outside the mount since:" +
                path_list(moved.behind),
            "look at these files; `unwrite rollback nK --outside` and `unwrite discard --outside` "
            "take them back too");
    }
    const bool own = moved.others.empty() && moved.behind.empty();
    if (consent == Consent::kNone || (consent == Consent::kOwn && !own)) return moved;
    Closing closing(operation_mutex_, gate_, tree_, restorer_);
    TRY(closing.refuse_if_unable("restore", 3));
    locator_.begin();
    TRY(refuse_without_room(foreseen.room));
    if (foreseen.vanished) {
        TRY(book_vanished(target));
        TRY_ASSIGN(moved.changes, inspector_.changes_to(target, detail));
    }
    // Who stores to a mapping all the time must not keep us from it for ever.
    constexpr unsigned kMostTries = 3;
    for (unsigned i = 1;; ++i) {
        TRY(end_interval(asker.cause));
        moved.from = head_.current;
        TRY_ASSIGN(const History now, this->history());
        moved.can_redo = !redo_tip && !now.is_above(moved.from, target);
        const auto gone = go_to(target, redo_tip, i < kMostTries ? Late::kRefuse : Late::kStays);
        if (gone || gone.error().number() != ESTALE || i == kMostTries) {
            TRY(gone);
            break;
        }
        // What was written meanwhile is a change like any other.
        tree_.capture_unseen();
    }
    put_room_by();
    return moved;
}

Result<Moved> Workspace::rollback(const Asker& asker, const std::string& node, bool pop,
                                  Consent consent) {
    TRY_ASSIGN(const History history, this->history());
    const NodeNumber newest = history.newest_checkpoint(/*named=*/false);
    if (node.empty() && newest == 0) {
        return Error(ErrorKind::kNotFound, ENOENT, "this task has no checkpoint",
                     "`unwrite rollback root` goes back to where the task began, `unwrite undo` "
                     "takes back the newest step");
    }
    TRY_ASSIGN(const NodeNumber target, history.resolve(node, newest));
    TRY_ASSIGN(Moved moved, move(asker, target, consent, false));
    if (!pop || moved.from == 0) return moved;
    Closing closing(operation_mutex_, gate_, tree_, restorer_);
    journal::Store::Change change;
    // The crossing may have flipped the edge above; only the flag changes here.
    TRY_ASSIGN(const History now, this->history());
    const Node* const there = now.nodes.find(target);
    if (there == nullptr) return moved;  // a commit was faster
    change.update_nodes.push_back(*there);
    change.update_nodes.back().open = false;
    TRY(store(change));
    return moved;
}

Result<Moved> Workspace::discard(const Asker& asker, bool purge, Consent consent) {
    TRY_ASSIGN(const History history, this->history());
    const NodeNumber root = history.head.root;
    if (!has_changes(history) && !purge) return nothing("nothing has changed since the task began");
    Result<Moved> went = move(asker, root, consent, false);
    if (!went && sys::is_out_of_room(went.error()) && !gate_.wounded()) {
        if (purge) return purge_in_place(asker, went.error());
        return name_purge(asker, root, went.error());
    }
    TRY_ASSIGN(Moved moved, std::move(went));
    if (!purge || moved.from == 0) return moved;
    Closing closing(operation_mutex_, gate_, tree_, restorer_);
    // Someone may have made a step meanwhile: with it the way back to the root would go.
    if (head_.current != head_.root) {
        return Error(ErrorKind::kConflict, EBUSY,
                     "the changes are taken back, but somebody made a step meanwhile, so the "
                     "history is kept",
                     "`unwrite discard --purge` again drops it");
    }
    TRY(drop_all_but(head_.root));
    return moved;
}

}  // namespace unwrite::overlay
