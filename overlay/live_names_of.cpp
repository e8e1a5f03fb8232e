#include "overlay/live_names_of.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/lend_mode.h"
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
    if (last_ && last_key_ == found.key && access != Access::kWrite) return last_;
    TRY_ASSIGN(HandlePtr handle, open_anew(found, access));
    if (access == Access::kRead) {
        last_key_ = found.key;
        last_ = handle;
    }
    return handle;
}

Result<HandlePtr> LiveNamesOf::open_anew(const Located& found, Access access) {
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
    const int directory = (*parent)->fd.get();
    const auto x = sys::lend_access(directory, [&] { return sys::statx_at(directory, name.name); });
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
        if (!found || !*found || (*found)->key != key) return;
        if (S_ISDIR((*found)->type)) placed_directories_.insert(key);
        names.push_back(std::move(name));
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

bool LiveNamesOf::is_placed_directory(const ObjectKey& key) {
    hinted(key);
    return placed_directories_.contains(key);
}

bool LiveNamesOf::is_gone(const ObjectKey& key) const {
    if (nowhere_.contains(key)) return true;
    const journal::Attic& attic = locator_.journal().attic();
    if (!attic.contains(key)) return false;
    const auto x = sys::statx_at(attic.directory(), journal::Attic::file_name(key));
    return x && (S_ISDIR(x->st.st_mode) || x->st.st_nlink <= 1);
}

std::uint64_t LiveNamesOf::links(const ObjectKey& key) {
    auto st = locator_.stat(key);
    if (!st) return 0;
    locator_.objects().correct(*st, key);
    return S_ISDIR(st->st_mode) ? 1 : st->st_nlink;
}

void LiveNamesOf::expect(const Way& layers) {
    const bool known = std::any_of(expected_.begin(), expected_.end(), [&](const Expected& one) {
        return one.layers.contains(layers);
    });
    if (!known && !layers.empty()) expected_.push_back({layers});
}

// Most questions are answered by hints, so that what the layers mention is gathered for a walk
// alone.
void LiveNamesOf::want_expected() {
    for (Expected& expected : expected_) {
        if (std::exchange(expected.wanted, true)) continue;
        for (const LayerPtr& layer : expected.layers)
            want(*layer);
    }
}

void LiveNamesOf::want(const Layer& layer) {
    if (!wanted_layers_.insert(layer.number).second) return;
    walked_ = false;
    for (const auto& [key, image] : layer.delta.objects)
        wanted_.try_emplace(key);
    for (const auto& [key, states] : layer.placing)
        wanted_.try_emplace(key);
    for (const auto& [key, states] : layer.below)
        wanted_.try_emplace(key);
}

void LiveNamesOf::walk() {
    std::unordered_set<ObjectKey> keys;
    for (auto& [key, names] : wanted_) {
        names.clear();
        keys.insert(key);
    }
    locator_.scan(keys, [&](const ObjectKey& key, Locator::Seen seen) {
        wanted_.at(key).push_back(std::move(seen.name));
        return true;
    });
}

const std::vector<NameKey>& LiveNamesOf::searched(const ObjectKey& key) {
    want_expected();
    if (wanted_.try_emplace(key).second) walked_ = false;
    if (!walked_) walk();
    walked_ = true;
    return wanted_.at(key);
}

}  // namespace unwrite::overlay
