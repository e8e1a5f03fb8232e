#include <algorithm>
#include <cerrno>
#include <map>

#include "base/crash_point.h"
#include "overlay/closing.h"
#include "overlay/path_list.h"
#include "overlay/path_plan.h"
#include "overlay/placed.h"
#include "overlay/unproved.h"
#include "overlay/workspace.h"

namespace unwrite::overlay {

namespace {

// What all agents changed; a session of that name cannot be asked for.
constexpr const char* kAgents = ":agents";

/// What was changed in this task since the agents' changes were last taken out of it. What was put
/// together then is the user's.
std::set<journal::DeltaNumber> deltas_since_agents_went(const History& history) {
    std::set<journal::DeltaNumber> deltas = {history.head.open_delta};
    const auto trunk = history.trunk();
    for (auto number = trunk.rbegin(); number != trunk.rend(); ++number) {
        const Node& node = history.nodes.at(*number);
        if (node.kind == NodeKind::kUndo && node.text == std::string("undo ") + kAgents) break;
        if (*number == history.head.root) break;
        if (node.delta != 0) deltas.insert(node.delta);
    }
    return deltas;
}

Error conflict(const std::vector<std::string>& paths) {
    return Error(ErrorKind::kConflict, EBUSY,
                 "nothing was done, because these files were changed again later, by you or by "
                 "somebody else:" +
                     path_list(paths),
                 "`unwrite log PATH` shows who changed one; `unwrite restore PATH --from nK` "
                 "brings back one file, `unwrite rollback nK` everything");
}

Error outside_conflict(const std::vector<std::string>& paths) {
    return Error(
        ErrorKind::kConflict, EBUSY,
        "nothing was done, because these were changed outside the mount:" + path_list(paths),
        "look at these files; `unwrite rollback nK --outside` and `unwrite discard "
        "--outside` take them back too");
}

/// The files that the bytes of a plan are in: many, where many states changed a file in parts.
class DataOfPlan {
 public:
    DataOfPlan(const RevertPlan& plan, journal::Journal& journal)
        : plan_(plan),
          deltas_(journal.state_dir().deltas()),
          pool_(std::make_shared<journal::DeltaDataPool>(&journal.checksums())) {}

    Result<journal::OpenData> open(const ObjectKey& key, std::size_t image) {
        const journal::DeltaNumber number = plan_.data.at(key).at(image);
        if (number == 0) return own();
        if (!found_.contains(number)) {
            TRY_ASSIGN(found_[number], journal::DeltaData::find(deltas_, number, pool_));
        }
        const journal::DeltaDataPtr& found = found_.at(number);
        if (!found) return journal::captured_bytes_missing(number);
        return found->open();
    }

 private:
    /// What the plan itself put together.
    Result<journal::OpenData> own() {
        if (!own_) {
            TRY_ASSIGN(UniqueFd fd, sys::duplicate(plan_.bytes->get()));
            own_ = std::make_shared<const journal::DataFile>(std::move(fd));
        }
        return own_;
    }

