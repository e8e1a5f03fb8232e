#include "overlay/locator.h"

#include <dirent.h>
#include <unistd.h>

#include <cerrno>

#include "base/lend_mode.h"
#include "journal/state_dir.h"

namespace unwrite::overlay {

namespace {

constexpr std::size_t kMaxDepth = 6000;  // frames of directory_at; deeper chains are found by scan
constexpr std::size_t kMaxCached = 1024;
constexpr std::size_t kMaxSteps = 100'000;  // a loop made behind the mount must end

Error missing(const ObjectKey& key) {
    return Error(ErrorKind::kCorrupt, ENOENT,
                 "cannot find object " + journal::Attic::file_name(key) +
                     ": it is neither in the workspace nor in the attic",
                 "`unwrite check` says what is damaged");
}

}  // namespace

bool is_absence(const Error& error) {
    const int number = error.number();
    return error.kind() == ErrorKind::kCorrupt || number == ENOENT || number == ESTALE ||
           number == ENOTDIR || number == ELOOP;
}

void Locator::remember(const ObjectKey& key, const HandlePtr& handle) {
    const std::lock_guard lock(mutex_);
    // Any one: in a deep tree the nearest ancestor that is left is then never far.
    if (directories_.size() >= kMaxCached) directories_.erase(directories_.begin());
    directories_[key] = handle;
}

void Locator::begin() {
    const std::lock_guard lock(mutex_);
    directories_.clear();
}

Result<HandlePtr> Locator::open_in_attic(const ObjectKey& key, Access access) {
    const journal::Attic& attic = journal_.attic();
    if (!attic.contains(key)) return Error(ESTALE);
    return open_verified(attic.directory(), journal::Attic::file_name(key), key, access);
}

Result<HandlePtr> Locator::open_at_name(const ObjectKey& key, const NameKey& name, Access access,
                                        Asked& asked) {
    TRY_ASSIGN(const HandlePtr parent, directory_at(name.parent, asked));
    HandlePtr handle;
    TRY(sys::lend_access(parent->fd.get(), [&]() -> Result<> {
        TRY_ASSIGN(handle, open_verified(parent->fd.get(), name.name, key, access));
        return {};
    }));
    return handle;
}

// By what the table and the journal know, each name verified, and its directory as well: a
// descriptor of a directory that somebody has open would still open it when it is elsewhere.
Result<HandlePtr> Locator::by_names(const ObjectKey& key, Asked& asked) {
    std::vector<NameKey> names;
    if (const ObjectPtr object = objects_.find(key)) {
        Objects::Place place = objects_.place(*object);
        if (place.parent) names.push_back({place.parent->key(), std::move(place.name)});
    }
    if (auto place = journal_.places().find(key)) {
        names.push_back(std::move(place->newest));
        if (place->before) names.push_back(*std::move(place->before));
    }
    Error why = missing(key);
    for (const NameKey& name : names) {
        auto handle = open_at_name(key, name, Access::kPath, asked);
        if (handle) return handle;
        if (!is_absence(handle.error())) why = handle.error();
    }
    return why;
}

Result<HandlePtr> Locator::directory_at(const ObjectKey& key, Asked& asked) {
    if (objects_.is_top(key)) return objects_.open(objects_.find(key), Access::kPath);
    {
        const std::lock_guard lock(mutex_);
        const auto found = directories_.find(key);
        if (found != directories_.end()) return found->second;
    }
    if (asked.size() >= kMaxDepth || !asked.insert(key).second) return missing(key);
    auto handle = open_in_attic(key, Access::kPath);
    if (!handle) handle = by_names(key, asked);
    if (handle) remember(key, *handle);
    return handle;
}

Result<HandlePtr> Locator::known_directory(const ObjectKey& key) {
    Asked asked;
    return directory_at(key, asked);
}

Result<HandlePtr> Locator::directory(const ObjectKey& key) {
    auto handle = known_directory(key);
    if (handle || !is_absence(handle.error())) return handle;
    handle = open_by_scan(key, Access::kPath);
    if (handle) remember(key, *handle);
    return handle;
}

Result<HandlePtr> Locator::object(const ObjectKey& key, Access access) {
    auto handle = open_in_attic(key, access);
    if (handle) return handle;
    if (const ObjectPtr object = objects_.find(key)) {
        handle = objects_.open(object, access);
        if (handle) return handle;
    }
    if (const auto place = journal_.places().find(key)) {
        Asked asked;
        handle = open_at_name(key, place->newest, access, asked);
        if (!handle && place->before) handle = open_at_name(key, *place->before, access, asked);
        if (handle) return handle;
    }
    return open_by_scan(key, access);
}

// Of thousands of objects that are asked for, as a rule nearly all are in the attic.
Result<struct stat> Locator::stat(const ObjectKey& key) {
    const journal::Attic& attic = journal_.attic();
    if (attic.contains(key)) {
        const auto x = sys::statx_at(attic.directory(), journal::Attic::file_name(key));
        if (x && key_of(*x) == key) return x->st;
    }
    TRY_ASSIGN(const HandlePtr handle, object(key, Access::kPath));
    return sys::stat_fd(handle->fd.get());
}

Result<std::optional<Standing>> Locator::standing(const NameKey& name) {
    TRY_ASSIGN(const HandlePtr parent, directory(name.parent));
    std::optional<Standing> found;
    TRY(sys::lend_access(parent->fd.get(), [&]() -> Result<> {
        auto x = sys::statx_at(parent->fd.get(), name.name);
        if (x) found = Standing{key_of(*x), x->st.st_mode, !objects_.is_same_filesystem(*x)};
        if (x || x.error().number() == ENOENT) return {};
        return std::move(x).error();
    }));
    return found;
}

Result<HandlePtr> Locator::at(const NameKey& name, const ObjectKey& key) {
    Asked asked;
    return open_at_name(key, name, Access::kPath, asked);
}

// Walks the live tree, depth first. Only the directories on the way down are held open, so neither
// depth nor width matters.
void Locator::scan(const std::unordered_set<ObjectKey>& keys, const Found& found) {
    struct Pending {
        HandlePtr parent;
        std::string name;
    };
    std::unordered_set<std::uint64_t> numbers;
    for (const ObjectKey& key : keys)
        numbers.insert(key.ino);
    std::vector<Pending> pending;
    for (const ObjectPtr& top : objects_.tops()) {
        const auto opened = objects_.open(top, Access::kPath);
        if (opened) pending.push_back({*opened, "."});
    }
    while (!pending.empty()) {
        const Pending next = std::move(pending.back());
        pending.pop_back();
        auto opened = sys::open_listing_unseen(next.parent->fd.get(), next.name);
        if (!opened) continue;
        const HandlePtr at = std::make_shared<Handle>(Handle{*std::move(opened), Access::kPath});
        const auto own = sys::statx_at(at->fd.get(), "");
        const auto entries = sys::read_directory(at->fd.get());
        if (!own || !entries || !objects_.is_same_filesystem(*own)) continue;
        const bool is_root = key_of(*own) == objects_.root()->key();
        for (const auto& entry : *entries) {
            if (is_root && entry.name == journal::StateDir::kName) continue;
            if (numbers.contains(entry.ino)) {
                const auto x = sys::statx_at(at->fd.get(), entry.name);
                if (x && keys.contains(key_of(*x)) &&
                    !found(key_of(*x), Seen{{key_of(*own), entry.name}, at}))
                    return;
            }
            if (entry.type == DT_DIR) pending.push_back({at, entry.name});
        }
    }
}

std::optional<Locator::Seen> Locator::scan(const ObjectKey& key) {
    std::optional<Seen> first;
    scan({key}, [&](const ObjectKey&, Seen seen) {
        first = std::move(seen);
        return false;
    });
    return first;
}

Result<> Locator::search(const std::unordered_set<ObjectKey>& keys) {
    std::unordered_map<ObjectKey, Seen> seen;
    scan(keys, [&](const ObjectKey& key, Seen where) {
        seen.try_emplace(key, std::move(where));
        return true;
    });
    for (const auto& [key, where] : seen)
        TRY(journal_.places().set(key, where.name));
    return {};
}

Result<HandlePtr> Locator::open_by_scan(const ObjectKey& key, Access access) {
    const auto seen = scan(key);
    if (!seen) return missing(key);
    remember(seen->name.parent, seen->parent);
    TRY(journal_.places().set(key, seen->name));
    return open_verified(seen->parent->fd.get(), seen->name.name, key, access);
}

std::optional<NameKey> Locator::live_name(const ObjectKey& key) {
    if (objects_.is_top(key)) return std::nullopt;
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

Result<> Locator::note_places(const ObjectKey& directory) {
    ObjectKey at = directory;
    for (std::size_t step = 0; step < kMaxSteps && !objects_.is_top(at); ++step) {
        auto name = live_name(at);
        if (!name) return {};
        if (!journal_.places().contains(at)) TRY(journal_.places().set(at, *name));
        at = name->parent;
    }
    return {};
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
    for (const ObjectPtr& top : objects_.tops())
        known.try_emplace(top->key(), objects_.path_of_top(top->key()));
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
