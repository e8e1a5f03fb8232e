#include <algorithm>
#include <cerrno>
#include <map>

#include "base/crash_point.h"
#include "overlay/closing.h"
#include "overlay/path_plan.h"
#include "overlay/workspace.h"

namespace unwrite::overlay {

namespace {

// What all agents changed; a session of that name cannot be asked for.
constexpr const char* kAgents = ":agents";

/// What was changed on the trunk since the agents' changes were last taken out of it; empty: all.
/// What was put together then is the user's.
std::set<journal::DeltaNumber> deltas_since_agents_went(const History& history) {
    std::set<journal::DeltaNumber> deltas = {history.head.open_delta};
    const auto trunk = history.trunk();
    for (auto number = trunk.rbegin(); number != trunk.rend(); ++number) {
        const Node& node = history.nodes.at(*number);
        if (node.kind == NodeKind::kUndo && node.text == std::string("undo ") + kAgents)
            return deltas;
        if (node.parent != 0 && node.delta != 0) deltas.insert(node.delta);
    }
    return {};
}

Error conflict(const std::vector<std::string>& paths) {
    std::string list;
    for (const std::string& path : paths)
        list += "\n  " + path;
    return Error(ErrorKind::kConflict, EBUSY,
                 "undo: changed since by others or behind the mount, so nothing was done:" + list,
                 "take these back with `unwrite rollback`, or restore single files with `unwrite "
                 "restore PATH --from NODE`");
}

/// The files that the bytes of a plan are in: many, where many states changed a file in parts.
class DataOfPlan {
 public:
    DataOfPlan(const RevertPlan& plan, int deltas) : plan_(plan), deltas_(deltas) {}

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
    const std::shared_ptr<journal::DeltaDataPool> pool_ =
        std::make_shared<journal::DeltaDataPool>();
    std::map<journal::DeltaNumber, journal::DeltaDataPtr> found_;
    journal::OpenData own_;
};

}  // namespace

std::vector<Change> changes_of(const RevertPlan& plan, Locator& locator) {
    std::map<std::string, Change> changes;
    for (const auto& [at, state] : plan.images.names) {
        const auto parent = locator.live_path(at.parent);
        const auto standing = locator.standing(at);
        const bool exists = standing && standing->has_value();
        Change change;
        change.path = parent ? join_path(*parent, at.name) : at.name;
        change.type =
            state.image.object ? state.image.type : (exists ? (*standing)->type & S_IFMT : 0U);
        change.kind = !state.image.object ? ChangeKind::kDeleted
                      : exists            ? ChangeKind::kModified
                                          : ChangeKind::kCreated;
        change.content = true;
        change.origins.assign(state.origins.begin(), state.origins.end());
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
// undone like any other step. Until it is sealed, recovery goes back to its beginning.
Result<> Workspace::apply_images(const RevertPlan& plan) {
    const int deltas = journal_->state_dir().deltas();
    journal::Pending pending{journal::Pending::Verb::kRestore, head_.current, 0, 0, false};
    TRY(tree_.carry_unseen());
    tree_.capture_unseen(LiveTree::Images::kStay);
    const Result<> inverted = restorer_.invert(plan.images, capture_.writer());
    if (!inverted) return inverted;  // records without a change are harmless
    if (options_.durable) TRY(capture_.sync());
    crash_point("revert.apply.before");
    TRY(set_pending(pending));
    if (const Result<> none_late = refuse_late_writes(plan.images); !none_late) {
        TRY(end_pending(head_.redo_tip));
        return none_late;
    }
    DataOfPlan data(plan, deltas);
    const auto data_of = [&](const ObjectKey& key, std::size_t image) {
        return data.open(key, image);
    };
    const Result<> applied = apply(plan.images, data_of, Meanwhile::kStays);
    crash_point("revert.applied");
    tree_.unseen().drop_images();  // the state that this makes is what the files are
    if (!applied) return take_back_images(applied.error());
    return {};
}

Result<> Workspace::take_back_images(const Error& why) {
    const auto back = [&]() -> Result<> {
        TRY_ASSIGN(const journal::Delta before,
                   journal::read_delta(journal_->state_dir().deltas(), capture_.delta()));
        return apply_delta(before, capture_.delta(), Meanwhile::kGoes);
    }();
    if (!back) {
        gate_.set_wounded(true);
        return Error(ErrorKind::kRecovery, why.number(),
                     why.message() + "; going back failed too: " + back.error().message(),
                     "run `unwrite recover`");
    }
    TRY(end_pending(head_.redo_tip));
    return why;
}

Result<> Workspace::check_written_behind(const RevertPlan& plan) {
    std::vector<std::string> behind;
    for (const auto& [key, image] : plan.images.objects) {
        if (image.size && is_written_behind(key))
            behind.push_back(locator_.live_path(key).value_or(journal::Attic::file_name(key)));
    }
    if (behind.empty()) return {};
    return conflict(behind);
}

Result<Moved> Workspace::carry_out(const Asker& asker, const RevertPlan& plan,
                                   const std::string& text, bool dry_run) {
    if (!plan.conflicts.empty()) return conflict(plan.conflicts);
    if (plan.empty())
        return Error(ErrorKind::kNothing, ENOENT,
                     "No edits have been applied to any file with this session.");
    TRY(check_written_behind(plan));
    Moved moved;
    moved.changes = changes_of(plan, locator_);
    moved.others = others_in(moved.changes, origin_of(asker));
    moved.to = head_.current;
    if (dry_run) return moved;
    if (!capture_.interval_is_empty()) TRY(seal(NodeKind::kStep, "", "before: " + text, 0));
    moved.from = head_.current;
    TRY(apply_images(plan));
    const auto sealed = seal(NodeKind::kUndo, "", text, origin_of(asker), asker.cause, true);
    if (!sealed) {
        TRY(take_back_images(sealed.error()));
    } else {
        moved.to = *sealed;
    }
    return moved;
}

Result<Moved> Workspace::revert(const Asker& asker, const std::string& what, bool dry_run) {
    Closing closing(operation_mutex_, gate_, tree_, restorer_);
    TRY(closing.refuse_if_unable("undo", 3));
    locator_.begin();
    TRY_ASSIGN(const History history, this->history());
    RevertSelection selection;
    if (what == kAgents) {
        selection.merge = true;
        selection.deltas = deltas_since_agents_went(history);
        for (const Origin& origin : origins_->all()) {
            if (origin.agent) selection.origins.insert(origin.number);
        }
        if (selection.origins.empty())
            return Error(ErrorKind::kNothing, ENOENT, "discard: no agent has changed anything");
    } else {
        selection.origins = origins_->of_session(what);
    }
    if (selection.origins.empty()) {
        TRY_ASSIGN(const NodeNumber number, history.resolve(what, 0));
        const Node& node = history.nodes.at(number);
        if (node.kind == NodeKind::kRun) {
            selection.origins = origins_->of_run(number);
            if (selection.origins.empty())
                return Error(ErrorKind::kNothing, ENOENT,
                             "No edits have been applied to any file with this session.");
        } else if (!history.is_on_trunk(number) || number <= history.head.root) {
            return Error(ErrorKind::kUsage, EINVAL,
                         "undo " + what + ": it is not between the root and the live state",
                         "see `unwrite log`");
        } else {
            selection.deltas.insert(node.delta);
            const NodeNumber begin = history.before_turns(node.parent, node.number);
            for (NodeNumber at = node.parent; at != begin; at = history.nodes.at(at).parent)
                selection.deltas.insert(history.nodes.at(at).delta);
        }
    }
    TRY_ASSIGN(const RevertPlan plan,
               plan_revert(history, locator_, *journal_, *origins_, selection));
    return carry_out(asker, plan, "undo " + what, dry_run);
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
    auto done = carry_out(asker, plan, "restore from n" + std::to_string(number), dry_run);
    if (!done && done.error().kind() == ErrorKind::kNothing) {
        return Error(ErrorKind::kNothing, ENOENT,
                     "restore: everything is as at n" + std::to_string(number) + " already");
    }
    return done;
}

}  // namespace unwrite::overlay
