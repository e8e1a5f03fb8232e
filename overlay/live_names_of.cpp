#include "overlay/live_names_of.h"

#include <dirent.h>

#include <algorithm>
#include <cerrno>

#include "journal/state_dir.h"

namespace unwrite::overlay {

bool is_vanished(const Error& error) {
    const int number = error.number();
    return number == ENOENT || number == ESTALE || number == ENOTDIR || number == ELOOP ||
           number == ENXIO;
}

bool LiveNamesOf::is_state_dir(const NameKey& at) const {
    return at.name == journal::StateDir::kName && at.parent == root();
}

Result<HandlePtr> LiveNamesOf::directory(const ObjectKey& key) {
    if (nowhere_.contains(key)) return Error(ENOENT);
    auto handle = locator_.directory(key);
    if (!handle && is_vanished(handle.error())) nowhere_.insert(key);
    return handle;
}

Result<HandlePtr> LiveNamesOf::open(const Located& found, Access access) {
    if (found.parent) {
        auto handle = open_verified(found.parent->fd.get(), found.name, found.key, access);
        if (handle || !is_vanished(handle.error())) return handle;
        // Displaced meanwhile, which the attic knows; else it is gone.
        if (!locator_.journal().attic().contains(found.key)) return handle;
    }
    if (nowhere_.contains(found.key)) return Error(ENOENT);
    auto handle = locator_.object(found.key, access);
    if (!handle && is_vanished(handle.error())) nowhere_.insert(found.key);
    return handle;
}

Result<std::optional<Located>> LiveNamesOf::at(const NameKey& name) {
    using Maybe = std::optional<Located>;
    if (is_state_dir(name)) return Maybe();
    auto parent = directory(name.parent);
    if (!parent) {
        if (is_vanished(parent.error())) return Maybe();
        return std::move(parent).error();
    }
    const auto x = sys::statx_at((*parent)->fd.get(), name.name);
    if (!x) {
        if (is_vanished(x.error())) return Maybe();
        return x.error();
    }
    return Maybe(Located{key_of(*x), x->st.st_mode & S_IFMT, *std::move(parent), name.name,
                         static_cast<std::uint64_t>(x->st.st_size)});
}

std::vector<NameKey> LiveNamesOf::verified_hints(const ObjectKey& key) {
    std::vector<NameKey> names;
    const auto add = [&](NameKey name) {
        if (std::find(names.begin(), names.end(), name) != names.end()) return;
        const auto found = at(name);
        if (found && *found && (*found)->key == key) names.push_back(std::move(name));
    };
    if (const ObjectPtr object = locator_.objects().find(key)) {
        Objects::Place place = locator_.objects().place(*object);
        if (place.parent) add({place.parent->key(), std::move(place.name)});
    }
    if (auto place = locator_.journal().places().find(key)) {
        add(std::move(place->newest));
        if (place->before) add(*std::move(place->before));
    }
    return names;
}

const std::vector<NameKey>& LiveNamesOf::hinted(const ObjectKey& key) {
    if (const auto known = hinted_.find(key); known != hinted_.end()) return known->second;
    return hinted_.emplace(key, verified_hints(key)).first->second;
}

bool LiveNamesOf::is_gone(const ObjectKey& key) const {
    if (nowhere_.contains(key)) return true;
    const journal::Attic& attic = locator_.journal().attic();
    if (!attic.contains(key)) return false;
    const auto x = sys::statx_at(attic.directory(), journal::Attic::file_name(key));
    return x && (S_ISDIR(x->st.st_mode) || x->st.st_nlink <= 1);
}

void LiveNamesOf::expect(const std::vector<LayerPtr>& layers) {
    for (const LayerPtr& layer : layers) {
        if (!wanted_layers_.insert(layer->number).second) continue;
        walked_ = false;
        for (const auto& [key, image] : layer->delta.objects)
            wanted_.try_emplace(key);
        for (const auto& [key, states] : layer->placing)
            wanted_.try_emplace(key);
        for (const auto& [key, states] : layer->below)
            wanted_.try_emplace(key);
    }
}

// As Locator's scan, for many objects at once.
void LiveNamesOf::walk() {
    struct Pending {
        HandlePtr parent;
        std::string name;
    };
    for (auto& [key, names] : wanted_) {
        names.clear();
        wanted_numbers_.insert(key.ino);
    }
    const auto top = locator_.directory(root());
    if (!top) return;
    std::vector<Pending> pending{{*top, "."}};
    while (!pending.empty()) {
        const Pending next = std::move(pending.back());
        pending.pop_back();
        auto opened = sys::open_at(next.parent->fd.get(), next.name, O_RDONLY | O_DIRECTORY);
        if (!opened) continue;
        const HandlePtr here = std::make_shared<Handle>(Handle{*std::move(opened), Access::kPath});
        const auto own = sys::statx_at(here->fd.get(), "");
        const auto entries = sys::read_directory(here->fd.get());
        if (!own || !entries) continue;
        for (const auto& entry : *entries) {
            NameKey at{key_of(*own), entry.name};
            if (is_state_dir(at)) continue;
            if (entry.type == DT_DIR) pending.push_back({here, entry.name});
            if (!wanted_numbers_.contains(entry.ino)) continue;
            const auto x = sys::statx_at(here->fd.get(), entry.name);
            const auto found = x ? wanted_.find(key_of(*x)) : wanted_.end();
            if (found != wanted_.end()) found->second.push_back(std::move(at));
        }
    }
}

const std::vector<NameKey>& LiveNamesOf::searched(const ObjectKey& key) {
    if (wanted_.try_emplace(key).second) walked_ = false;
    if (!walked_) walk();
    walked_ = true;
    return wanted_.at(key);
}

}  // namespace unwrite::overlay
