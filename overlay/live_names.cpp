#include <fcntl.h>
#include <sys/sysmacros.h>

#include <cerrno>
#include <functional>

#include "base/crash_point.h"
#include "base/lend_mode.h"
#include "journal/state_dir.h"
#include "overlay/act_as.h"
#include "overlay/live_tree.h"

namespace unwrite::overlay {

namespace {

/// What is made in the directory with `mode` gets that one. A default ACL takes the place of the
/// umask (acl(5)); the backing filesystem applies it.
mode_t mask(const Caller& caller, int directory, mode_t mode) {
    const mode_t masked = mode & ~(caller.umask & 0777U);
    if (masked == mode || sys::get_xattr(directory, "system.posix_acl_default")) return mode;
    return masked;
}

Result<sys::StatX> statx_at_rest(int directory, const std::string& name) {
    const sys::ModesAtRest own;
    return sys::statx_at(directory, name);
}

}  // namespace

LiveTree::LiveTree(Objects& objects, Capture& capture, Origins& origins, Gate& gate,
                   Janitor& janitor, Turns::Divide divide)
    : objects_(objects),
      capture_(capture),
      origins_(origins),
      gate_(gate),
      janitor_(janitor),
      turns_(std::move(divide)) {}

bool LiveTree::is_reserved(const ObjectPtr& parent, std::string_view name) const {
    return parent == objects_.root() &&
           (name == journal::StateDir::kName || (objects_.annex() && name == kAnnexEntry));
}

bool LiveTree::is_removed(const ObjectPtr& directory) const {
    return directory->is_loose() || objects_.attic().contains(directory->key());
}

Result<HandlePtr> LiveTree::open_parent(const ObjectPtr& parent) {
    if (!parent->is_directory()) return Error(ENOTDIR);
    if (is_removed(parent)) return Error(ENOENT);
    return objects_.open(parent, Access::kPath);
}

Result<std::optional<Standing>> LiveTree::standing_at(int directory,
                                                      const std::string& name) const {
    auto x = sys::statx_at(directory, name);
    if (x) {
        return std::optional<Standing>(
            Standing{key_of(*x), x->st.st_mode, !objects_.is_same_filesystem(*x)});
    }
    if (x.error().number() == ENOENT) return std::optional<Standing>();
    return std::move(x).error();
}

// `kept`: whether the parent was watched before the attributes were read.
Result<Entry> LiveTree::enter(const ObjectPtr& parent, const std::string& name, int directory,
                              const sys::StatX& x, bool kept) {
    const ObjectKey key = key_of(x);
    const bool inner = parent->is_inner() || !objects_.is_same_filesystem(x);
    const ObjectPtr object = objects_.learn(key, x.st.st_mode, parent, name, 1, inner);
    if (object->is_inner() != inner) {  // a snapshot of a subvolume has the same numbers
        forget(object->id(), 1);
        return Error(EXDEV);
    }
    Entry entry;
    entry.id = object->id();
    entry.st = x.st;
    entry.keeps_name = kept;
    if (!object->is_directory()) {
        entry.keeps_attributes = kept;
    } else if (object->is_watched()) {
        // Perhaps since a moment ago, which is after they were read.
        const auto again = statx_at_rest(directory, name);
        entry.keeps_attributes = again && key_of(*again) == key;
        if (entry.keeps_attributes) entry.st = again->st;
    }
    objects_.correct(entry.st, key);
    return entry;
}

// ---- what others change

Result<int> LiveTree::notice_behind() {
    TRY_ASSIGN(const UniqueFd state,
               sys::open_at(objects_.attic().directory(), "..", O_PATH | O_DIRECTORY | O_CLOEXEC));
    TRY_ASSIGN(lookout_, Lookout::start(objects_, state.get()));
    return lookout_->fd();
}

bool LiveTree::is_watched(const ObjectPtr& directory) {
    return lookout_ && lookout_->watch(directory);
}

bool LiveTree::keeps_names(NodeId directory) {
    if (!lookout_) return false;
    const auto object = objects_.get(directory);
    return object && is_watched(*object);
}

bool LiveTree::keeps_attributes(NodeId id) {
    if (!lookout_) return false;
    const auto object = objects_.get(id);
    return object && lookout_->notices(*object);
}

Result<Entry> LiveTree::lookup(const Caller& /*caller*/, NodeId parent, std::string_view name) {
    TRY_ASSIGN(const ObjectPtr directory, objects_.get(parent));
    if (is_reserved(directory, name)) {
        if (name != kAnnexEntry) return Error(ENOENT);
        objects_.retain(objects_.annex());
        TRY_ASSIGN(const struct stat st, objects_.stat(objects_.annex()));
        return Entry{objects_.annex()->id(), st};
    }
    if (name == "." || name == "..") {
        ObjectPtr target = directory;
        if (name == "..") {
            if (ObjectPtr above = objects_.place(*directory).parent) target = above;
        }
        TRY_ASSIGN(const struct stat st, objects_.stat(target));
        const Objects::Place where = objects_.place(*target);
        target = objects_.learn(target->key(), target->type(), where.parent, where.name, 1);
        return Entry{target->id(), st};
    }
    const std::string bytes(name);
    const std::shared_lock lock(objects_.stripe(directory->key()));
    TRY_ASSIGN(const HandlePtr handle, objects_.open(directory, Access::kPath));
    const bool kept = is_watched(directory);
    TRY_ASSIGN(const sys::StatX x, statx_at_rest(handle->fd.get(), bytes));
    return enter(directory, bytes, handle->fd.get(), x, kept);
}

void LiveTree::forget(NodeId id, std::uint64_t lookups) {
    const ObjectPtr gone = objects_.forget(id, lookups);
    if (!gone) return;
    forget_nameless(id);
    if (lookout_) lookout_->forget(gone);
    if (gone->is_loose()) {
        capture_.drop_created(gone->key());
    } else if (objects_.attic().contains(gone->key()) && capture_.is_disposable(gone->key())) {
        janitor_.remove_orphan(gone->key());
    }
}

Result<Entry> LiveTree::make(const Caller& caller, NodeId parent, std::string_view name,
                             mode_t mode, const Maker& maker) {
    TRY_ASSIGN(const Gate::Pass pass, gate_.pass());
    TRY_ASSIGN(const ObjectPtr directory, objects_.get(parent));
    if (is_reserved(directory, name)) return Error(EPERM);
    const NameLock lock(objects_, {directory->key()});
    return make_locked(caller, directory, std::string(name), mode, maker);
}

Result<Entry> LiveTree::make_locked(const Caller& caller, const ObjectPtr& parent,
                                    const std::string& name, mode_t mode, const Maker& maker) {
    TRY_ASSIGN(const HandlePtr handle, open_parent(parent));
    const int directory = handle->fd.get();
    TRY_ASSIGN(const auto standing, standing_at(directory, name));
    if (standing) return Error(EEXIST);
    const bool kept = is_watched(parent);
    const Who who = origins_.resolve(caller);
    const Capture::Touching touching(capture_, parent, name, standing);
    TRY(capture_.name(who, parent, name, std::nullopt, std::nullopt));
    const mode_t masked = mask(caller, directory, mode);
    crash_point("tree.make.before");
    {
        const ActAs act(caller);
        TRY(maker(directory, name, masked));
    }
    crash_point("tree.make.after");
    TRY_ASSIGN(const sys::StatX x, sys::statx_at(directory, name));
    if (!parent->is_inner()) capture_.created(who, key_of(x), x.st);
    if (is_shared(parent->git_place()) && is_recorded(parent->git_place(), name, false))
        TRY(capture_.claim(who, key_of(x)));
    return enter(parent, name, directory, x, kept);
}

Result<Entry> LiveTree::mknod(const Caller& caller, NodeId parent, std::string_view name,
                              mode_t mode, dev_t device) {
    return make(caller, parent, name, mode,
                [device](int directory, const std::string& bytes, mode_t masked) {
                    return sys::make_node(directory, bytes, masked, device);
                });
}

Result<Entry> LiveTree::mkdir(const Caller& caller, NodeId parent, std::string_view name,
                              mode_t mode) {
    return make(caller, parent, name, mode,
                [](int directory, const std::string& bytes, mode_t masked) {
                    return sys::make_directory(directory, bytes, masked);
                });
}

Result<Entry> LiveTree::symlink(const Caller& caller, NodeId parent, std::string_view name,
                                std::string_view target) {
    return make(caller, parent, name, 0777,
                [target](int directory, const std::string& bytes, mode_t) {
                    return sys::make_symlink(directory, bytes, std::string(target));
                });
}

Result<Entry> LiveTree::create(const Caller& caller, NodeId parent, std::string_view name,
                               mode_t mode) {
    UniqueFd made;
    const Maker maker = [&made](int directory, const std::string& bytes,
                                mode_t masked) -> Result<> {
        TRY_ASSIGN(made, sys::open_at(directory, bytes, O_RDWR | O_CREAT | O_EXCL, masked));
        return {};
    };
    TRY_ASSIGN(Entry entry, make(caller, parent, name, mode, maker));
    // Keeps the descriptor: a mode without write permission must not stop a daemon that is not
    // root.
    if (const auto object = objects_.get(entry.id)) {
        objects_.keep(*object, std::make_shared<Handle>(Handle{std::move(made), Access::kWrite}));
    }
    return entry;
}

Result<Entry> LiveTree::tmpfile(const Caller& caller, NodeId parent, mode_t mode) {
    TRY_ASSIGN(const Gate::Pass pass, gate_.pass());
    TRY_ASSIGN(const ObjectPtr directory, objects_.get(parent));
    if (directory->is_inner()) return Error(EOPNOTSUPP);
    TRY_ASSIGN(const HandlePtr handle, open_parent(directory));
    UniqueFd made;
    const mode_t masked = mask(caller, handle->fd.get(), mode);
    {
        const ActAs act(caller);
        TRY_ASSIGN(made, sys::open_at(handle->fd.get(), ".", O_TMPFILE | O_RDWR, masked));
    }
    TRY_ASSIGN(sys::StatX x, sys::statx_at(made.get(), ""));
    const ObjectKey key = key_of(x);
    capture_.created(origins_.resolve(caller), key, x.st);
    // It needs a name to be found again when the descriptor is evicted; the attic's is not counted
    // in st_nlink.
    TRY(sys::link_fd(made.get(), objects_.attic().directory(), journal::Attic::file_name(key)));
    objects_.attic().note_added(key);
    capture_.note(key);
    const ObjectPtr object = objects_.learn(key, x.st.st_mode, nullptr, {}, 1);
    objects_.keep(object, std::make_shared<Handle>(Handle{std::move(made), Access::kWrite}));
    {
        const std::lock_guard lock(nameless_mutex_);
        nameless_.insert_or_assign(object->id(), directory);
        any_nameless_.store(true);
    }
    x.st.st_nlink = 0;
    return Entry{object->id(), x.st};
}

Result<bool> LiveTree::end_created(const Standing& standing,
                                   const std::function<Result<>()>& take) {
    if (!capture_.is_disposable(standing.key)) return false;
    if (const ObjectPtr object = objects_.find(standing.key)) {
        const HandlePtr kept = objects_.open_to_loosen(object);
        if (!kept) return false;
        TRY(take());
        objects_.loosen(object, kept);
        return true;
    }
    if (S_ISDIR(standing.type)) return false;
    TRY(take());
    capture_.drop_created(standing.key);
    return true;
}

// A directory that is moved has a modification time of then on some filesystems (xfs).
Result<> LiveTree::capture_moving(const Who& who, const ObjectPtr& parent, const std::string& name,
                                  const Standing& standing) {
    if (!S_ISDIR(standing.type)) return {};
    const ObjectPtr object = objects_.learn(standing.key, standing.type, parent, name, 1);
    const Result<> captured = capture_.attributes(who.together(), object);
    forget(object->id(), 1);
    return captured;
}

// The name goes. What is older than the interval lives on in the attic for the journal; what was
// created since only as long as somebody has it open.
Result<> LiveTree::remove_name(const Who& who, const ObjectPtr& parent, const HandlePtr& directory,
                               const std::string& name, const Standing& standing) {
    if (parent->is_inner()) return remove_inner(parent, directory, name, standing);
    if (standing.inner) return Error(EBUSY);
    const Capture::Touching touching(capture_, parent, name, standing);
    TRY(capture_.name(who, parent, name, standing, std::nullopt));
    crash_point("tree.remove.before");
    TRY_ASSIGN(const bool ended, end_created(standing, [&] {
                   return S_ISDIR(standing.type) ? sys::remove_directory(directory->fd.get(), name)
                                                 : sys::unlink(directory->fd.get(), name);
               }));
    if (ended) return {};
    TRY(capture_moving(who, parent, name, standing));
    TRY(capture_.leaving(standing));
    TRY(objects_.attic().displace(directory->fd.get(), name, standing.key, S_ISDIR(standing.type)));
    crash_point("tree.remove.after");
    if (const ObjectPtr object = objects_.find(standing.key)) {
        objects_.lost_name(*object, parent->key(), name);
        TRY(capture_.leaving(standing));
    } else if (capture_.is_disposable(standing.key)) {
        janitor_.remove_orphan(standing.key);
    }
    return {};
}

Result<> LiveTree::unlink(const Caller& caller, NodeId parent, std::string_view name) {
    const std::size_t thing = thing_of(parent, name);
    return turns_.take(origins_.resolve(caller), thing, [&](const Who& who) -> Result<> {
        TRY_ASSIGN(const Gate::Pass pass, gate_.pass());
        TRY_ASSIGN(const ObjectPtr directory, objects_.get(parent));
        if (is_reserved(directory, name)) return Error(ENOENT);
        const std::string bytes(name);
        const NameLock lock(objects_, {directory->key()});
        TRY_ASSIGN(const HandlePtr handle, open_parent(directory));
        TRY_ASSIGN(const auto standing, standing_at(handle->fd.get(), bytes));
        if (!standing) return Error(ENOENT);
        if (S_ISDIR(standing->type)) return Error(EISDIR);
        return remove_name(who, directory, handle, bytes, *standing);
    });
}

Result<> LiveTree::rmdir(const Caller& caller, NodeId parent, std::string_view name) {
    const std::size_t thing = thing_of(parent, name);
    return turns_.take(origins_.resolve(caller), thing, [&](const Who& who) -> Result<> {
        TRY_ASSIGN(const Gate::Pass pass, gate_.pass());
        TRY_ASSIGN(const ObjectPtr directory, objects_.get(parent));
        if (is_reserved(directory, name)) return Error(ENOENT);
        const std::string bytes(name);
        TRY_ASSIGN(const HandlePtr handle, open_parent(directory));
        for (;;) {
            TRY_ASSIGN(const auto seen, standing_at(handle->fd.get(), bytes));
            if (!seen) return Error(ENOENT);
            if (!S_ISDIR(seen->type)) return Error(ENOTDIR);
            if (stays(directory->git_place(), name)) return Error(ENOTEMPTY);
            // The victim's own stripe too: nothing may be made in it between the look and the
            // removal.
            const NameLock lock(objects_, {directory->key(), seen->key});
            TRY_ASSIGN(const auto standing, standing_at(handle->fd.get(), bytes));
            if (!standing || standing->key != seen->key) continue;
            TRY(expect_empty(handle->fd.get(), bytes, standing->key));
            return remove_name(who, directory, handle, bytes, *standing);
        }
    });
}

Result<Entry> LiveTree::link(const Caller& caller, NodeId id, NodeId to_parent,
                             std::string_view to_name) {
    TRY_ASSIGN(const Gate::Pass pass, gate_.pass());
    TRY_ASSIGN(const ObjectPtr object, objects_.get(id));
    TRY_ASSIGN(const ObjectPtr directory, objects_.get(to_parent));
    if (object->is_directory() || is_reserved(directory, to_name)) return Error(EPERM);
    if (object->is_inner() != directory->is_inner()) return Error(EXDEV);
    const std::string bytes(to_name);
    const NameLock lock(objects_, {directory->key()});
    TRY_ASSIGN(const HandlePtr parent, open_parent(directory));
    TRY_ASSIGN(const auto standing, standing_at(parent->fd.get(), bytes));
    if (standing) return Error(EEXIST);
    const Who who = origins_.resolve(caller);
    const Capture::Touching touching(capture_, directory, bytes, standing);
    TRY(capture_.name(who, directory, bytes, std::nullopt, object->key()));
    TRY_ASSIGN(const HandlePtr handle, objects_.open(object, Access::kPath));
    const bool kept = is_watched(directory);
    crash_point("tree.link.before");
    TRY(sys::link_fd(handle->fd.get(), parent->fd.get(), bytes));
    crash_point("tree.link.after");
    TRY_ASSIGN(const sys::StatX x, statx_at_rest(parent->fd.get(), bytes));
    if (!object->is_inner()) capture_.linked(object->key(), x.st);
    return enter(directory, bytes, parent->fd.get(), x, kept);
}

}  // namespace unwrite::overlay
