#include "overlay/keep_plan.h"

#include <algorithm>
#include <cerrno>

#include "base/paths.h"
#include "overlay/databases.h"

namespace unwrite::overlay {

namespace {

using journal::DeltaNumber;
using journal::NameState;
using journal::NodeNumber;

// Places may lead in a circle.
constexpr int kMostSteps = 10'000;

bool is_asked_in(const std::optional<std::string>& path, const std::vector<std::string>& asked) {
    return path && std::any_of(asked.begin(), asked.end(),
                               [&](const std::string& one) { return is_at_or_below(*path, one); });
}

class KeepPlanner {
 public:
    KeepPlanner(const History& history, Layers& layers, Locator& locator,
                const std::vector<std::string>& paths, std::shared_ptr<LiveNamesOf> names,
                View then, std::vector<LayerPtr> trunk)
        : history_(history),
          layers_(layers),
          locator_(locator),
          asked_(paths),
          paths_(with_whole_databases(paths)),
          names_(std::move(names)),
          then_(std::move(then)),
          live_(names_, {}),
          trunk_(std::move(trunk)) {}

    Result<KeepPlan> plan();

 private:
    struct Row {
        std::set<ObjectKey> objects{};  ///< that stood at the name in any state, the live one too
        std::set<ObjectKey> images{};   ///< of them those that a state below stands for
    };

    bool is_asked(const std::optional<std::string>& path) const {
        return is_asked_in(path, paths_);
    }
    bool is_named(const std::string& path) const {
        return std::find(asked_.begin(), asked_.end(), path) != asked_.end();
    }
    bool is_live(const ObjectKey& key) { return live_.path(key).has_value(); }
    std::optional<std::string> path_of(const NameKey& at);
    Result<> read();
    Result<> ask();
    Result<> ask_path(const std::string& path);
    Result<bool> is_still_there(const ObjectKey& key);
    void ask_links();
    void add(const NameKey& at, const std::string& why);
    void add_object(const ObjectKey& key);
    void chain(ObjectKey directory, const std::string& why);
    Result<> follow();
    Result<> follow(const NameKey& at);
    bool is_imaged(const ObjectKey& key) const;
    bool is_held(const ObjectKey& key);
    bool add_unheld();
    bool add_former_names();
    Result<> split();
    Result<> split(const ObjectKey& directory, View& near, View& far, const Layer& layer);
    Result<> give_up();
    bool is_touched(const Layer& layer);
    bool is_lost(const ObjectKey& key);

