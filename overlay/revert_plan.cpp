#include "overlay/revert_plan.h"

#include <algorithm>

#include "overlay/plan_bytes.h"
#include "overlay/ranged.h"
#include "overlay/revert_git.h"
#include "overlay/revert_left.h"
#include "overlay/revert_merge.h"

namespace unwrite::overlay {

using journal::ContentImage;
using journal::NameImage;
using journal::ObjectImage;

namespace {

constexpr int kMostSteps = 100'000;  // up from a name: an end where places run in a circle

class Planner {
 public:
    /// `touches`: after drop_idle(). `merge_in`: the journal's directory of deltas, for texts that
    /// are put together.
    Planner(const RevertTouches& touches, std::shared_ptr<LiveNamesOf> live, int merge_in)
        : touches_(touches),
          merge_in_(merge_in),
          live_names_(std::move(live)),
          live_(live_names_, {}),
          planned_(live_names_, {}) {}

    Result<RevertPlan> run() {
        TRY_ASSIGN(puts_of_others_, touches_.put_by_others(live_));
        removals_ = touches_.removals();
        moved_on_ = touches_.taken_by_others();
        TRY(plan_names());
        plan_view();
        TRY(plan_replaced());
        TRY(check_last_names());
        TRY(check_names());
        TRY(check_work_of_others());
        TRY(check_lost_work());
        TRY(plan_objects());
        plan_.conflicts.assign(conflicts_.begin(), conflicts_.end());
        plan_.merged.assign(merged_.begin(), merged_.end());
        return std::move(plan_);
    }
    /// What the conflicts are about. After run().
    const Blockers& blockers() const { return blockers_; }

 private:
    Result<> plan_names();
    void plan_view();
    Result<> plan_replaced();
    Result<bool> put_together(ReplacedFile& file);
    Result<> drop_passages(const std::vector<ReplacedFile>& files);
    Result<bool> is_already(const Remains& remains);
    Result<bool> can_take(const Remains& remains, const ReplacedFile& file);
    Result<> check_last_names();
    Result<> check_names();
    Result<bool> check_name(const NameImage& image);
    bool came_back_at(const NameKey& at, const ObjectKey& key);
    bool stood_in_removed(const NameKey& at, const LayerPtr& layer);
    Result<> check_work_of_others();
    Result<> check_lost_work();
    void check_lost(const ObjectKey& key, const std::optional<NameKey>& at);
    Result<> plan_objects();
    Result<> plan_object(const ObjectKey& key, const std::vector<ObjectTouch>& touches);
    void compose(const ObjectKey& key, const std::vector<ObjectTouch>& touches);
    Result<bool> merge(const ObjectKey& key, const std::vector<ObjectTouch>& touches);
    View& view_before(std::size_t part);
    std::function<View&(std::size_t)> states() {
        return [this](std::size_t part) -> View& { return view_before(part); };
    }
    void conflict(std::optional<std::string> path, const ObjectKey& key);
    void conflict_at(const NameKey& at, std::optional<std::string> path, const ObjectKey& key);
    void conflict_in(const ObjectKey& key, std::optional<std::string> path);
    void block_way_to(ObjectKey key);

