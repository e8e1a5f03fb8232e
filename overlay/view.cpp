#include "overlay/view.h"

#include <algorithm>
#include <cerrno>

#include "overlay/attributes.h"

namespace unwrite::overlay {

using journal::NameState;

std::string join_path(const std::string& parent, const std::string& name) {
    return parent.empty() ? name : parent + '/' + name;
}

View::View(std::shared_ptr<LiveNamesOf> live, Way layers)
    : live_(std::move(live)), layers_(std::move(layers)) {
    live_->expect(layers_);
}

Result<View> View::of_node(const std::shared_ptr<LiveNamesOf>& live, Layers& layers,
                           const History& history, journal::NodeNumber node) {
    TRY_ASSIGN(const auto path, history.path_to(node));
    TRY_ASSIGN(auto crossed, layers.read(path));
    return View(live, std::move(crossed));
}

const NameState* View::image_of(const NameKey& name) const {
    const NameState* deciding = nullptr;
    layers_.each_naming(name, [&](const LayerPtr& layer) {
        deciding = layer->name(name);
        return false;
    });
    return deciding;
}

Result<std::optional<Located>> View::at(const NameKey& name) {
    const NameState* state = image_of(name);
    if (state == nullptr) return live_->at(name);
    if (!state->image.object) return std::optional<Located>();
    return std::optional<Located>(Located{*state->image.object, state->image.type, nullptr, {}, 0});
}

Result<std::optional<Located>> View::find(const std::string& path) {
    const auto [top, below] = live_->locator().objects().top_of(path);
    std::optional<Located> here(Located{top->key(), S_IFDIR, nullptr, {}, 0});
    std::size_t begin = 0;
    while (begin < below.size() && here) {
        const std::size_t end = std::min(below.find('/', begin), below.size());
        const std::string name = below.substr(begin, end - begin);
        begin = end + 1;
        if (name.empty() || name == ".") continue;
        TRY_ASSIGN(here, at({here->key, name}));
    }
    return here;
}

Result<std::optional<Located>> View::object(const ObjectKey& key) {
    if (is_top(key)) return std::optional<Located>(Located{key, S_IFDIR, nullptr, {}, 0});
    const auto name = name_of(key);
    if (!name) return std::optional<Located>();
    TRY_ASSIGN(auto found, at(*name));
    if (found && found->key != key) found.reset();
    return found;
}

std::optional<NameKey> View::name_of(const ObjectKey& key) {
    if (is_top(key)) return std::nullopt;
    std::optional<NameKey> placed;
    layers_.each_placing(key, [&](const LayerPtr& layer) {
        for (const NameState* state : layer->placing.at(key)) {
            if (image_of(state->image.at)->image.object != key) continue;
            placed = state->image.at;
            return false;
        }
        return true;
    });
    if (placed) return placed;
    for (const NameKey& name : live_->hinted(key)) {
        if (image_of(name) == nullptr) return name;
    }
    if (live_->is_placed_directory(key) || live_->is_gone(key)) return std::nullopt;
    for (const NameKey& name : live_->searched(key)) {
        if (image_of(name) == nullptr) return name;
    }
    return std::nullopt;
}

bool View::may_stand_elsewhere(const ObjectKey& key, const NameKey& name) {
    bool placed = false;
    layers_.each_placing(key, [&](const LayerPtr& layer) {
        for (const NameState* state : layer->placing.at(key))
            placed = placed || state->image.at != name;
        return !placed;
    });
    if (placed) return true;
    const auto here = live_->at(name);
    const std::uint64_t known = here && *here && (*here)->key == key ? 1 : 0;
    return live_->links(key) > known;
}

// Climbs until a known path, the root, or nothing; then every object that was passed is known. A
// loop (directories that two histories moved into each other) ends where it meets itself and has no
// path.
const std::optional<std::string>& View::path(const ObjectKey& key) {
    struct Step {
        ObjectKey key;
        std::string name;
    };
    std::vector<Step> steps;
    std::unordered_set<ObjectKey> passed;
    std::optional<std::string> above;
    ObjectKey at = key;
    for (;;) {
        if (is_top(at)) {
            above = live_->locator().objects().path_of_top(at);
            break;
        }
        if (const auto known = paths_.find(at); known != paths_.end()) {
            above = known->second;
            break;
        }
        auto name = passed.insert(at).second ? name_of(at) : std::nullopt;
        if (!name) {
            paths_[at] = std::nullopt;
            break;
        }
        steps.push_back({at, std::move(name->name)});
        at = name->parent;
    }
    if (steps.empty() && is_top(at)) return paths_[at] = above;
    for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
        if (above) above = join_path(*above, step->name);
        paths_[step->key] = above;
    }
    return paths_[key];
}

std::optional<std::string> View::path(const NameKey& name) {
    const auto& parent = path(name.parent);
    if (!parent) return std::nullopt;
    return join_path(*parent, name.name);
}

Result<journal::Attributes> View::attributes(const Located& found) {
    std::optional<journal::Attributes> then;
    layers_.each_imaging(found.key, [&](const LayerPtr& layer) {
        then = layer->object(found.key)->attributes;
        return !then;
    });
    if (then) return *std::move(then);
    TRY_ASSIGN(const HandlePtr handle, live_->open(found, Access::kPath));
    return read_attributes(handle->fd.get());
}

Result<std::uint64_t> View::size(const Located& found) {
    std::optional<std::uint64_t> then;
    layers_.each_imaging(found.key, [&](const LayerPtr& layer) {
        then = layer->object(found.key)->size;
        return !then;
    });
    if (then) return *then;
    if (found.parent) return found.live_size;
    TRY_ASSIGN(const HandlePtr handle, live_->open(found, Access::kPath));
    TRY_ASSIGN(const struct stat st, sys::stat_fd(handle->fd.get()));
    return static_cast<std::uint64_t>(st.st_size);
}

Result<Content> View::content(const Located& found) {
    if (!S_ISREG(found.type)) return Error(EINVAL);
    TRY_ASSIGN(HandlePtr handle, live_->open(found, Access::kRead));
    // What lies under a layer that has all of it does not matter.
    std::vector<LayerPtr> crossed;
    layers_.each_imaging(found.key, [&](const LayerPtr& layer) {
        crossed.push_back(layer);
        return !is_whole(*layer->object(found.key));
    });
    std::reverse(crossed.begin(), crossed.end());
    return Content::open(std::move(handle), found.key, crossed);
}

// A symlink's target never changes; another target is another object.
Result<std::string> View::link_target(const Located& found) {
    TRY_ASSIGN(const HandlePtr handle, live_->open(found, Access::kPath));
    return sys::read_link(handle->fd.get(), "");
}

}  // namespace unwrite::overlay
