#include "overlay/revert_plan.h"

#include <algorithm>

#include "overlay/plan_bytes.h"
#include "overlay/ranged.h"
#include "overlay/revert_git.h"
#include "overlay/revert_left.h"
#include "overlay/revert_planner.h"

namespace unwrite::overlay {

using journal::ContentImage;
using journal::NameImage;
using journal::ObjectImage;

Result<RevertPlan> RevertPlanner::run() {
    TRY_ASSIGN(puts_of_others_, touches_.put_by_others(live_));
    removals_ = touches_.removals();
    moved_on_ = touches_.taken_by_others();
    TRY(plan_names());
    plan_view();
    TRY(plan_replaced());
    TRY(check_last_names());
    check_moved_on();
    TRY(check_names());
    TRY(check_work_of_others());
    TRY(check_lost_work());
    TRY(plan_objects());
    plan_.conflicts.assign(conflicts_.begin(), conflicts_.end());
    plan_.merged.assign(merged_.begin(), merged_.end());
    return std::move(plan_);
}

void RevertPlanner::conflict(std::optional<std::string> path, const ObjectKey& key) {
    if (path && path->empty()) path = ".";
    // A name that it had: what is listed are files, not numbers.
    for (std::size_t part = touches_.parts.size(); !path && part-- > 0;) {
        if (const auto& then = view_before(part).path(key)) path = *then + " (removed since)";
    }
    conflicts_.insert(path.value_or("a file that was removed since"));
}

void RevertPlanner::conflict_at(const NameKey& at, std::optional<std::string> path,
                                const ObjectKey& key) {
    blockers_.names.insert(at);
    conflict(std::move(path), key);
}

// Of a name whose directory may be gone.
std::string RevertPlanner::path_once(const NameKey& at) {
    if (auto path = live_.path(at)) return *std::move(path);
    for (std::size_t part = touches_.parts.size(); part-- > 0;) {
        if (const auto then = view_before(part).path(at)) return *then + " (removed since)";
    }
    return at.name;
}

void RevertPlanner::conflict_in(const ObjectKey& key, std::optional<std::string> path) {
    blockers_.objects.insert(key);
    conflict(std::move(path), key);
}

Result<> RevertPlanner::plan_names() {
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
Result<> RevertPlanner::plan_replaced() {
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
    for (const NameKey& at : contested_)
        conflict_at(at, path_once(at), at.parent);
    return {};
}

// Names that such files only passed on their way, where both sides used the same ones.
Result<> RevertPlanner::drop_passages(const std::vector<ReplacedFile>& files) {
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

Result<bool> RevertPlanner::put_together(ReplacedFile& file) {
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

Result<bool> RevertPlanner::is_already(const Remains& remains) {
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
Result<bool> RevertPlanner::can_take(const Remains& remains, const ReplacedFile& file) {
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

void RevertPlanner::plan_view() {
    auto layer = std::make_shared<Layer>();
    layer->delta.names = plan_.images.names;
    layer->index();
    planned_ = View(live_names_, std::vector<LayerPtr>{std::move(layer)});
}

Result<> RevertPlanner::plan_objects() {
    for (const auto& [key, touches] : touches_.objects) {
        if (first_selected(touches) == touches.end() || settled_.contains(key)) continue;
        TRY(plan_object(key, touches));
    }
    return {};
}

Result<> RevertPlanner::plan_object(const ObjectKey& key, const std::vector<ObjectTouch>& touches) {
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

Result<bool> RevertPlanner::merge(const ObjectKey& key, const std::vector<ObjectTouch>& touches) {
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
View& RevertPlanner::view_before(std::size_t part) {
    const auto known = states_.find(part);
    if (known != states_.end()) return known->second;
    std::vector<LayerPtr> crossed;
    for (std::size_t at = touches_.parts.size(); at > part;)
        crossed.push_back(touches_.parts[--at]);
    return states_.emplace(part, View(live_names_, std::move(crossed))).first->second;
}

void RevertPlanner::compose(const ObjectKey& key, const std::vector<ObjectTouch>& touches) {
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

namespace {

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
        RevertPlanner planner(touches, names, journal.state_dir().deltas());
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
