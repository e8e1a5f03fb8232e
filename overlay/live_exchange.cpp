// The last step of an edit: see exchange.h.
#include <cerrno>

#include "base/crash_point.h"
#include "base/lend_mode.h"
#include "overlay/act_as.h"
#include "overlay/live_swap.h"
#include "overlay/view.h"

namespace unwrite::overlay {

namespace {

constexpr mode_t kSetId = S_ISUID | S_ISGID;
/// Bytes: nobody writes anywhere while they are compared.
constexpr std::uint64_t kMostCompared = std::uint64_t{16} << 20;

Error not_as_expected() {
    return Error(ECANCELED);
}

Result<> expect_bytes(int fd, const ExpectedBytes& expected) {
    std::string bytes(expected.size + 1, '\0');
    std::size_t used = 0;
    while (used < bytes.size()) {
        const auto room = std::as_writable_bytes(std::span(bytes)).subspan(used);
        TRY_ASSIGN(const std::size_t got, sys::read_at(fd, room, used));
        if (got == 0) break;
        used += got;
    }
    if (used != expected.size) return not_as_expected();
    bytes.resize(used);
    return digest_of(bytes) == expected.digest ? Result<>{} : Result<>{not_as_expected()};
}

// The new file is as the old one was, as far as a program could have written it: a write clears
// set-id bits and capabilities. A caller that may not give files away keeps it, as with any editor.
Result<> inherit(const Caller& caller, int old, const struct stat& was, int made,
                 std::optional<mode_t> mode) {
    const bool privileged = caller.uid == 0;
    const bool same_owner = privileged || caller.uid == was.st_uid;
    const uid_t owner = same_owner ? was.st_uid : caller.uid;
    const bool same_group = privileged || is_in_group(caller, was.st_gid);
    ignore(sys::change_owner(made, owner, same_group ? was.st_gid : static_cast<gid_t>(-1)),
           "a daemon without root makes files in its own name only");
    if (const auto xattrs = sys::read_xattrs(old)) {
        for (const auto& [name, value] : *xattrs) {
            if (name == "security.capability") continue;
            ignore(sys::set_xattr(made, name, value, 0),
                   "attributes that the daemon may not set are the system's");
        }
    }
    mode_t wanted = mode.value_or(was.st_mode & 07777U);
    if (!privileged) wanted &= ~kSetId;
    const sys::ModesAtRest own;
    return sys::change_mode(made, wanted);
}

}  // namespace

Result<ObjectPtr> LiveTree::directory_of(const ObjectPtr& nameless) const {
    const std::lock_guard lock(nameless_mutex_);
    const auto found = nameless_.find(nameless->id());
    if (found == nameless_.end() || objects_.place(*nameless).parent) return Error(EINVAL);
    return found->second;
}

void LiveTree::forget_nameless(NodeId id) {
    if (!any_nameless_) return;
    ObjectPtr directory;  // destroyed after the lock
    const std::lock_guard lock(nameless_mutex_);
    const auto found = nameless_.find(id);
    if (found == nameless_.end()) return;
    directory = std::move(found->second);
    nameless_.erase(found);
}

Result<NodeId> LiveTree::made_in(NodeId nameless) {
    TRY_ASSIGN(const ObjectPtr object, objects_.get(nameless));
    TRY_ASSIGN(const ObjectPtr directory, directory_of(object));
    return directory->id();
}

// What stands there, if it is what was expected. With the gate closed and the name locked.
Result<> LiveTree::open_swap(const Caller& caller, Swap& swap,
                             const ExpectedBytes& expected) const {
    TRY_ASSIGN(swap.old_file,
               open_verified(swap.handle->fd.get(), swap.name, swap.old.key, Access::kRead));
    TRY_ASSIGN(swap.was, sys::stat_fd(swap.old_file->fd.get()));
    objects_.correct(swap.was, swap.old.key);
    if (static_cast<std::uint64_t>(swap.was.st_size) != expected.size) return not_as_expected();
    if (expected.size > kMostCompared) return Error(EOPNOTSUPP);
    TRY(expect_bytes(swap.old_file->fd.get(), expected));
    TRY_ASSIGN(const struct stat above, sys::stat_fd(swap.handle->fd.get()));
    const bool is_owner = caller.uid == above.st_uid || caller.uid == swap.was.st_uid;
    if ((above.st_mode & S_ISVTX) != 0 && caller.uid != 0 && !is_owner) return Error(EPERM);
    return {};
}

// An object that the journal needs keeps its anchor in the attic. The old file has its own there
// before the new one takes its name.
Result<> LiveTree::put_over(const Swap& swap) {
    const int directory = swap.handle->fd.get();
    journal::Attic& attic = objects_.attic();
    const bool keeps_anchor = !capture_.is_disposable(swap.made->key());
    const auto take = [&] {
        return attic.put_over(swap.made->key(), directory, swap.name, keeps_anchor);
    };
    if (capture_.is_disposable(swap.old.key) && swap.was.st_nlink == 1) {
        TRY(take());
        capture_.drop_created(swap.old.key);
        return {};
    }
    TRY(capture_.leaving(swap.old));
    if (!attic.anchor(directory, swap.name, swap.old.key)) return Error(EOPNOTSUPP);
    crash_point("tree.exchange.anchored");
    return take();
}

Result<NodeId> LiveTree::exchange_locked(const Who& who, Swap& swap) {
    const ObjectPtr& directory = swap.directory;
    const ObjectPtr known = objects_.find(swap.old.key);
    // Whoever has another name of it, or the real file itself, has the old file on; and the kernel
    // would take its name for that.
    if (swap.was.st_nlink != 1 || write_hold_) return Error(EOPNOTSUPP);
    const Capture::Touching touching(capture_, directory, swap.name, swap.old);
    TRY(capture_.name(who, directory, swap.name, swap.old, swap.made->key()));
    crash_point("tree.exchange.before");
    TRY(put_over(swap));
    crash_point("tree.exchange.after");
    forget_nameless(swap.made->id());
    const ObjectPtr now = known ? objects_.exchange(known, swap.made) : swap.made;
    objects_.set_place(*now, directory, swap.name);
    TRY(capture_.leaving(swap.old));
    TRY(capture_.relocated(now, directory, swap.name));
    return now->id();
}

// Looks, with the gate closed, and lets `change` do what was looked for.
template <class Change>
Result<> LiveTree::at_expected(const Caller& caller, NodeId made, std::string_view name,
                               const ExpectedBytes& expected, const Change& change) {
    const auto attempt = [&](const Who& who) -> Result<> {
        const Gate::Closed closed = gate_.close();
        if (gate_.wounded()) return Error(EROFS);
        Swap swap;
        swap.name = name;
        TRY_ASSIGN(swap.made, objects_.get(made));
        TRY_ASSIGN(swap.directory, directory_of(swap.made));
        if (is_reserved(swap.directory, name)) return Error(EPERM);
        const NameLock lock(objects_, {swap.directory->key()});
        TRY_ASSIGN(swap.handle, open_parent(swap.directory));
        TRY_ASSIGN(const auto standing, standing_at(swap.handle->fd.get(), swap.name));
        if (!standing || !S_ISREG(standing->type)) return not_as_expected();
        if (swap.directory->is_inner() || standing->inner) return Error(EOPNOTSUPP);
        swap.old = *standing;
        TRY(open_swap(caller, swap, expected));
        return change(who, swap);
    };
    return turns_.take(origins_.resolve(caller), thing_of(made, name), attempt);
}

Result<NodeId> LiveTree::exchange(const Caller& caller, NodeId made, std::string_view name,
                                  const ExpectedBytes& expected, std::optional<mode_t> mode) {
    if (!expected.may_overwrite) return exchange_known(caller, made, name, expected, mode);
    // What is written over must be known, also if the kernel has forgotten it.
    TRY_ASSIGN(const NodeId directory, made_in(made));
    const auto entry = lookup(caller, directory, name);
    auto done = exchange_known(caller, made, name, expected, mode);
    if (entry) forget(entry->id, 1);
    return done;
}

Result<NodeId> LiveTree::exchange_known(const Caller& caller, NodeId made, std::string_view name,
                                        const ExpectedBytes& expected, std::optional<mode_t> mode) {
    NodeId id = 0;
    Restored changed;
    const auto swap_them = [&](const Who& who, Swap& swap) -> Result<> {
        if (const auto path = objects_.path_of(swap.directory))
            changed.changed_paths = {join_path(*path, swap.name)};
        if (expected.may_overwrite && must_stay(caller, swap.was) &&
            can_overwrite(caller, swap, mode)) {
            TRY_ASSIGN(id, overwrite_locked(caller, who, swap, mode));
            return {};
        }
        TRY_ASSIGN(const HandlePtr file, objects_.open(swap.made, Access::kWrite));
        TRY(inherit(caller, swap.old_file->fd.get(), swap.was, file->fd.get(), mode));
        TRY_ASSIGN(id, exchange_locked(who, swap));
        return {};
    };
    TRY(at_expected(caller, made, name, expected, swap_them));
    changed.objects.push_back(id);
    if (KernelCaches* caches = this->caches()) caches->exchanged(changed);
    return id;
}

Result<> LiveTree::remove_expected(const Caller& caller, NodeId made, std::string_view name,
                                   const ExpectedBytes& expected) {
    Restored changed;
    changed.names = true;
    const auto take_away = [&](const Who& who, Swap& swap) -> Result<> {
        TRY(remove_name(who, swap.directory, swap.handle, swap.name, swap.old));
        changed.objects.push_back(swap.directory->id());
        changed.changed_names.push_back(
            {.parent = swap.directory->id(),
             .parent_path = objects_.path_of(swap.directory).value_or(""),
             .name = swap.name,
             .existed = true});
        return {};
    };
    TRY(at_expected(caller, made, name, expected, take_away));
    if (KernelCaches* caches = this->caches()) caches->exchanged(changed);
    return {};
}

}  // namespace unwrite::overlay
