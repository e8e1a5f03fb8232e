#include "overlay/path_plan.h"

#include <algorithm>
#include <cerrno>

#include "base/paths.h"
#include "overlay/comparison.h"
#include "overlay/databases.h"

namespace unwrite::overlay {

namespace {

using journal::NameState;
using journal::ObjectImage;

Error renamed_since(const std::string& then, const std::string& now) {
    return Error(ErrorKind::kConflict, EBUSY, then + ": it is now " + now,
                 "`unwrite restore OLD NEW` with both paths takes back the renaming as well");
}

Error same_file_as(const std::string& path, const std::string& other) {
    return Error(
        ErrorKind::kConflict, EBUSY,
        path + ": in that state it was the same file as " + other + ", which would change as well",
        "`unwrite restore PATH PATH` with both paths restores both");
}

Error directory_moved(const std::string& then, const std::string& now) {
    return Error(ErrorKind::kConflict, EBUSY, then + ": its directory is now " + now,
                 "move the directory back first, or restore the directory itself");
}

class PathPlanner {
 public:
    PathPlanner(Locator& locator, View view, const std::vector<std::string>& paths)
        : locator_(locator),
          view_(std::move(view)),
          asked_(paths),
          paths_(with_whole_databases(paths)) {}

    Result<RevertPlan> plan();

 private:
    bool is_asked(const std::optional<std::string>& path) const;
    bool is_asked_name(const NameKey& name);
    bool is_asked_object(const ObjectKey& key);
    void want_links(std::unordered_set<ObjectKey>& wanted);
    void add_object(const journal::DeltaNumber number, const ObjectKey& key,
                    const ObjectImage& image);
    Result<> add_made(const std::string& path);
    void add_origins(NameKey at, std::set<journal::OriginNumber>& origins);
    Result<> add_directories();
    Result<> check_came_from(const NameKey& at);
    Result<> check_renamed();
    Result<> check_paths();
    Result<> check_directory(const std::string& path);
    Result<> drop_what_is_the_same();
    Result<bool> is_seen(View& live, Comparison& comparison);