    const History& history_;
    Layers& layers_;
    Locator& locator_;
    const std::vector<std::string>& asked_;
    const std::vector<std::string> paths_;  ///< and what is one with them
    std::shared_ptr<LiveNamesOf> names_;
    View then_;
    View live_;
    std::vector<LayerPtr> trunk_;  // in the order of crossing, from the live state upwards
    std::unordered_map<NameKey, Row> rows_;
    std::unordered_map<ObjectKey, std::vector<NameKey>> by_object_;
    std::unordered_map<ObjectKey, std::vector<NameKey>> by_parent_;
    std::unordered_set<ObjectKey> object_rows_;
    std::vector<NameKey> queue_;
    std::unordered_set<NameKey> present_;        // names that are kept with what stands there
    std::unordered_set<ObjectKey> directories_;  // that something kept lies in
    KeepPlan plan_;
};

std::optional<std::string> KeepPlanner::path_of(const NameKey& at) {
    auto path = live_.path(at);
    return path ? path : then_.path(at);
}

Result<> KeepPlanner::read() {
    for (const LayerPtr& layer : trunk_) {
        for (const auto& [at, state] : layer->delta.names) {
            Row& row = rows_[at];
            if (!state.image.object) continue;
            row.objects.insert(*state.image.object);
            row.images.insert(*state.image.object);
        }
        for (const auto& [key, image] : layer->delta.objects)
            object_rows_.insert(key);
    }
    for (auto& [at, row] : rows_) {
        by_parent_[at.parent].push_back(at);
        if (is_live(at.parent)) {
            TRY_ASSIGN(const auto standing, live_.at(at));
            if (standing) row.objects.insert(standing->key);
        }
        for (const ObjectKey& object : row.objects)
            by_object_[object].push_back(at);
    }
    return {};
}

// What stands at a path where the root had nothing, or something else, is there because of the
// directories above it, whether a row speaks of it or not.
Result<> KeepPlanner::ask_path(const std::string& path) {
    TRY_ASSIGN(const auto then, then_.find(path));
    TRY_ASSIGN(const auto now, live_.find(path));
    if (!then && !now) {
        if (!is_named(path)) return {};
        return Error(ErrorKind::kNotFound, ENOENT,
                     path + " does not exist, and did not when the task began",
                     "`unwrite status` lists what has changed");
    }
    if (!is_named(path)) plan_.reasons.try_emplace(path, "it is a part of the same database");
    if (!now || (then && then->key == now->key)) return {};
    const std::size_t slash = path.rfind('/');
    const std::string above = slash == std::string::npos ? "" : path.substr(0, slash);
    TRY_ASSIGN(const auto parent, live_.find(above));
    if (!parent) return {};
    NameKey at{parent->key, slash == std::string::npos ? path : path.substr(slash + 1)};
    chain(at.parent, path + " lies in it");
    if (rows_.contains(at)) {
        add(at, "");
    } else if (!S_ISDIR(now->type)) {
        add_object(now->key);
    }
    present_.insert(std::move(at));
    return {};
}

Result<> KeepPlanner::ask() {
    for (const std::string& path : paths_)
        TRY(ask_path(path));
    for (const auto& [at, row] : rows_) {
        if (is_asked(live_.path(at)) || is_asked(then_.path(at))) add(at, "");
    }
    for (const ObjectKey& key : object_rows_) {
        const std::optional<std::string> now = live_.path(key);
        TRY_ASSIGN(const bool was_there, !is_asked(now) && is_asked(then_.path(key))
                                             ? is_still_there(key)
                                             : Result<bool>(false));
        if (!is_asked(now) && !was_there) continue;
        add_object(key);
        const auto name = now ? live_.name_of(key) : std::nullopt;
        if (name) chain(name->parent, *now + " lies in it");
    }
    ask_links();
    return {};
}

// At the name that it had at the root, or nowhere. A file that stands only at another of its names
// now is not what is accepted there.
Result<bool> KeepPlanner::is_still_there(const ObjectKey& key) {
    const auto then = then_.name_of(key);
    if (!then || !is_live(key)) return true;
    TRY_ASSIGN(const auto standing, live_.at(*then));
    return standing && standing->key == key;
}

// A file that was changed by another of its names is known by that name. Only a walk finds the
// others.
void KeepPlanner::ask_links() {
    std::unordered_set<ObjectKey> linked;
    for (const ObjectKey& key : object_rows_) {
        if (plan_.left_out.objects.contains(key)) continue;
        if (names_->links(key) > 1) linked.insert(key);
    }
    if (linked.empty()) return;
    locator_.scan(linked, [&](const ObjectKey& key, const Locator::Seen& seen) {
        const auto path = live_.path(seen.name);
        if (!is_asked(path)) return true;
        add_object(key);
        if (const auto other = live_.path(key); other && !is_asked(other))
            plan_.reasons.try_emplace(*other, *path + " is the same file");
        return true;
    });
}

void KeepPlanner::add(const NameKey& at, const std::string& why) {
    if (!plan_.left_out.names.insert(at).second) return;
    queue_.push_back(at);
    const auto path = path_of(at);
    if (path && !is_asked(path)) plan_.reasons.try_emplace(*path, why);
}

void KeepPlanner::add_object(const ObjectKey& key) {
    if (object_rows_.contains(key)) plan_.left_out.objects.insert(key);
}

void KeepPlanner::chain(ObjectKey directory, const std::string& why) {
    for (int step = 0; step < kMostSteps && !live_.is_top(directory); ++step) {
        const auto name = live_.name_of(directory);
        if (!name) return;
        directories_.insert(directory);
        present_.insert(*name);
        if (rows_.contains(*name)) add(*name, why);
        directory = name->parent;
    }
}

Result<> KeepPlanner::follow(const NameKey& at) {
    const Row& row = rows_.at(at);
    const std::string path = path_of(at).value_or(at.name);
    if (is_live(at.parent)) {
        TRY_ASSIGN(const auto standing, live_.at(at));
        if (standing) {
            present_.insert(at);
            chain(at.parent, path + " lies in it");
            // Where a directory lies is one thing, its own attributes and what was made in it are
            // others.
            if (!S_ISDIR(standing->type))
                add_object(standing->key);
            else
                directories_.insert(standing->key);
        }
    }
    for (const ObjectKey& object : row.objects) {
        plan_.objects.insert(object);
        for (const NameKey& other : by_object_[object])
            add(other, path + " is the same object");
        if (is_live(object)) continue;
        add_object(object);
        for (const NameKey& inside : by_parent_[object])
            add(inside, "it lay in " + path + ", which is gone");
    }
    return {};
}

Result<> KeepPlanner::follow() {
    do {
        while (!queue_.empty()) {
            const NameKey at = std::move(queue_.back());
            queue_.pop_back();
            TRY(follow(at));
        }
    } while (add_unheld() || add_former_names());
    return {};
}

// A file whose bytes are kept is no longer what it was, so a state that has it at a name goes, too.
bool KeepPlanner::add_former_names() {
    std::vector<std::pair<NameKey, ObjectKey>> names;
    for (const ObjectKey& key : plan_.left_out.objects) {
        const auto rows = by_object_.find(key);
        if (rows == by_object_.end()) continue;
        for (const NameKey& at : rows->second) {
            if (!plan_.left_out.names.contains(at) && rows_.at(at).images.contains(key))
                names.emplace_back(at, key);
        }
    }
    for (const auto& [at, key] : names)
        add(at, live_.path(key).value_or("a kept file") + " was the same file");
    return !names.empty();
}

// Some state below puts the object somewhere, by a row that stays.
bool KeepPlanner::is_imaged(const ObjectKey& key) const {
    const auto names = by_object_.find(key);
    return names != by_object_.end() &&
           std::any_of(names->second.begin(), names->second.end(), [&](const NameKey& at) {
               return !plan_.left_out.names.contains(at) && rows_.at(at).images.contains(key);
           });
}

// The object can still be found, and is kept in the attic, when the plan is carried out: it is
// live, or a row puts it somewhere, or it lies in one of these.
bool KeepPlanner::is_held(const ObjectKey& key) {
    ObjectKey at = key;
    for (int step = 0; step < kMostSteps; ++step) {
        if (is_live(at) || is_imaged(at)) return true;
        if (locator_.journal().attic().contains(at)) return false;
        const auto place = locator_.journal().places().find(at);
        if (!place) return false;
        at = place->newest.parent;
    }
    return false;
}

// Rows that nothing would hold any more go, too: what they speak of was in what is gone for good.
bool KeepPlanner::add_unheld() {
    std::vector<NameKey> names;
    for (const auto& [at, row] : rows_) {
        if (!plan_.left_out.names.contains(at) && !is_held(at.parent)) names.push_back(at);
    }
    for (const NameKey& at : names)
        add(at, "it lay in what is gone");
    bool any = !names.empty();
    for (const ObjectKey& key : object_rows_) {
        if (plan_.left_out.objects.contains(key) || is_held(key)) continue;
        add_object(key);
        any = true;
    }
    return any;
}

// A kept directory stands in all states from now on. What else was made in it with no row of its
// own, because the directory's was enough, needs one.
Result<> KeepPlanner::split(const ObjectKey& directory, View& near, View& far, const Layer& layer) {
    const bool is_here = near.path(directory).has_value();
    if (is_here == far.path(directory).has_value()) return {};
    if (!is_here) {
        const std::string path = live_.path(directory).value_or("the directory");
        return Error(ErrorKind::kConflict, EBUSY,
                     path +
                         " was removed and brought back in this task, so a part of it cannot be "
                         "accepted alone",
                     "`unwrite commit " + path + "` accepts all of it");
    }
    TRY_ASSIGN(const auto here, near.object(directory));
    if (!here) return {};
    return near.children(*here, [&](Child&& child) {
        const bool kept = present_.contains(child.at) || plan_.left_out.names.contains(child.at);
        if (!kept && layer.name(child.at) == nullptr)
            plan_.absent[layer.number].push_back(child.at);
        return true;
    });
}

Result<> KeepPlanner::split() {
    std::erase_if(directories_,
                  [&](const ObjectKey& directory) { return is_asked(live_.path(directory)); });
    if (directories_.empty()) return {};
    std::vector<LayerPtr> crossed;
    for (const LayerPtr& layer : trunk_) {
        View near(names_, crossed);
        crossed.push_back(layer);
        View far(names_, crossed);
        for (const ObjectKey& directory : directories_)
            TRY(split(directory, near, far, *layer));
    }
    // The deltas mention them now, so they must be found without a search.
    for (const ObjectKey& directory : directories_)
        TRY(locator_.note_places(directory));
    return {};
}

bool KeepPlanner::is_lost(const ObjectKey& key) {
    return !is_held(key) && (plan_.objects.contains(key) || plan_.left_out.objects.contains(key));
}

// An abandoned state that holds another version of what is kept would be neither one nor the other.
bool KeepPlanner::is_touched(const Layer& layer) {
    for (const auto& [at, state] : layer.delta.names) {
        if (plan_.left_out.names.contains(at) || is_lost(at.parent)) return true;
        if (state.image.object && plan_.objects.contains(*state.image.object)) return true;
    }
    return std::any_of(
        layer.delta.objects.begin(), layer.delta.objects.end(), [&](const auto& row) {
            return plan_.left_out.objects.contains(row.first) || is_lost(row.first) ||
                   (plan_.objects.contains(row.first) && !directories_.contains(row.first));
        });
}

Result<> KeepPlanner::give_up() {
    const auto trunk = history_.trunk();
    const std::set<NodeNumber> on_trunk(trunk.begin(), trunk.end());
    // By number: a node comes after its parent.
    for (const journal::Node& node : history_.nodes) {
        if (on_trunk.contains(node.number)) continue;
        if (plan_.given_up.contains(node.parent)) {
            plan_.given_up.insert(node.number);
            continue;
        }
        TRY_ASSIGN(const LayerPtr layer, layers_.read(node.delta));
        if (is_touched(*layer)) plan_.given_up.insert(node.number);
    }
    return {};
}

Result<KeepPlan> KeepPlanner::plan() {
    TRY(read());
    TRY(ask());
    TRY(follow());
    TRY(split());
    TRY(give_up());
    return std::move(plan_);
}

// The deltas between the live state and the oldest state above it.
Result<std::vector<LayerPtr>> trunk_layers(const History& history, Layers& layers) {
    TRY_ASSIGN(const auto path, history.path_to(history.trunk().front()));
    return layers.read(path);
}

}  // namespace

bool KeepPlan::concerns(DeltaNumber number, const journal::Delta& delta) const {
    if (absent.contains(number)) return true;
    return std::any_of(delta.names.begin(), delta.names.end(),
                       [&](const auto& row) { return left_out.names.contains(row.first); }) ||
           std::any_of(delta.objects.begin(), delta.objects.end(),
                       [&](const auto& row) { return left_out.objects.contains(row.first); });
}

Result<KeepPlan> plan_keep(const History& history, Layers& layers, Locator& locator,
                           const std::vector<std::string>& paths) {
    if (!history.is_on_trunk(history.head.root)) {
        return Error(
            ErrorKind::kConflict, EBUSY, "the workspace is at a state from before the last commit",
            "`unwrite rollback root` goes to that commit; `unwrite commit` accepts everything");
    }
    auto names = std::make_shared<LiveNamesOf>(locator);
    TRY_ASSIGN(auto trunk, trunk_layers(history, layers));
    names->expect(trunk);
    TRY_ASSIGN(View then, View::of_node(names, layers, history, history.head.root));
    return KeepPlanner(history, layers, locator, paths, std::move(names), std::move(then),
                       std::move(trunk))
        .plan();
}

Result<View> view_with_kept(const KeepPlan& plan, const std::shared_ptr<LiveNamesOf>& live,
                            Layers& layers, const History& history, NodeNumber node) {
    TRY_ASSIGN(const auto path, history.path_to(node));
    TRY_ASSIGN(auto crossed, layers.read(path));
    for (LayerPtr& layer : crossed) {
        if (!plan.concerns(layer->number, layer->delta)) continue;
        auto changed = std::make_shared<Layer>();
        changed->number = layer->number;
        changed->delta = layer->delta;
        std::erase_if(changed->delta.names,
                      [&](const auto& row) { return plan.left_out.names.contains(row.first); });
        std::erase_if(changed->delta.objects,
                      [&](const auto& row) { return plan.left_out.objects.contains(row.first); });
        if (const auto absent = plan.absent.find(layer->number); absent != plan.absent.end()) {
            for (const NameKey& at : absent->second)
                changed->delta.names[at] = {{at, std::nullopt, 0}, {}};
        }
        changed->data = layer->data;
        changed->index();
        layer = std::move(changed);
    }
    return View(live, std::move(crossed));
}

}  // namespace unwrite::overlay