    const RevertTouches& touches_;
    int merge_in_;
    std::shared_ptr<LiveNamesOf> live_names_;
    View live_;
    View planned_;                        // the live state with the plan's names
    std::map<std::size_t, View> states_;  // see view_before()
    RevertPlan plan_;
    std::set<std::string> conflicts_;
    Blockers blockers_;
    std::set<std::string> merged_;
    std::vector<std::pair<NameKey, ObjectKey>> puts_of_others_;
    std::unordered_map<ObjectKey, RevertTouches::Removal> removals_;
    std::unordered_set<ObjectKey> moved_on_;
    std::unordered_set<NameKey> contested_;  // names: conflicts, if they are not put together
    std::unordered_set<ObjectKey> taken_;    // by files that were put together
    std::unordered_set<ObjectKey> settled_;  // those of them with which nothing else is to be done
};

void Planner::conflict(std::optional<std::string> path, const ObjectKey& key) {
    if (path && path->empty()) path = ".";
    // A name that it had: what is listed are files, not numbers.
    for (std::size_t part = touches_.parts.size(); !path && part-- > 0;) {
        if (const auto& then = view_before(part).path(key)) path = *then + " (removed since)";
    }
    conflicts_.insert(path.value_or("a file that was removed since"));
}

void Planner::conflict_at(const NameKey& at, std::optional<std::string> path,
                          const ObjectKey& key) {
    blockers_.names.insert(at);
    conflict(std::move(path), key);
}

void Planner::conflict_in(const ObjectKey& key, std::optional<std::string> path) {
    blockers_.objects.insert(key);
    conflict(std::move(path), key);
}

// What the plan takes away above it, so that it would go along.
void Planner::block_way_to(ObjectKey key) {
    for (int steps = 0; steps < kMostSteps && key != live_names_->root(); ++steps) {
        const auto name = live_.name_of(key);
        if (!name) return;
        if (plan_.images.names.contains(*name)) blockers_.names.insert(*name);
        key = name->parent;
    }
}

Result<> Planner::plan_names() {
    for (const auto& [at, touches] : touches_.names) {
        const auto first = first_selected(touches);
        if (first == touches.end()) continue;
        const NameImage& image = first->image->image;
        if (!image.object && !live_.path(at.parent)) continue;
        TRY_ASSIGN(const auto now, live_.at(at));
        const auto standing = now ? std::optional(now->key) : std::nullopt;
        if (standing == image.object) continue;
        if (is_contested(touches)) contested_.insert(at);
        plan_.images.names[at] = {image, first->image->origins};
    }
    return {};
}

// Files that were replaced under their names, as editors save: of those that others changed as
// well, too.
Result<> Planner::plan_replaced() {
    std::vector<ReplacedFile> files;
    for (const auto& [at, touches] : touches_.names) {
        if (touches.empty() || !planned_.path(at.parent)) continue;
        TRY_ASSIGN(const auto now, live_.at(at));
        if (!now || !S_ISREG(now->type)) continue;
        std::optional<ReplacedFile> file = replaced_file(touches_, at, now->key);
        if (!file) continue;
        TRY_ASSIGN(const bool done, put_together(*file));
        if (done) files.push_back(*std::move(file));
    }
    TRY(drop_passages(files));
    plan_view();
    for (const ReplacedFile& file : files) {
        for (const ObjectKey& key : file.objects) {
            // One that is, or goes on, at another name, or was written to there, is looked at by
            // itself.
            const auto name = live_.name_of(key);
            const bool is_elsewhere = planned_.path(key) || (name && *name != file.at) ||
                                      file.written_elsewhere.contains(key);
            if (key == file.outcome || !is_elsewhere) settled_.insert(key);
        }
    }
    for (const NameKey& at : contested_) {
        auto path = live_.path(at);
        conflict_at(at, path ? std::move(path) : at.name, at.parent);
    }
    return {};
}

// Names that such files only passed on their way, where both sides used the same ones.
Result<> Planner::drop_passages(const std::vector<ReplacedFile>& files) {
    for (const ReplacedFile& file : files)
        contested_.erase(file.at);
    for (auto at = contested_.begin(); at != contested_.end();) {
        const auto planned = plan_.images.names.find(*at);
        TRY_ASSIGN(const auto now, live_.at(*at));
        const auto& object = planned->second.image.object;
        const bool passed = !now && object && taken_.contains(*object);
        if (passed) plan_.images.names.erase(planned);
        at = passed ? contested_.erase(at) : std::next(at);
    }
    return {};
}

Result<bool> Planner::put_together(ReplacedFile& file) {
    TRY_ASSIGN(const auto now, live_.at(file.at));
    if (!now) return false;
    // What the selection put there goes on elsewhere, with what others did to it.
    const auto is_elsewhere = [&](const ObjectKey& key) { return planned_.path(key).has_value(); };
    if (std::any_of(file.brought.begin(), file.brought.end(), is_elsewhere)) return false;
    std::optional<Remains> remains;
    const auto is_taken = [&](const ObjectKey& key) { return taken_.contains(key); };
    if (std::none_of(file.objects.begin(), file.objects.end(), is_taken)) {
        TRY_ASSIGN(remains, without_selected(file.steps, now->key, live_, states()));
    }
    TRY_ASSIGN(const bool may, remains ? can_take(*remains, file) : Result<bool>(false));
    if (!may) {
        conflict_at(file.at, live_.path(file.at), now->key);
        return false;
    }
    taken_.insert(file.objects.begin(), file.objects.end());
    file.outcome = remains->object;
    plan_.images.names.erase(file.at);
    if (remains->displaced)
        plan_.images.names[file.at] = {NameImage{file.at, remains->object, S_IFREG}, file.origins};
    TRY_ASSIGN(const bool same, is_already(*remains));
    if (same) return true;
    if (const auto path = live_.path(file.at)) merged_.insert(*path);
    // No origin of the selection: what remains is what the others made.
    TRY(plan_bytes(plan_, remains->object, remains->attributes, remains->bytes, merge_in_));
    return true;
}

Result<bool> Planner::is_already(const Remains& remains) {
    const Located there{remains.object, S_IFREG, nullptr, {}, 0};
    TRY_ASSIGN(journal::Attributes now, live_.attributes(there));
    now.mtime_s = remains.attributes.mtime_s;
    now.mtime_ns = remains.attributes.mtime_ns;
    if (now != remains.attributes) return false;
    TRY_ASSIGN(const Content content, live_.content(there));
    TRY_ASSIGN(const std::string bytes, content.read_all());
    return bytes == remains.bytes;
}

// The file that the selection replaced comes back only as it was when that was done.
Result<bool> Planner::can_take(const Remains& remains, const ReplacedFile& file) {
    if (!remains.displaced) return true;
    for (const auto& [at, key] : puts_of_others_) {
        if (key != remains.object || at == file.at || !live_.path(at.parent)) continue;
        TRY_ASSIGN(const auto there, live_.at(at));
        if (there && there->key == key) return false;  // others keep it there
    }
    const auto touched = touches_.objects.find(remains.object);
    if (touched == touches_.objects.end()) return true;
    // In the part in which it was replaced: others wrote to it after that, else a turn had come
    // between.
    return std::none_of(
        touched->second.begin(), touched->second.end(), [&](const ObjectTouch& touch) {
            return touch.others && touch.real && touch.part + 1 >= *remains.displaced;
        });
}

void Planner::plan_view() {
    auto layer = std::make_shared<Layer>();
    layer->delta.names = plan_.images.names;
    layer->index();
    planned_ = View(live_names_, std::vector<LayerPtr>{std::move(layer)});
}

// A file that was there before the selection gave it one more name, and whose older names others
// have removed since: the last one does not go.
Result<> Planner::check_last_names() {
    for (const auto& [at, state] : plan_.images.names) {
        if (!live_.path(at.parent)) continue;
        TRY_ASSIGN(const auto now, live_.at(at));
        if (!now || settled_.contains(now->key) || planned_.path(now->key)) continue;
        const auto removal = removals_.find(now->key);
        if (removal == removals_.end() || !removal->second.by_others || removal->second.left)
            continue;
        const std::size_t part = first_selected(touches_.names.at(at))->part;
        if (view_before(part).path(now->key)) conflict_at(at, live_.path(at), now->key);
    }
    return {};
}

Result<> Planner::check_names() {
    std::vector<NameKey> unneeded;
    for (const auto& [at, state] : plan_.images.names) {
        TRY_ASSIGN(const bool needed, check_name(state.image));
        if (!needed) unneeded.push_back(at);
    }
    for (const NameKey& at : unneeded)
        plan_.images.names.erase(at);
    return {};
}

// False when the name lies in what the plan removes, or nothing was there and its directory is
// gone.
Result<bool> Planner::check_name(const NameImage& image) {
    if (!planned_.path(image.at.parent)) {
        if (!image.object ||
            stood_in_removed(image.at, first_selected(touches_.names.at(image.at))->layer))
            return false;
        conflict_at(image.at, image.at.name, image.at.parent);
        return false;
    }
    if (!image.object) return true;
    const auto opened =
        live_names_->open(Located{*image.object, image.type, nullptr, {}, 0}, Access::kPath);
    if (!opened) {
        if (!is_vanished(opened.error())) return opened.error();
        conflict_at(image.at, planned_.path(image.at), *image.object);
    }
    // A directory can be at one name only, and so is a file that was moved on: where it is now must
    // be taken back too.
    const auto elsewhere = live_.name_of(*image.object);
    if (!elsewhere || plan_.images.names.contains(*elsewhere)) return true;
    if (S_ISDIR(image.type) || moved_on_.contains(*image.object) ||
        came_back_at(*elsewhere, *image.object))
        conflict_at(image.at, live_.path(*elsewhere), *image.object);
    return true;
}

// It had been removed, and somebody else's undo put it there again; a link is made of what is
// there.
bool Planner::came_back_at(const NameKey& at, const ObjectKey& key) {
    const auto touched = touches_.names.find(at);
    if (touched == touches_.names.end() || touched->second.empty()) return false;
    const NameTouch& last = touched->second.back();
    const auto removal = removals_.find(key);
    return last.others && removal != removals_.end() && removal->second.part < last.part &&
           !view_before(last.part).path(key);
}

// The name stood below something that the selection itself had made: climbs as things were at the
// time.
bool Planner::stood_in_removed(const NameKey& at, const LayerPtr& layer) {
    View then(live_names_, std::vector<LayerPtr>{layer});
    ObjectKey parent = at.parent;
    for (int steps = 0; steps < kMostSteps && parent != live_names_->root(); ++steps) {
        const auto name = then.name_of(parent);
        if (!name) return false;
        const auto touched = touches_.names.find(*name);
        if (touched != touches_.names.end()) {
            const auto first = first_selected(touched->second);
            if (first != touched->second.end() && first->image->image.object != parent) return true;
        }
        parent = name->parent;
    }
    return false;
}

// What someone else made or changed and what is there now must still be there afterwards.
Result<> Planner::check_work_of_others() {
    for (const auto& [at, touches] : touches_.names) {
        const bool others = std::any_of(touches.begin(), touches.end(),
                                        [](const NameTouch& touch) { return touch.others; });
        if (!others || !live_.path(at.parent) || planned_.path(at.parent)) continue;
        TRY_ASSIGN(const auto now, live_.at(at));
        if (!now) continue;
        block_way_to(at.parent);
        conflict(live_.path(at), now->key);
    }
    for (const auto& [key, touches] : touches_.objects) {
        if (settled_.contains(key)) continue;
        const bool others =
            std::any_of(touches.begin(), touches.end(),
                        [](const ObjectTouch& touch) { return touch.others && touch.real; });
        if (!others || !live_.path(key) || planned_.path(key)) continue;
        block_way_to(key);
        conflict_in(key, live_.path(key));
    }
    return {};
}

// What someone else made or changed last and the selection then replaced or removed must come back,
// or be part of what is put together: it is nowhere else.
Result<> Planner::check_lost_work() {
    for (const auto& [at, key] : puts_of_others_)
        check_lost(key, at);
    for (const auto& [key, touches] : touches_.objects) {
        if (std::any_of(touches.begin(), touches.end(),
                        [](const ObjectTouch& touch) { return touch.others && touch.real; }))
            check_lost(key, std::nullopt);
    }
    return {};
}

void Planner::check_lost(const ObjectKey& key, const std::optional<NameKey>& at) {
    if (settled_.contains(key) || planned_.path(key)) return;
    const auto removal = removals_.find(key);
    if (removal == removals_.end() || removal->second.by_others) return;
    blockers_.objects.insert(key);
    conflict_at(removal->second.from, live_.path(at.value_or(removal->second.from)), key);
}

Result<> Planner::plan_objects() {
    for (const auto& [key, touches] : touches_.objects) {
        if (first_selected(touches) == touches.end() || settled_.contains(key)) continue;
        TRY(plan_object(key, touches));
    }
    return {};
}

Result<> Planner::plan_object(const ObjectKey& key, const std::vector<ObjectTouch>& touches) {
    const auto first = first_selected(touches);
    const auto path = planned_.path(key);
    const bool mtime_only =
        std::none_of(first, touches.end(), [](const ObjectTouch& touch) { return touch.real; });
    if (mtime_only) {
        const bool alone = std::none_of(first, touches.end(),
                                        [](const ObjectTouch& touch) { return touch.others; });
        if (path && alone) compose(key, touches);
        return {};
    }
    if (!path) {
        // Removed by the plan, or by the selection itself (what it had made); else what it changed
        // was removed by someone else.
        if (live_.path(key)) return {};
        const auto removal = removals_.find(key);
        if (removal == removals_.end()) {
            conflict_in(key, std::nullopt);
        } else if (removal->second.by_others) {
            conflict_in(key, live_.path(removal->second.from));
        }
        return {};
    }
    if (is_contested(touches)) {
        TRY_ASSIGN(const bool done, merge(key, touches));
        if (done) return {};
        conflict_in(key, path);
    }
    if (is_imageless(*first)) conflict_in(key, path);
    compose(key, touches);
    return {};
}

Result<bool> Planner::merge(const ObjectKey& key, const std::vector<ObjectTouch>& touches) {
    std::vector<MergeStep> steps;
    for (const ObjectTouch& touch : touches)
        steps.push_back(step_of(touch, key));
    TRY_ASSIGN(const auto remains, without_selected(steps, key, live_, states()));
    if (!remains) return false;
    TRY_ASSIGN(const bool same, is_already(*remains));
    if (same) return true;
    if (auto path = planned_.path(key)) merged_.insert(*std::move(path));
    TRY(plan_bytes(plan_, key, remains->attributes, remains->bytes, merge_in_));
    return true;
}

// The state before a part; that of now after the last one.
View& Planner::view_before(std::size_t part) {
    const auto known = states_.find(part);
    if (known != states_.end()) return known->second;
    std::vector<LayerPtr> crossed;
    for (std::size_t at = touches_.parts.size(); at > part;)
        crossed.push_back(touches_.parts[--at]);
    return states_.emplace(part, View(live_names_, std::move(crossed))).first->second;
}

void Planner::compose(const ObjectKey& key, const std::vector<ObjectTouch>& touches) {
    ObjectImage image;
    std::vector<journal::DeltaNumber> data;
    for (const ObjectTouch& touch : touches) {
        if (!touch.selected) continue;
        if (!image.attributes) image.attributes = touch.image->attributes;
        if (!image.size) image.size = touch.image->size;
        image.origins.insert(touch.image->origins.begin(), touch.image->origins.end());
    }
    if (image.size) {
        Ranged ranged(image, data);
        for (const ObjectTouch& touch : touches) {
            if (!touch.selected) continue;
            for (const ContentImage& range : touch.image->content)
                ranged.add(range, touch.layer->number);
        }
    }
    plan_.images.objects[key] = std::move(image);
    plan_.data[key] = std::move(data);
}

/// Rounds in which something more is left: what lies in what was left comes up in the next one.
constexpr int kMostRounds = 100;

}  // namespace

Result<RevertPlan> plan_revert(const History& history, Locator& locator, journal::Journal& journal,
                               const Origins& origins, const RevertSelection& selection) {
    Layers layers(journal);
    TRY_ASSIGN(RevertTouches touches, RevertTouches::read(history, layers, origins, selection));
    const auto names = std::make_shared<LiveNamesOf>(locator);
    View live(names, {});
    TRY(touches.drop_idle(live));
    TRY(spare_git(touches, names));
    Left left(touches, live);
    if (selection.partly) TRY(left.add({}, {}));
    for (int round = 0;; ++round) {
        Planner planner(touches, names, journal.state_dir().deltas());
        TRY_ASSIGN(RevertPlan plan, planner.run());
        if (plan.conflicts.empty()) plan.left = left.after(plan);
        if (plan.conflicts.empty() || !selection.partly) return plan;
        TRY_ASSIGN(const bool any, left.add(planner.blockers(), plan.conflicts));
        if (any && round < kMostRounds) continue;
        plan.conflicts = left.paths();
        return plan;
    }
}

}  // namespace unwrite::overlay