    Locator& locator_;
    View view_;
    const std::vector<std::string>& asked_;
    const std::vector<std::string> paths_;  ///< and what is one with them
    RevertPlan plan_;
};

bool PathPlanner::is_asked(const std::optional<std::string>& path) const {
    return path && std::any_of(paths_.begin(), paths_.end(), [&](const std::string& asked) {
               return is_at_or_below(*path, asked);
           });
}

bool PathPlanner::is_asked_name(const NameKey& name) {
    if (is_asked(view_.path(name))) return true;
    const auto parent = locator_.live_path(name.parent);
    return parent && is_asked(join_path(*parent, name.name));
}

bool PathPlanner::is_asked_object(const ObjectKey& key) {
    return is_asked(view_.path(key)) || is_asked(locator_.live_path(key));
}

// A file that was changed by another of its names is known by that name. Only a walk finds the
// others.
void PathPlanner::want_links(std::unordered_set<ObjectKey>& wanted) {
    std::unordered_set<ObjectKey> linked;
    for (const LayerPtr& layer : view_.layers()) {
        for (const auto& [key, image] : layer->delta.objects) {
            if (!wanted.contains(key) && view_.live().links(key) > 1) linked.insert(key);
        }
    }
    if (linked.empty()) return;
    locator_.scan(linked, [&](const ObjectKey& key, const Locator::Seen& seen) {
        if (is_asked_name(seen.name)) wanted.insert(key);
        return true;
    });
}

// Layers come in the order in which they are crossed: a later one decides, and its ranges lie over
// the earlier ones.
void PathPlanner::add_object(const journal::DeltaNumber number, const ObjectKey& key,
                             const ObjectImage& image) {
    if (!image.attributes && !image.size) return;
    ObjectImage& wanted = plan_.images.objects[key];
    if (image.attributes) wanted.attributes = image.attributes;
    if (image.size) {
        wanted.size = image.size;
        auto& numbers = plan_.data[key];
        for (journal::ContentImage range : image.content) {
            if (range.offset >= *image.size) continue;
            range.length = std::min(range.length, *image.size - range.offset);
            wanted.content.push_back(range);
            numbers.push_back(number);
        }
    }
    wanted.origins.insert(image.origins.begin(), image.origins.end());
}

// A name cannot come back into a directory that is gone: the directory's own name comes back with
// it.
Result<> PathPlanner::add_directories() {
    std::vector<NameKey> todo;
    for (const auto& [at, state] : plan_.images.names) {
        if (state.image.object) todo.push_back(at);
    }
    while (!todo.empty()) {
        const ObjectKey parent = todo.back().parent;
        const std::string child = todo.back().name;
        todo.pop_back();
        if (view_.is_top(parent) || locator_.live_path(parent)) {
            const auto then = view_.path(parent);
            const auto now = locator_.live_path(parent);
            if (then && now && *then != *now) return directory_moved(join_path(*then, child), *now);
            continue;
        }
        view_.layers().each_placing(parent, [&](const LayerPtr& layer) {
            const NameState& state = *layer->placing.at(parent).front();
            if (plan_.images.names.try_emplace(state.image.at, state).second)
                todo.push_back(state.image.at);
            return false;
        });
    }
    return {};
}

// What came here from a name that is not asked for would be nowhere afterwards.
Result<> PathPlanner::check_came_from(const NameKey& at) {
    const auto standing = locator_.standing(at);
    if (!standing || !*standing) return {};
    const auto then = view_.name_of((*standing)->key);
    if (!then || *then == at || plan_.images.names.contains(*then)) return {};
    const auto there = locator_.standing(*then);
    if (there && *there && (*there)->key == (*standing)->key) return {};  // another link of it
    const auto path = view_.path(*then);
    if (!path) return {};
    const auto now = locator_.live_path((*standing)->key);
    return Error(ErrorKind::kConflict, EBUSY,
                 now.value_or(at.name) + ": in that state it was " + *path,
                 "`unwrite restore OLD NEW` with both paths takes back the renaming");
}

// What was renamed since would be taken from the name it has now, or be two names of one object, so
// that restoring one changed the other: both names must be asked for.
Result<> PathPlanner::check_renamed() {
    for (const auto& [at, state] : plan_.images.names) {
        TRY(check_came_from(at));
        if (!state.image.object) continue;
        const auto now = locator_.live_name(*state.image.object);
        if (!now || *now == at || is_asked_name(*now)) continue;
        TRY_ASSIGN(const auto then, view_.at(*now));
        if (then && then->key == *state.image.object) {
            if (!plan_.images.objects.contains(then->key)) continue;
            return same_file_as(view_.path(at).value_or(at.name),
                                view_.path(*now).value_or(now->name));
        }
        return renamed_since(view_.path(at).value_or(at.name),
                             locator_.live_path(*state.image.object).value_or(now->name));
    }
    return {};
}

// Whoever made the directory that a name lies in made the name, for all that the journal says.
void PathPlanner::add_origins(NameKey at, std::set<journal::OriginNumber>& origins) {
    for (;;) {
        view_.layers().each_naming(at, [&](const LayerPtr& layer) {
            const NameState* state = layer->name(at);
            origins.insert(state->origins.begin(), state->origins.end());
            return true;
        });
        const auto above = locator_.live_name(at.parent);
        if (!origins.empty() || !above) return;
        at = *above;
    }
}

// What was made in a directory that was made since has no row of its own.
Result<> PathPlanner::add_made(const std::string& path) {
    View live(std::make_shared<LiveNamesOf>(locator_), {});
    TRY_ASSIGN(const auto then, view_.find(path));
    TRY_ASSIGN(const auto now, live.find(path));
    if (then || !now || path.empty()) return {};
    const std::size_t slash = path.rfind('/');
    TRY_ASSIGN(const auto parent,
               live.find(slash == std::string::npos ? "" : path.substr(0, slash)));
    if (!parent) return {};
    const NameKey at{parent->key, slash == std::string::npos ? path : path.substr(slash + 1)};
    for (std::optional<NameKey> above = at; above; above = locator_.live_name(above->parent)) {
        if (plan_.images.names.contains(*above)) return {};
    }
    NameState state{{at, std::nullopt, 0}, {}};
    add_origins(at, state.origins);
    plan_.images.names.emplace(at, std::move(state));
    return locator_.note_places(at.parent);
}

// What was changed in a directory that was moved since is nowhere near the path that is asked for.
Result<> PathPlanner::check_directory(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    if (slash == std::string::npos) return {};
    TRY_ASSIGN(const auto then, view_.find(path.substr(0, slash)));
    const auto now = then ? locator_.live_path(then->key) : std::nullopt;
    if (!now || *now == path.substr(0, slash) || is_asked(now)) return {};
    return directory_moved(path, *now);
}

Result<> PathPlanner::check_paths() {
    View live(std::make_shared<LiveNamesOf>(locator_), {});
    for (const std::string& path : asked_) {
        TRY_ASSIGN(const auto then, view_.find(path));
        TRY_ASSIGN(const auto now, live.find(path));
        if (!then && !now) {
            return Error(ErrorKind::kNotFound, ENOENT,
                         path + " exists neither now nor in that state",
                         "`unwrite status` lists what has changed");
        }
        if (then && !now) TRY(check_directory(path));
    }
    return {};
}

// Names that stand as they should, and objects that are as they were, need nothing.
Result<> PathPlanner::drop_what_is_the_same() {
    std::erase_if(plan_.images.names, [&](const auto& entry) {
        const auto standing = locator_.standing(entry.first);
        const auto& wanted = entry.second.image.object;
        return standing &&
               (standing->has_value() ? wanted && (*standing)->key == *wanted : !wanted);
    });
    View live(std::make_shared<LiveNamesOf>(locator_), {});
    Comparison comparison(view_, live, Detail::kFull, nullptr);
    for (auto at = plan_.images.objects.begin(); at != plan_.images.objects.end();) {
        TRY_ASSIGN(const bool differs, comparison.differs(at->first, at->first));
        if (!differs) plan_.data.erase(at->first);
        at = differs ? std::next(at) : plan_.images.objects.erase(at);
    }
    TRY_ASSIGN(const bool seen, is_seen(live, comparison));
    if (!seen) plan_ = {};
    return {};
}

// A file that was saved as a new one with the same text: nobody would see a difference, and undo
// would take this for no step. What the old one was matters only where it comes back.
Result<bool> PathPlanner::is_seen(View& live, Comparison& comparison) {
    for (const auto& [key, image] : plan_.images.objects) {
        TRY_ASSIGN(const auto standing, live.object(key));
        if (standing) return true;
    }
    for (const auto& [at, state] : plan_.images.names) {
        const auto& wanted = state.image.object;
        TRY_ASSIGN(const auto standing, locator_.standing(at));
        if (!standing || !wanted) return true;
        TRY_ASSIGN(const bool differs, comparison.differs(*wanted, standing->key));
        if (differs) return true;
    }
    return false;
}

Result<RevertPlan> PathPlanner::plan() {
    TRY(check_paths());
    for (const LayerPtr& layer : view_.layers()) {
        for (const auto& [at, state] : layer->delta.names) {
            if (is_asked_name(at)) plan_.images.names.insert_or_assign(at, state);
        }
    }
    std::unordered_set<ObjectKey> wanted;  // by one of their names at least
    for (const auto& [at, state] : plan_.images.names) {
        if (state.image.object) wanted.insert(*state.image.object);
    }
    want_links(wanted);
    for (const LayerPtr& layer : view_.layers()) {
        for (const auto& [key, image] : layer->delta.objects) {
            if (wanted.contains(key) || is_asked_object(key)) add_object(layer->number, key, image);
        }
    }
    for (const std::string& path : paths_)
        TRY(add_made(path));
    TRY(add_directories());
    TRY(drop_what_is_the_same());
    TRY(check_renamed());
    return std::move(plan_);
}

}  // namespace

Result<RevertPlan> plan_paths(const History& history, Locator& locator, journal::Journal& journal,
                              journal::NodeNumber node, const std::vector<std::string>& paths) {
    Layers layers(journal);
    TRY_ASSIGN(View view,
               View::of_node(std::make_shared<LiveNamesOf>(locator), layers, history, node));
    return PathPlanner(locator, std::move(view), paths).plan();
}

}  // namespace unwrite::overlay
