#include "overlay/locator.h"

#include <dirent.h>
#include <unistd.h>

#include <cerrno>

#include "journal/state_dir.h"

namespace unwrite::overlay {

namespace {

constexpr int kMaxDepth = 6000;  // frames of directory_at; deeper chains are found by scan
constexpr std::size_t kMaxCached = 1024;
constexpr std::size_t kMaxSteps = 100'000;  // a loop made behind the mount must end

Error missing(const ObjectKey& key) {
    return Error(ErrorKind::kCorrupt, ENOENT,
                 "find object " + journal::Attic::file_name(key) +
                     ": it is neither in the workspace nor in the attic",
                 "run `unwrite check`");
}

/// False for a directory that was removed and lives by its descriptors.
bool is_linked(const Handle& handle) {
    const auto st = sys::stat_fd(handle.fd.get());
    return st && st->st_nlink > 0;
}

}  // namespace

void Locator::remember(const ObjectKey& key, const HandlePtr& handle) {
    const std::lock_guard lock(mutex_);
    // Any one: in a deep tree the nearest ancestor that is left is then never far.
    if (directories_.size() >= kMaxCached) directories_.erase(directories_.begin());
    directories_[key] = handle;
}

void Locator::drop_cache() {
    const std::lock_guard lock(mutex_);
    directories_.clear();
}

Result<HandlePtr> Locator::open_in_attic(const ObjectKey& key, Access access) {
    const journal::Attic& attic = journal_.attic();
    if (!attic.contains(key)) return Error(ESTALE);
    return open_verified(attic.directory(), journal::Attic::file_name(key), key, access);
}

Result<HandlePtr> Locator::open_at_name(const ObjectKey& key, const NameKey& name, Access access,
                                        int depth) {
    TRY_ASSIGN(const HandlePtr parent, directory_at(name.parent, depth + 1));
    return open_verified(parent->fd.get(), name.name, key, access);
}

Result<HandlePtr> Locator::directory_at(const ObjectKey& key, int depth) {
    if (const ObjectPtr object = objects_.find(key)) {
        auto handle = objects_.open(object, Access::kPath);
        if (handle && is_linked(**handle)) return handle;
    }
    {
        const std::lock_guard lock(mutex_);
        const auto found = directories_.find(key);
        if (found != directories_.end() && is_linked(*found->second)) return found->second;
    }
    auto handle = open_in_attic(key, Access::kPath);
    if (!handle && depth < kMaxDepth) {
        if (const auto place = journal_.places().find(key)) {
            handle = open_at_name(key, place->newest, Access::kPath, depth);
            if (!handle && place->before)
                handle = open_at_name(key, *place->before, Access::kPath, depth);
        }
    }
    if (!handle && depth == 0) handle = open_by_scan(key, Access::kPath);
    if (handle) remember(key, *handle);
    return handle;
}

Result<HandlePtr> Locator::directory(const ObjectKey& key) {
    return directory_at(key, 0);
}

Result<HandlePtr> Locator::object(const ObjectKey& key, Access access) {
    auto handle = open_in_attic(key, access);
    if (handle) return handle;
    if (const ObjectPtr object = objects_.find(key)) {
        handle = objects_.open(object, access);
        if (handle) return handle;
    }
    if (const auto place = journal_.places().find(key)) {
        handle = open_at_name(key, place->newest, access, 1);
        if (!handle && place->before) handle = open_at_name(key, *place->before, access, 1);
        if (handle) return handle;
    }
    return open_by_scan(key, access);
}

Result<std::optional<Standing>> Locator::standing(const NameKey& name) {
    TRY_ASSIGN(const HandlePtr parent, directory(name.parent));
    auto x = sys::statx_at(parent->fd.get(), name.name);
    if (x) return std::optional<Standing>(Standing{key_of(*x), x->st.st_mode});
    if (x.error().number() == ENOENT) return std::optional<Standing>();
    return std::move(x).error();
}

// Walks the live tree, depth first. Only the directories on the way down are held open, so neither
// depth nor width matters.
std::optional<Locator::Seen> Locator::scan(const ObjectKey& key) {
    struct Pending {
        HandlePtr parent;
        std::string name;
    };
    const auto root = objects_.open(objects_.root(), Access::kPath);
    if (!root) return std::nullopt;
    std::vector<Pending> pending{{*root, "."}};
    while (!pending.empty()) {
        const Pending next = std::move(pending.back());
        pending.pop_back();
        auto opened = sys::open_at(next.parent->fd.get(), next.name, O_RDONLY | O_DIRECTORY);
        if (!opened) continue;
        const HandlePtr at = std::make_shared<Handle>(Handle{*std::move(opened), Access::kPath});
        const auto own = sys::statx_at(at->fd.get(), "");
        const auto entries = sys::read_directory(at->fd.get());
        if (!own || !entries) continue;
        const bool is_root = key_of(*own) == objects_.root()->key();
        for (const auto& entry : *entries) {
            if (is_root && entry.name == journal::StateDir::kName) continue;
            if (entry.ino == key.ino) {
                const auto x = sys::statx_at(at->fd.get(), entry.name);
                if (x && key_of(*x) == key) return Seen{{key_of(*own), entry.name}, at};
            }
            if (entry.type == DT_DIR) pending.push_back({at, entry.name});
        }
    }
    return std::nullopt;
}

Result<HandlePtr> Locator::open_by_scan(const ObjectKey& key, Access access) {
    const auto seen = scan(key);
    if (!seen) return missing(key);
    remember(seen->name.parent, seen->parent);
    TRY(journal_.places().set(key, seen->name));
    return open_verified(seen->parent->fd.get(), seen->name.name, key, access);
}

std::optional<NameKey> Locator::live_name(const ObjectKey& key) {
    if (key == objects_.root()->key()) return std::nullopt;
    const auto stands = [&](const NameKey& name) {
        const auto standing = this->standing(name);
        return standing && *standing && (*standing)->key == key;
    };
    if (const ObjectPtr object = objects_.find(key)) {
        const Objects::Place where = objects_.place(*object);
        if (where.parent) {
            NameKey name{where.parent->key(), where.name};
            if (stands(name)) return name;
        }
    }
    const auto place = journal_.places().find(key);
    if (place && stands(place->newest)) return place->newest;
    if (place && place->before && stands(*place->before)) return place->before;
    // In the attic and with no other link it has no name; else another hard link or a move behind
    // the mount.
    if (journal_.attic().contains(key)) {
        const auto handle = open_in_attic(key, Access::kPath);
        const auto st =
            handle ? sys::stat_fd((*handle)->fd.get()) : Result<struct stat>(Error(ENOENT));
        if (!st || S_ISDIR(st->st_mode) || st->st_nlink <= 1) return std::nullopt;
    }
    auto seen = scan(key);
    if (!seen) return std::nullopt;
    remember(seen->name.parent, seen->parent);
    return std::move(seen->name);
}

std::optional<std::string> Locator::live_path(const ObjectKey& key) {
    Paths known;
    return live_path(key, known);
}

std::optional<std::string> Locator::live_path(const ObjectKey& key, Paths& known) {
    struct Step {
        ObjectKey key;
        std::string name;
    };
    known.try_emplace(objects_.root()->key(), std::string());
    std::vector<Step> steps;
    ObjectKey at = key;
    while (!known.contains(at)) {
        auto name = live_name(at);
        if (!name || steps.size() > kMaxSteps) {
            known.emplace(at, std::nullopt);
            break;
        }
        steps.push_back({at, std::move(name->name)});
        at = name->parent;
    }
    std::optional<std::string> path = known.at(at);
    for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
        if (path) path = path->empty() ? step->name : *path + '/' + step->name;
        known.emplace(step->key, path);
    }
    return path;
}

}  // namespace unwrite::overlay
