#include "overlay/objects.h"

#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <thread>

#include "base/lend_mode.h"
#include "overlay/view.h"

namespace unwrite::overlay {

namespace {

// The two bits from here on are for whoever serves the tree (fs/audiences.h).
constexpr NodeId kFirstReserved = NodeId{1} << 60;
// For keys whose number is taken.
constexpr NodeId kFirstAlias = NodeId{1} << 62;
constexpr std::chrono::microseconds kRenameUnderWay{200};

std::size_t choose_handle_limit() {
    // The daemon has lifted it; others would hand a larger one to git and to editors.
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 512;
    return std::clamp<std::size_t>(limit.rlim_cur / 2, 64, 8192);
}

}  // namespace

Objects::Objects(UniqueFd workspace, ObjectKey root, journal::Attic& attic)
    : attic_(attic),
      root_(std::make_shared<Object>(kRootId, root, S_IFDIR)),
      workspace_(std::move(workspace)),
      top_(sys::statx_at(workspace_.get(), "").value_or(sys::StatX())),
      next_alias_(kFirstAlias),
      handle_limit_(choose_handle_limit()) {
    root_->lookups_ = 1;  // never forgotten
    shard(kRootId).objects.emplace(kRootId, root_);
}

Result<> Objects::attach(UniqueFd directory) {
    TRY_ASSIGN(const sys::StatX x, sys::statx_at(directory.get(), ""));
    const ObjectKey key = key_of(x);
    if (!S_ISDIR(x.st.st_mode) || !is_same_filesystem(x) || key == root_->key()) {
        return Error(ErrorKind::kUsage, EXDEV,
                     "the repository is not in the filesystem of the workspace");
    }
    const NodeId id = preferred_id(key);
    annex_ = std::make_shared<Object>(id, key, S_IFDIR, false, GitPlace::kRepository);
    annex_->lookups_ = 1;  // never forgotten
    annex_directory_ = std::move(directory);
    const std::lock_guard lock(shard(id).mutex);
    shard(id).objects.emplace(id, annex_);
    return {};
}

std::vector<ObjectPtr> Objects::tops() const {
    std::vector<ObjectPtr> all{root_};
    if (annex_) all.push_back(annex_);
    return all;
}

Objects::Below Objects::top_of(const std::string& path) const {
    static const std::string kBelowAnnex = std::string(kAnnexPath) + '/';
    if (annex_ && path.starts_with(kBelowAnnex)) return {annex_, path.substr(kBelowAnnex.size())};
    return {root_, path};
}

Result<ObjectPtr> Objects::get(NodeId id) const {
    Shard& s = shard(id);
    const std::shared_lock lock(s.mutex);
    const auto found = s.objects.find(id);
    if (found == s.objects.end()) return Error(ESTALE);
    return found->second;
}

NodeId Objects::preferred_id(const ObjectKey& key) const {
    return key == root_->key() ? kRootId : key.ino % kFirstReserved;
}

ObjectPtr Objects::find(const ObjectKey& key) const {
    NodeId id = preferred_id(key);
    ObjectPtr dead;  // counts when there is no other
    {
        Shard& s = shard(id);
        const std::shared_lock lock(s.mutex);
        const auto found = s.objects.find(id);
        if (found != s.objects.end() && found->second->key() == key) {
            if (!found->second->dead_) return found->second;
            dead = found->second;
        }
    }
    {
        const std::lock_guard lock(aliases_mutex_);
        const auto alias = aliases_.find(key);
        if (alias == aliases_.end()) return dead;
        id = alias->second;
    }
    auto object = get(id);
    return object ? *object : dead;
}

std::vector<NodeId> Objects::ids(mode_t type) const {
    std::vector<NodeId> all;
    for (const Shard& s : shards_) {
        const std::shared_lock lock(s.mutex);
        for (const auto& [id, object] : s.objects)
            if (type == 0 || object->type() == type) all.push_back(id);
    }
    return all;
}

// One object has one id at a time: with two, the kernel would have two of it, each with pages and
// names of its own. So an alias stays when the preferred id becomes free.
NodeId Objects::id_for(const ObjectKey& key, NodeId tried, bool is_free) {
    const std::lock_guard lock(aliases_mutex_);
    const auto alias = aliases_.find(key);
    // `tried` may be an alias of before, at which a dead one is still held.
    const NodeId known = alias == aliases_.end() ? preferred_id(key) : alias->second;
    if (is_free || known != tried) return known;
    const NodeId id = next_alias_++;
    aliases_.insert_or_assign(key, id);
    return id;
}

ObjectPtr Objects::learn(const ObjectKey& key, mode_t type, const ObjectPtr& parent,
                         std::string_view name, unsigned lookups, bool inner) {
    NodeId id = preferred_id(key);
    ObjectPtr object;
    while (!object) {
        Shard& s = shard(id);
        const std::lock_guard lock(s.mutex);
        const auto found = s.objects.find(id);
        if (found != s.objects.end() && found->second->key() == key && !found->second->dead_) {
            object = found->second;
        } else if (const NodeId next = id_for(key, id, found == s.objects.end()); next != id) {
            id = next;
            continue;
        } else {
            const GitPlace place =
                parent ? git_place_below(parent->git_place(), name) : GitPlace::kNone;
            object = std::make_shared<Object>(id, key, type & S_IFMT, inner, place);
            if (inner) any_inner_.store(true, std::memory_order_relaxed);
            s.objects.emplace(id, object);
        }
        object->lookups_ += lookups;
    }
    if (!is_top(object)) set_place(*object, parent, name);
    return object;
}

void Objects::retain(const ObjectPtr& object) {
    const std::lock_guard lock(shard(object->id()).mutex);
    ++object->lookups_;
}

ObjectPtr Objects::forget(NodeId id, std::uint64_t lookups) {
    if (id == kRootId) return nullptr;
    Shard& s = shard(id);
    const std::lock_guard lock(s.mutex);
    const auto found = s.objects.find(id);
    if (found == s.objects.end()) return nullptr;
    Object& object = *found->second;
    object.lookups_ -= std::min(object.lookups_, lookups);
    if (object.lookups_ > 0) return nullptr;
    ObjectPtr gone = std::move(found->second);
    s.objects.erase(found);
    if (gone->is_loose()) --loose_count_;
    if (id != preferred_id(gone->key())) {
        const std::lock_guard alias_lock(aliases_mutex_);
        const auto alias = aliases_.find(gone->key());
        if (alias != aliases_.end() && alias->second == id) aliases_.erase(alias);
    }
    return gone;
}

Objects::Place Objects::place(const Object& object) const {
    const std::shared_lock lock(places_);
    return {object.parent_, object.name_};
}

std::optional<std::string> Objects::path_of(ObjectPtr object) const {
    std::string path;
    while (!is_top(object)) {
        Place where = place(*object);
        if (!where.parent) return std::nullopt;
        path = path.empty() ? std::move(where.name) : join_path(where.name, path);
        object = std::move(where.parent);
    }
    const std::string top = path_of_top(object->key());
    if (top.empty()) return path;
    return path.empty() ? top : join_path(top, path);
}

void Objects::set_place(Object& object, const ObjectPtr& parent, std::string_view name) {
    ObjectPtr old;  // destroyed after the lock: it may be the last holder of a chain of parents
    {
        const std::shared_lock lock(places_);
        if (object.parent_ == parent && object.name_ == name) return;
    }
    const std::unique_lock lock(places_);
    old = std::exchange(object.parent_, parent);
    object.name_ = name;
}

ObjectPtr Objects::exchange(const ObjectPtr& old, const ObjectPtr& made) {
    const auto heir = std::make_shared<Object>(old->id(), made->key(), made->type());
    const auto rest = std::make_shared<Object>(made->id(), old->key(), old->type());
    const Place where = place(*old);
    heir->parent_ = where.parent;  // nobody else knows it yet
    heir->name_ = where.name;
    {
        Shard& one = shard(old->id());
        Shard& other = shard(made->id());
        std::unique_lock first((&one < &other ? one : other).mutex);
        std::unique_lock<std::shared_mutex> second;
        if (&one != &other) second = std::unique_lock((&one < &other ? other : one).mutex);
        heir->lookups_ = old->lookups_;
        rest->lookups_ = made->lookups_;
        one.objects.insert_or_assign(old->id(), heir);
        other.objects.insert_or_assign(made->id(), rest);
        const std::lock_guard aliases(aliases_mutex_);
        aliases_.insert_or_assign(heir->key(), heir->id());
        aliases_.insert_or_assign(rest->key(), rest->id());
    }
    if (HandlePtr handle = cached(*made, Access::kPath)) keep(heir, std::move(handle));
    return heir;
}

// By key: a directory that was forgotten and looked up again is another Object.
void Objects::lost_name(Object& object, const ObjectKey& parent, std::string_view name) {
    if (object.is_directory()) object.dead_ = true;
    const Place where = place(object);
    if (where.parent && where.parent->key() == parent && where.name == name) set_in_attic(object);
}

void Objects::moved(const ObjectKey& key, const ObjectKey& parent, std::string_view name) {
    const ObjectPtr object = find(key);
    if (!object || is_top(object)) return;
    set_place(*object, find(parent), name);
}

void Objects::moved_to_attic(const ObjectKey& key) {
    const ObjectPtr object = find(key);
    if (object && !is_top(object)) set_in_attic(*object);
}

HandlePtr Objects::cached(Object& object, Access access) {
    const std::lock_guard lock(handle_lock(object));
    if (!object.handle_ || object.handle_->access < access) return nullptr;
    object.used_.store(true, std::memory_order_relaxed);
    return object.handle_;
}

void Objects::keep(const ObjectPtr& object, HandlePtr handle) {
    bool is_new = false;
    HandlePtr old;  // closed after the lock
    {
        const std::lock_guard lock(handle_lock(*object));
        if (object->is_loose()) return;
        is_new = !object->handle_;
        old = std::exchange(object->handle_, std::move(handle));
        object->used_.store(true, std::memory_order_relaxed);
    }
    if (!is_new) return;
    const std::lock_guard lock(ring_mutex_);
    ring_.push_back(object);
    if (ring_.size() > handle_limit_) evict_some();
}

Result<HandlePtr> Objects::reopen_as_path(const ObjectPtr& object) {
    TRY_ASSIGN(HandlePtr handle, open(object, Access::kPath));
    if (handle->access == Access::kPath) return handle;
    TRY_ASSIGN(UniqueFd fd, sys::reopen(handle->fd.get(), O_PATH | O_CLOEXEC));
    handle = std::make_shared<const Handle>(Handle{std::move(fd), Access::kPath});
    keep(object, handle);
    return handle;
}

// The clock algorithm (second chance; Corbato 1968). Called with ring_mutex_ held; a handle lock is
// taken inside it, never the other way round.
void Objects::evict_some() {
    for (std::size_t steps = ring_.size() + 16; steps > 0 && ring_.size() > handle_limit_;
         --steps) {
        std::weak_ptr<Object> front = std::move(ring_.front());
        ring_.pop_front();
        const ObjectPtr object = front.lock();
        if (!object) continue;
        if (object->used_.exchange(false)) {
            ring_.push_back(std::move(front));
            continue;
        }
        const std::lock_guard lock(handle_lock(*object));
        if (!object->is_loose()) object->handle_.reset();
    }
}

HandlePtr Objects::open_to_loosen(const ObjectPtr& object) {
    if (loose_count_.load() >= handle_limit_ / 4) return nullptr;
    if (attic_.contains(object->key())) return nullptr;
    auto handle = open(object, S_ISREG(object->type()) ? Access::kWrite : Access::kPath);
    if (!handle) return nullptr;
    const auto st = sys::stat_fd((*handle)->fd.get());
    const bool last_name = st && (object->is_directory() || st->st_nlink == 1);
    return last_name ? *std::move(handle) : nullptr;
}

void Objects::loosen(const ObjectPtr& object, HandlePtr handle) {
    const auto st = sys::stat_fd(handle->fd.get());
    // Someone gave it another name meanwhile, and knows its place.
    if (!st || (!object->is_directory() && st->st_nlink > 0)) return;
    {
        const std::lock_guard lock(handle_lock(*object));
        object->handle_ = std::move(handle);
        object->loose_.store(true);
    }
    ++loose_count_;
    set_place(*object, nullptr, {});
}

Result<HandlePtr> Objects::open_top(const Object& top, Access access) const {
    if (access == Access::kPath) {
        const UniqueFd& directory = top.key() == root_->key() ? workspace_ : annex_directory_;
        TRY_ASSIGN(UniqueFd copy, sys::duplicate(directory.get()));
        return HandlePtr(std::make_shared<Handle>(Handle{std::move(copy), access}));
    }
    return Error(EISDIR);
}

// Opens what is missing of the chain of parents, from the nearest one that has a descriptor
// downwards: a loop, for trees may be deeper than any stack.
Result<HandlePtr> Objects::open_parent_chain(const ObjectPtr& object) {
    struct Step {
        ObjectPtr object;
        std::string name;
        bool in_attic;
    };
    std::vector<Step> missing;
    HandlePtr above;
    ObjectPtr at = object;
    for (;;) {
        Place where = place(*at);
        missing.push_back({at, std::move(where.name), !where.parent});
        if (!where.parent) break;
        at = where.parent;
        above = cached(*at, Access::kPath);
        if (above) break;
        if (is_top(at)) {
            TRY_ASSIGN(above, open_top(*at, Access::kPath));
            keep(at, above);
            break;
        }
    }
    while (missing.size() > 1) {
        const Step& step = missing.back();
        const int directory = step.in_attic ? attic_.directory() : above->fd.get();
        TRY_ASSIGN(
            HandlePtr next,
            open_verified(directory,
                          step.in_attic ? journal::Attic::file_name(step.object->key()) : step.name,
                          step.object->key(), Access::kPath));
        keep(step.object, next);
        above = std::move(next);
        missing.pop_back();
    }
    return above;  // null: `object` itself is in the attic
}

// A rename or a removal may be under way, and what was read of the place be old by now.
Result<HandlePtr> Objects::open(const ObjectPtr& object, Access access) {
    auto handle = open_once(object, access);
    if (handle || handle.error().number() != ESTALE) return handle;
    std::this_thread::sleep_for(kRenameUnderWay);
    return open_once(object, access);
}

Result<HandlePtr> Objects::open_once(const ObjectPtr& object, Access access) {
    if (HandlePtr handle = cached(*object, access)) return handle;
    if (object->is_loose()) return Error(ESTALE);  // its descriptor can all that its kind can
    if (is_top(object)) {
        TRY_ASSIGN(HandlePtr handle, open_top(*object, access));
        keep(object, handle);
        return handle;
    }
    const Result<HandlePtr> parent = open_parent_chain(object);
    if (!parent && parent.error().number() != ESTALE) return parent.error();
    const std::string name = place(*object).name;
    Result<HandlePtr> handle = Error(ESTALE);
    if (parent && *parent && !name.empty())
        handle = open_verified((*parent)->fd.get(), name, object->key(), access);
    // Displaced meanwhile, or its place changed behind the mount while the journal holds an anchor.
    if (!handle && handle.error().number() == ESTALE && attic_.contains(object->key())) {
        handle = open_verified(attic_.directory(), journal::Attic::file_name(object->key()),
                               object->key(), access);
    }
    if (handle) keep(object, *handle);
    return handle;
}

void Objects::correct(struct stat& st, const ObjectKey& key) const {
    if (S_ISDIR(st.st_mode)) {
        if (key == root_->key() && st.st_nlink > 2) --st.st_nlink;  // the state directory
        if (attic_.contains(key)) st.st_nlink = 0;                  // removed, still held open
    } else if (attic_.contains(key) && st.st_nlink > 0) {
        --st.st_nlink;
    }
}

Result<struct stat> Objects::stat(const ObjectPtr& object) {
    struct stat st = {};
    if (const HandlePtr handle = cached(*object, Access::kPath)) {
        const sys::ModesAtRest own;
        TRY_ASSIGN(st, sys::stat_fd(handle->fd.get()));
    } else {
        const Result<HandlePtr> parent = open_parent_chain(object);
        if (!parent && parent.error().number() != ESTALE) return parent.error();
        const std::string name = place(*object).name;
        bool found = false;
        if (parent && *parent && !name.empty()) {
            const sys::ModesAtRest own;
            const auto x = sys::statx_at((*parent)->fd.get(), name);
            found = x && key_of(*x) == object->key();
            if (found) st = x->st;
        }
        if (!found) {
            TRY_ASSIGN(const HandlePtr opened, open(object, Access::kPath));
            const sys::ModesAtRest own;
            TRY_ASSIGN(st, sys::stat_fd(opened->fd.get()));
        }
    }
    correct(st, object->key());
    return st;
}

bool is_shared_git_store(const Objects& objects, const std::string& path) {
    const auto [top, below] = objects.top_of(path);
    return objects.annex() && top == objects.annex() && is_in_git_store(below);
}

NameLock::NameLock(Objects& objects, std::initializer_list<ObjectKey> directories) {
    for (const ObjectKey& key : directories)
        held_[count_++] = &objects.stripe(key);
    const auto end = held_.begin() + static_cast<std::ptrdiff_t>(count_);
    std::sort(held_.begin(), end);
    count_ = static_cast<std::size_t>(std::unique(held_.begin(), end) - held_.begin());
    for (std::size_t i = 0; i < count_; ++i)
        held_[i]->lock();
}

NameLock::~NameLock() {
    while (count_ > 0)
        held_[--count_]->unlock();
}

}  // namespace unwrite::overlay