    const RevertPlan& plan_;
    const int deltas_;
    const std::shared_ptr<journal::DeltaDataPool> pool_;
    std::map<journal::DeltaNumber, journal::DeltaDataPtr> found_;
    journal::OpenData own_;
};

}  // namespace

std::vector<Change> changes_of(const RevertPlan& plan, Locator& locator) {
    std::map<std::string, Change> changes;
    Placed placed;
    for (const auto& [at, state] : plan.images.names) {
        if (state.image.object) placed.emplace(*state.image.object, at);
    }
    for (const auto& [at, state] : plan.images.names) {
        const auto standing = locator.standing(at);
        const bool exists = standing && standing->has_value();
        Change change;
        change.path = placed_path(locator, placed, at);
        change.type =
            state.image.object ? state.image.type : (exists ? (*standing)->type & S_IFMT : 0U);
        change.kind = !state.image.object ? ChangeKind::kDeleted
                      : exists            ? ChangeKind::kModified
                                          : ChangeKind::kCreated;
        change.content = true;
        change.origins.assign(state.origins.begin(), state.origins.end());
        // A file that makes way for a directory, or the other way round, goes.
        if (exists && state.image.object &&
            S_ISDIR((*standing)->type) != S_ISDIR(state.image.type)) {
            Change gone = change;
            gone.kind = ChangeKind::kDeleted;
            gone.type = (*standing)->type & S_IFMT;
            changes.insert_or_assign(gone.path, gone);
            change.kind = ChangeKind::kCreated;
            changes.insert_or_assign(change.path + '/', change);
            continue;
        }
        changes.insert_or_assign(change.path, change);
    }
    for (const auto& [key, image] : plan.images.objects) {
        const auto path = locator.live_path(key);
        if (!path || (image.attributes && S_ISDIR(image.attributes->mode)) ||
            changes.contains(*path))
            continue;
        Change change;
        change.path = *path;
        change.kind = image.size ? ChangeKind::kModified : ChangeKind::kAttributes;
        change.type = image.attributes ? image.attributes->mode & S_IFMT : S_IFREG;
        change.content = image.size.has_value();
        change.attributes = image.attributes.has_value();
        change.origins.assign(image.origins.begin(), image.origins.end());
        changes.emplace(*path, change);
    }
    std::vector<Change> list;
    for (auto& [path, change] : changes)
        list.push_back(std::move(change));
    return list;
}

// The open interval is empty; it becomes the record of what the plan changes, so that this can be
// undone like any other step.
Result<> Workspace::apply_images(const RevertPlan& plan, NodeNumber back_to) {
    const journal::Pending pending{journal::Pending::Verb::kRestore, back_to, 0, 0, false};
    TRY(tree_.carry_unseen());
    tree_.capture_unseen(LiveTree::Images::kStay);
    // A text may be put together in a file that the journal has not spoken of so far.
    for (const auto& [key, image] : plan.images.objects) {
        if (!journal_->attic().contains(key) && !journal_->places().contains(key))
            TRY(anchor_live(key));
    }
    const Result<> inverted = restorer_.invert(plan.images, capture_.writer());
    if (!inverted) return inverted;  // records without a change are harmless
    if (survives_cuts()) TRY(capture_.sync());
    crash_point("revert.apply.before");
    TRY(set_pending(pending));
    if (options_.ordered) ignore(journal_->store().sync(), kAsUnproved);
    if (const Result<> none_late = refuse_late_writes(plan.images); !none_late) {
        if (back_to == head_.current) TRY(end_pending(head_.redo_tip));
        return none_late;
    }
    DataOfPlan data(plan, *journal_);
    const auto data_of = [&](const ObjectKey& key, std::size_t image) {
        return data.open(key, image);
    };
    const Result<> applied = apply(plan.images, data_of, Meanwhile::kStays);
    crash_point("revert.applied");
    tree_.unseen().drop_images();  // the state that this makes is what the files are
    if (!applied) return take_back_images(applied.error(), back_to);
    return {};
}

// After other parts of the same move, those must go back too before it has ended.
Result<> Workspace::take_back_images(const Error& why, NodeNumber back_to) {
    make_room_after(why);
    const auto back = [&]() -> Result<> {
        TRY_ASSIGN(const journal::Delta before,
                   journal::read_delta(journal_->state_dir().deltas(), capture_.delta()));
        return apply_delta(before, capture_.delta(), Meanwhile::kGoes);
    }();
    if (!back) {
        gate_.set_wounded(true);
        return Error(ErrorKind::kRecovery, why.number(),
                     why.message() + "; going back failed too: " + back.error().message(),
                     "`unwrite recover` finishes it");
    }
    if (back_to == head_.current) TRY(end_pending(head_.redo_tip));
    return why;
}

// Where the plan has conflicts, what went outside the mount may be the reason.
Result<> Workspace::check_written_behind(const RevertPlan& plan) {
    TRY_ASSIGN(std::vector<std::string> behind, put_outside(wanted_names(plan.images)));
    if (!plan.conflicts.empty()) {
        TRY_ASSIGN(const Edges edges, edges_to(head_.root));
        TRY_ASSIGN(const Vanished vanished, find_vanished(locator_, edges));
        behind.insert(behind.end(), vanished.paths.begin(), vanished.paths.end());
    }
    for (const auto& [key, image] : plan.images.objects) {
        if (image.size && is_written_behind(key))
            behind.push_back(locator_.live_path(key).value_or(journal::Attic::file_name(key)));
    }
    if (behind.empty()) return {};
    std::sort(behind.begin(), behind.end());
    return outside_conflict(behind);
}

Result<Moved> Workspace::carry_out(const Asker& asker, const RevertPlan& plan, const Record& record,
                                   bool dry_run) {
    TRY(check_written_behind(plan));
    if (!plan.conflicts.empty()) return conflict(plan.conflicts);
    if (!plan.left.empty() && changes_of(plan, locator_).empty()) return conflict(plan.left);
    if (plan.empty() && !record.is_part)
        return Error(ErrorKind::kNothing, ENOENT, "there is nothing to take back");
    Moved moved;
    moved.changes = changes_of(plan, locator_);
    name_owners(moved, origin_of(asker));
    if (!record.undoes.empty() && !record.undoes_open) {
        TRY_ASSIGN(const History history, this->history());
        name_who_went_back(history, record.undoes, moved, origin_of(asker));
    }
    moved.merged = plan.merged;
    moved.left = plan.left;
    if (dry_run) return moved;
    TRY(refuse_damaged(plan));
    RoomNeeded room(locator_);
    room.cross(plan.images, 0);
    TRY(refuse_without_room(room.amount()));
    moved.to = head_.current;
    TRY(close_step(0, asker.cause));
    const NodeNumber closed = head_.current;
    if (!capture_.interval_is_empty())
        TRY(seal({.kind = NodeKind::kBegin, .text = "before: " + record.text}));
    moved.from = head_.current;
    std::set<NodeNumber> undoes = record.undoes;
    if (record.undoes_open && closed != moved.to) undoes.insert(closed);
    const NodeNumber since = record.since == 0 ? moved.from : record.since;
    const NodeNumber back_to = record.is_part ? since : moved.from;
    TRY(apply_images(plan, back_to));
    Seal seal{.kind = record.hidden ? NodeKind::kBegin : NodeKind::kUndo,
              .text = record.text,
              .origin = origin_of(asker),
              .cause = asker.cause,
              .step = {.since = since, .undoes = std::move(undoes), .partly = !plan.left.empty()},
              .ends_pending = !record.hidden};
    const NodeNumber tip = head_.redo_tip;
    if (!record.redo_tip && tip != 0) seal.tags[kThenTag] = std::to_string(tip);
    if (!record.hidden) seal.redo_tip = record.redo_tip.value_or(kOwnNode);
    const auto sealed = this->seal(seal);
    if (!sealed) {
        TRY(take_back_images(sealed.error(), back_to));
    } else {
        moved.to = *sealed;
    }
    put_room_by();
    return moved;
}

Result<Moved> Workspace::revert_parts(const Asker& asker, const RevertSelection& selection,
                                      const Record& record, Consent consent) {
    TRY_ASSIGN(const History history, this->history());
    TRY_ASSIGN(const RevertPlan plan,
               plan_revert(history, locator_, *journal_, *origins_, selection));
    std::set<journal::DeltaNumber> deltas;
    for (const RevertPart& part : selection.parts) {
        if (part.deltas.empty()) deltas.insert(0);
        deltas.insert(part.deltas.begin(), part.deltas.end());
    }
    TRY(refuse_unproved(history, locator_, plan, deltas));
    if (consent == Consent::kAll) return carry_out(asker, plan, record, false);
    TRY_ASSIGN(Moved foreseen, carry_out(asker, plan, record, true));
    if (consent == Consent::kNone || !foreseen.others.empty()) return foreseen;
    return carry_out(asker, plan, record, false);
}

Result<Moved> Workspace::revert(const Asker& asker, const std::string& what, bool dry_run) {
    const Consent consent = dry_run ? Consent::kNone : Consent::kAll;
    TRY_ASSIGN(const auto step, step_called(what));
    if (step) return take_back(asker, {*step}, "undo " + what, consent, Extent::kPartly);
    Closing closing(operation_mutex_, gate_, tree_, restorer_);
    TRY(closing.refuse_if_unable("undo", 3));
    locator_.begin();
    RevertSelection selection;
    RevertPart part;
    if (what == kAgents) {
        TRY_ASSIGN(const History history, this->history());
        part.deltas = deltas_since_agents_went(history);
        for (const Origin& origin : origins_->all()) {
            if (origin.agent) part.origins.insert(origin.number);
        }
        if (part.origins.empty())
            return Error(ErrorKind::kNothing, ENOENT, "no agent has changed anything");
    } else {
        selection.partly = true;
        part.origins = origins_->of_session(what);
    }
    selection.parts.push_back(std::move(part));
    auto done = revert_parts(asker, selection,
                             {.text = "undo " + what, .undoes = steps_of_session(what)}, consent);
    if (!done && done.error().kind() == ErrorKind::kNothing)
        return Error(ErrorKind::kNothing, ENOENT,
                     "undo " + what + ": nothing that it changed can still be taken back");
    return done;
}

Result<Moved> Workspace::restore_paths(const Asker& asker, const std::vector<std::string>& paths,
                                       const std::string& node, bool dry_run) {
    Closing closing(operation_mutex_, gate_, tree_, restorer_);
    TRY(closing.refuse_if_unable("restore", 3));
    locator_.begin();
    TRY_ASSIGN(const History history, this->history());
    TRY_ASSIGN(const NodeNumber number, history.resolve(node, history.head.root));
    if (!dry_run) {
        TRY_ASSIGN(const Edges edges, edges_to(number));
        TRY_ASSIGN(const Vanished vanished, find_vanished(locator_, edges));
        if (!vanished.empty()) TRY(book_vanished(number));
    }
    TRY_ASSIGN(const RevertPlan plan, plan_paths(history, locator_, *journal_, number, paths));
    TRY(refuse_unproved(history, number, paths));
    auto done =
        carry_out(asker, plan, {.text = "restore from n" + std::to_string(number)}, dry_run);
    if (!done && done.error().kind() == ErrorKind::kNothing) {
        return Error(ErrorKind::kNothing, ENOENT,
                     "everything is as it was at n" + std::to_string(number) + " already");
    }
    return done;
}

}  // namespace unwrite::overlay
