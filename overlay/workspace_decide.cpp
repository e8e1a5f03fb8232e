#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <set>

#include "base/crash_point.h"
#include "base/digest.h"
#include "base/paths.h"
#include "edit/diff.h"
#include "overlay/changes.h"
#include "overlay/closing.h"
#include "overlay/file_pairs.h"
#include "overlay/keep_plan.h"
#include "overlay/line_diff.h"
#include "overlay/path_plan.h"
#include "overlay/plan_bytes.h"
#include "overlay/workspace.h"

namespace unwrite::overlay {

using journal::DeltaNumber;
using journal::Pending;
using journal::Store;

/// A decision worked out, and not carried out yet.
struct Workspace::Weighed {
    KeepPlan keep{};
    RevertPlan back{};
    Decided decided{};
    std::vector<ObjectKey> parts{};  ///< files that the journal may speak of for the first time
    std::vector<Node> nodes{};       ///< whose delta speaks of what is kept
    bool open = false;               ///< the open interval's does
};

namespace {

Error cannot_have_both(const std::string& path) {
    return Error(
        ErrorKind::kConflict, EBUSY, "commit: " + path + " would be both accepted and taken back",
        "`unwrite commit --dry-run PATH` shows what belongs together; decide these paths as one");
}

std::string path_of(View& live, View& then, const NameKey& at) {
    auto path = live.path(at);
    if (!path) path = then.path(at);
    return path.value_or(at.name);
}

// The two must not speak of the same thing, or one would undo the other.
Result<> check_apart(const KeepPlan& keep, const RevertPlan& back, View& live, View& then) {
    for (const auto& [at, state] : back.images.names) {
        const bool same_object = state.image.object && keep.objects.contains(*state.image.object);
        if (keep.left_out.names.contains(at) || same_object)
            return cannot_have_both(path_of(live, then, at));
    }
    for (const auto& [key, image] : back.images.objects) {
        if (keep.left_out.objects.contains(key))
            return cannot_have_both(live.path(key).value_or("a file"));
    }
    return {};
}

Result<std::string> text_in(View& view, const std::optional<Located>& found,
                            const std::string& path) {
    const auto unfit = [&](const char* why) {
        return Error(ErrorKind::kConflict, EINVAL, "cannot accept a part of " + path + ": " + why,
                     "accept it whole, or reject it whole");
    };
    if (!found) return unfit("it was made in this task, so there are no parts to tell apart");
    if (!S_ISREG(found->type)) return unfit("it is not a regular file, or was not one");
    TRY_ASSIGN(const std::uint64_t size, view.size(*found));
    if (size > kMaxTextSize) return unfit("it is too large to be compared by lines");
    TRY_ASSIGN(const Content content, view.content(*found));
    TRY_ASSIGN(std::string bytes, content.read_all());
    if (edit::is_binary(bytes)) return unfit("it is not a text file");
    return bytes;
}

// Where the path's file was at the root: somewhere else, when it was renamed since.
Result<FilePair> pair_of(View& then, View& live, const std::string& path) {
    TRY_ASSIGN(Differences differences, differences_between(then, live));
    std::erase_if(differences.list,
                  [&](const Difference& difference) { return !concerns(difference.change, path); });
    TRY_ASSIGN(const auto pairs, file_pairs(then, live, differences, 20'000));
    for (const FilePair& pair : pairs) {
        if (pair.change.path == path && pair.newer) return pair;
    }
    return Error(ErrorKind::kNotFound, ENOENT,
                 "cannot accept a part of " + path + ": it has not changed",
                 "`unwrite status` lists what has changed");
}

// What the file shall hold goes into `bytes`, as the image of the plan.
class Parts {
 public:
    Parts(Locator& locator, View& then, View& live, RevertPlan& plan, KeepPlan& keep)
        : locator_(locator), then_(then), live_(live), plan_(plan), keep_(keep) {}

    Result<> add(const Decision::Part& part, int directory) {
        TRY_ASSIGN(const FilePair pair, pair_of(then_, live_, part.path));
        TRY_ASSIGN(const std::string now, text_in(live_, pair.newer, part.path));
        if (!part.seen.empty() && part.seen != to_text(digest_of(now))) {
            return Error(
                ErrorKind::kConflict, EBUSY,
                "cannot accept a part of " + part.path + ": it changed since it was looked at",
                "`unwrite diff` shows it as it is now");
        }
        TRY_ASSIGN(const std::string was, text_in(then_, pair.older, part.path));
        TRY_ASSIGN(const std::string wanted, edit::with_hunks(was, now, part.hunks));
        // The bytes of before are in the delta of the way back; the root has those of after.
        keep_.left_out.objects.insert(pair.newer->key);
        return wanted == now ? Result<>() : put(pair.newer->key, wanted, directory);
    }

 private:
    Result<> put(const ObjectKey& key, const std::string& wanted, int directory) {
        TRY_ASSIGN(const HandlePtr handle, locator_.object(key, Access::kPath));
        TRY_ASSIGN(auto attributes, read_attributes(handle->fd.get()));
        return plan_bytes(plan_, key, std::move(attributes), wanted, directory);
    }

    Locator& locator_;
    View& then_;
    View& live_;
    RevertPlan& plan_;
    KeepPlan& keep_;
};

std::vector<std::string> kept_paths(const Decision& decision) {
    std::vector<std::string> paths = decision.keep;
    for (const Decision::Part& part : decision.parts)
        paths.push_back(part.path);
    return paths;
}

void tell_needed(const KeepPlan& keep, const std::vector<std::string>& asked, Decided& decided) {
    const auto is_asked = [&](const std::string& path) {
        return std::any_of(asked.begin(), asked.end(),
                           [&](const std::string& one) { return is_at_or_below(path, one); });
    };
    for (const Change& change : decided.kept) {
        for (const std::string& path : {change.path, change.old_path}) {
            if (path.empty() || is_asked(path)) continue;
            const auto reason = keep.reasons.find(path);
            decided.needed.push_back({path, reason == keep.reasons.end()
                                                ? "the kept part hangs on it"
                                                : reason->second});
        }
    }
}

// What stands there now as it did at the root is no change, but a state in between had something
// else there, and loses it.
Result<> tell_between(const KeepPlan& keep, View& then, View& live, Decided& decided) {
    std::set<std::string> concerned;
    for (const NameKey& at : keep.left_out.names)
        concerned.insert(path_of(live, then, at));
    for (const ObjectKey& key : keep.left_out.objects)
        concerned.insert(live.path(key).value_or(""));
    for (const Change& change : decided.kept) {
        concerned.erase(change.path);
        concerned.erase(change.old_path);
    }
    for (const auto& [path, reason] : keep.reasons) {
        if (!concerned.contains(path)) continue;
        TRY_ASSIGN(const auto was, then.find(path));
        TRY_ASSIGN(const auto now, live.find(path));
        if (was && now) decided.needed.push_back({path, reason});
    }
    return {};
}

}  // namespace

Result<Workspace::Weighed> Workspace::weigh(const Asker& asker, const Decision& decision) {
    TRY_ASSIGN(const History history, this->history());
    Layers layers(*journal_);
    auto names = std::make_shared<LiveNamesOf>(locator_);
    TRY_ASSIGN(View then, View::of_node(names, layers, history, head_.root));
    View live(names, {});
    Weighed weighed;
    if (!decision.take_back.empty()) {
        TRY_ASSIGN(weighed.back,
                   plan_paths(history, locator_, *journal_, head_.root, decision.take_back));
    }
    const std::vector<std::string> asked = kept_paths(decision);
    if (!asked.empty()) {
        TRY_ASSIGN(weighed.keep, plan_keep(history, layers, locator_, asked));
        TRY(check_apart(weighed.keep, weighed.back, live, then));
        TRY_ASSIGN(View after, view_with_kept(weighed.keep, names, layers, history, head_.root));
        TRY_ASSIGN(weighed.decided.kept, changes_between(then, after));
        tell_needed(weighed.keep, asked, weighed.decided);
        TRY(tell_between(weighed.keep, then, live, weighed.decided));
        weighed.decided.given_up = weighed.keep.given_up.size();
    }
    Parts parts(locator_, then, live, weighed.back, weighed.keep);
    for (const Decision::Part& part : decision.parts)
        TRY(parts.add(part, journal_->state_dir().deltas()));
    for (const auto& [key, numbers] : weighed.back.data) {
        if (!numbers.empty() && numbers.front() == 0) weighed.parts.push_back(key);
    }
    weighed.decided.taken_back = changes_of(weighed.back, locator_);
    weighed.decided.others = others_in(weighed.decided.taken_back, origin_of(asker));
    for (const NodeNumber number : history.trunk()) {
        const Node& node = history.nodes.at(number);
        if (node.parent == 0 || node.delta == 0) continue;
        TRY_ASSIGN(const LayerPtr layer, layers.read(node.delta));
        if (weighed.keep.concerns(node.delta, layer->delta)) weighed.nodes.push_back(node);
    }
    TRY_ASSIGN(const LayerPtr open, layers.read(head_.open_delta));
    weighed.open = weighed.keep.concerns(head_.open_delta, open->delta);
    return weighed;
}

// One transaction: the deltas that say less take the place of the others, and what was taken back
// becomes a node, beside which the state before stays.
Result<> Workspace::write_decision(const Weighed& weighed, const Decision& decision,
                                   OriginNumber origin) {
    const int deltas = journal_->state_dir().deltas();
    std::vector<journal::DeltaSeal> seals;
    const auto derive = [&](DeltaNumber from) -> Result<DeltaNumber> {
        Store::Change number;
        number.take_delta_number = true;
        TRY_ASSIGN(const Store::Changed taken, store(number));
        static const std::vector<NameKey> none;
        const auto absent = weighed.keep.absent.find(from);
        TRY(journal::derive_delta(deltas, from, taken.delta, weighed.keep.left_out,
                                  absent == weighed.keep.absent.end() ? none : absent->second));
        TRY_ASSIGN(const journal::DeltaSeal made, journal::measure_delta(deltas, taken.delta));
        seals.push_back(made);
        return taken.delta;
    };
    Store::Change change;
    if (!weighed.back.empty()) {
        TRY(sync_if_durable());
        TRY_ASSIGN(change,
                   sealing({.kind = NodeKind::kUndo, .text = decision.text, .origin = origin}));
        Node before = change.add_nodes.front();
        before.kind = NodeKind::kStep;
        before.text = "before: " + decision.text;
        before.down = true;
        if (head_.redo_tip != 0) before.tags[kLeftThenTag] = std::to_string(head_.redo_tip);
        TRY_ASSIGN(change.add_nodes.front().delta, derive(head_.open_delta));
        change.add_nodes.push_back(std::move(before));
        change.redo_tip_is_added_node = true;
        change.pending = std::optional<Pending>();
    } else {
        change.head = head_;
    }
    for (Node node : weighed.nodes) {
        TRY_ASSIGN(node.delta, derive(node.delta));
        change.update_nodes.push_back(std::move(node));
    }
    change.remove_nodes.assign(weighed.keep.given_up.begin(), weighed.keep.given_up.end());
    if (weighed.keep.given_up.contains(head_.redo_tip)) change.head->redo_tip = 0;
    change.seals.insert(change.seals.end(), seals.begin(), seals.end());
    crash_point("decide.before");
    TRY_ASSIGN(const Store::Changed changed, store(change));
    crash_point("decide.after");
    if (!weighed.back.empty()) janitor_.free(capture_.begin_interval(changed.delta));
    for (const Node& node : change.add_nodes)
        is_sealed(node.delta);
    for (const Node& node : change.update_nodes)
        is_sealed(node.delta);
    return {};
}

// What the journal is to speak of must be found wherever it goes, and outlive its names.
Result<> Workspace::anchor_live(const ObjectKey& key) {
    const auto name = locator_.live_name(key);
    if (!name) return {};
    TRY_ASSIGN(const HandlePtr parent, locator_.directory(name->parent));
    capture_.note(key);
    TRY(locator_.note_places(name->parent));
    TRY(journal_->places().set(key, *name));
    const Result<> anchored = journal_->attic().anchor(parent->fd.get(), name->name, key);
    const int number = anchored ? 0 : anchored.error().number();
    // As for a capture, the place alone must do for what cannot be linked.
    if (number == EPERM || number == EMLINK || number == EACCES) return {};
    return anchored;
}

Result<> Workspace::apply_decision(const Weighed& weighed, const Decision& decision,
                                   OriginNumber origin) {
    if (!weighed.back.empty()) TRY(apply_images(weighed.back, head_.current));
    const Result<> written = write_decision(weighed, decision, origin);
    if (!written && !weighed.back.empty()) return take_back_images(written.error(), head_.current);
    TRY(written);
    return journal_->remove_unreferenced_deltas();
}

Result<Decided> Workspace::decide(const Asker& asker, const Decision& decision, bool dry_run) {
    Closing closing(operation_mutex_, gate_, tree_, restorer_);
    TRY(closing.refuse_if_unable("commit"));
    locator_.begin();
    TRY_ASSIGN(Weighed weighed, weigh(asker, decision));
    if (weighed.keep.empty() && weighed.back.empty())
        return Error(ErrorKind::kNothing, ENOENT, "nothing has changed there since the task began");
    TRY(check_written_behind(weighed.back));
    weighed.decided.current = head_.current;
    if (dry_run) return std::move(weighed.decided);
    TRY(refuse_damaged(weighed.back));
    const OriginNumber origin = origin_of(asker);
    if (!capture_.interval_is_empty()) {
        const DeltaNumber sealed = head_.open_delta;
        TRY_ASSIGN(const NodeNumber number, seal({.origin = origin}));
        if (weighed.open) {
            const std::lock_guard lock(journal_->store_mutex());
            TRY_ASSIGN(const auto node, journal_->store().node(number));
            if (node && node->delta == sealed) weighed.nodes.push_back(*node);
        }
    }
    for (const ObjectKey& key : weighed.parts)
        TRY(anchor_live(key));
    const bool moves = !weighed.back.empty();
    TRY(apply_decision(weighed, decision, origin));
    weighed.decided.current = head_.current;
    weighed.decided.from = moves ? head_.redo_tip : 0;
    janitor_.sweep();
    return std::move(weighed.decided);
}

}  // namespace unwrite::overlay
