#include <cerrno>

#include "base/crash_point.h"
#include "overlay/live_side.h"
#include "overlay/replacing.h"

namespace unwrite::overlay {

Result<> LiveTree::check_rename(const Side& from, const Side& to, unsigned flags) const {
    if (!from.standing) return Error(ENOENT);
    if ((flags & RENAME_NOREPLACE) != 0 && to.standing) return Error(EEXIST);
    if ((flags & RENAME_EXCHANGE) != 0) {
        if (!to.standing) return Error(ENOENT);
        return {};
    }
    if (!to.standing) return {};
    if (to.is_directory() && !from.is_directory()) return Error(EISDIR);
    if (!to.is_directory() && from.is_directory()) return Error(ENOTDIR);
    if (!to.is_directory()) return {};
    return expect_empty(to.handle->fd.get(), to.name, to.standing->key);
}

// A replacement is atomic for readers and for a crash: the victim has a second name in the attic
// before the rename takes its first one; a directory cannot be linked, so the two are exchanged and
// the victim leaves from the old name.
Result<> LiveTree::move_over(Side& from, Side& to, unsigned flags) {
    const int from_dir = from.handle->fd.get();
    const int to_dir = to.handle->fd.get();
    if (!to.standing || (flags & RENAME_EXCHANGE) != 0)
        return sys::rename(from_dir, from.name, to_dir, to.name, flags);
    const ObjectKey victim = to.standing->key;
    TRY_ASSIGN(const bool ended, end_created(*to.standing, [&] {
                   return sys::rename(from_dir, from.name, to_dir, to.name, 0);
               }));
    if (ended) return {};
    TRY(capture_.leaving(*to.standing));
    if (!to.is_directory() && objects_.attic().anchor(to_dir, to.name, victim)) {
        crash_point("tree.rename.anchored");
        return sys::rename(from_dir, from.name, to_dir, to.name, 0);
    }
    TRY(note_replacing(objects_.attic(), victim, {from.parent->key(), from.name}));
    crash_point("tree.rename.noted");
    const Result<> exchanged = sys::rename(from_dir, from.name, to_dir, to.name, RENAME_EXCHANGE);
    crash_point("tree.rename.exchanged");
    const Result<> displaced =
        exchanged ? objects_.attic().displace(from_dir, from.name, victim, to.is_directory())
                  : exchanged;
    // No room for it in the attic, say: a rename that fails changes nothing.
    if (exchanged && !displaced)
        TRY(sys::rename(from_dir, from.name, to_dir, to.name, RENAME_EXCHANGE));
    crash_point("tree.rename.displaced");
    TRY(forget_replacing(objects_.attic(), victim));
    return displaced;
}

// After the rename: the table and the journal's hints follow.
Result<> LiveTree::placed(Side& from, Side& to, unsigned flags) {
    const ObjectPtr moved =
        objects_.learn(from.standing->key, from.standing->type, to.parent, to.name, 1);
    const Result<> hint = capture_.relocated(moved, to.parent, to.name);
    forget(moved->id(), 1);
    TRY(hint);
    if (!to.standing) return {};
    const ObjectPtr other = objects_.find(to.standing->key);
    if ((flags & RENAME_EXCHANGE) != 0) {
        const ObjectPtr back =
            objects_.learn(to.standing->key, to.standing->type, from.parent, from.name, 1);
        const Result<> back_hint = capture_.relocated(back, from.parent, from.name);
        forget(back->id(), 1);
        return back_hint;
    }
    if (other) {
        objects_.lost_name(*other, to.parent->key(), to.name);
        TRY(capture_.leaving(*to.standing));
    } else if (capture_.is_disposable(to.standing->key)) {
        janitor_.remove_orphan(to.standing->key);
    }
    return {};
}

Result<> LiveTree::rename_locked(const Who& who, Side& from, Side& to, unsigned flags) {
    // Two names of one object: rename(2) does nothing, and looks no further.
    const bool same = from.standing && to.standing && to.standing->key == from.standing->key;
    if (same && (flags & RENAME_NOREPLACE) == 0) return {};
    TRY(check_rename(from, to, flags));
    if (from.parent->is_inner() != to.parent->is_inner()) return Error(EXDEV);
    if (stays(from.parent->git_place(), from.name)) return Error(EBUSY);
    if (from.parent->is_inner()) return rename_inner(from, to, flags);
    if (from.standing->inner || (to.standing && to.standing->inner)) return Error(EBUSY);
    const bool exchange = (flags & RENAME_EXCHANGE) != 0;
    const std::optional<ObjectKey> back = exchange ? std::optional(to.standing->key) : std::nullopt;
    const Capture::Touching leaving(capture_, from.parent, from.name, from.standing);
    const Capture::Touching arriving(capture_, to.parent, to.name, to.standing);
    TRY(capture_.name(who, from.parent, from.name, from.standing, back));
    TRY(capture_.name(who, to.parent, to.name, to.standing, from.standing->key));
    for (const Side* side : {&from, &to}) {
        if (!side->standing || capture_.is_disposable(side->standing->key)) continue;
        if (side == &to && !exchange && !side->is_directory())
            continue;  // displaced: the attic has it
        const ObjectPtr object =
            objects_.learn(side->standing->key, side->standing->type, side->parent, side->name, 1);
        const Result<> held = capture_.hold(object);
        forget(object->id(), 1);
        TRY(held);
        TRY(capture_moving(who, side->parent, side->name, *side->standing));
    }
    crash_point("tree.rename.before");
    TRY(move_over(from, to, flags));
    crash_point("tree.rename.after");
    return placed(from, to, flags);
}

Result<> LiveTree::rename(const Caller& caller, NodeId parent, std::string_view name,
                          NodeId to_parent, std::string_view to_name, unsigned flags) {
    if ((flags & ~static_cast<unsigned>(RENAME_NOREPLACE | RENAME_EXCHANGE)) != 0 ||
        flags == (RENAME_NOREPLACE | RENAME_EXCHANGE)) {
        return Error(EINVAL);
    }
    const std::size_t thing = thing_of(to_parent, to_name);
    return turns_.take(origins_.resolve(caller), thing, [&](const Who& who) -> Result<> {
        TRY_ASSIGN(const Gate::Pass pass, gate_.pass());
        Side from{{}, {}, std::string(name), {}};
        Side to{{}, {}, std::string(to_name), {}};
        TRY_ASSIGN(from.parent, objects_.get(parent));
        TRY_ASSIGN(to.parent, objects_.get(to_parent));
        if (is_reserved(from.parent, name)) return Error(ENOENT);
        if (is_reserved(to.parent, to_name)) return Error(EPERM);
        return rename_as(who, from, to, flags);
    });
}

Result<> LiveTree::rename_as(const Who& who, Side& from, Side& to, unsigned flags) {
    TRY_ASSIGN(from.handle, open_parent(from.parent));
    TRY_ASSIGN(to.handle, open_parent(to.parent));
    for (;;) {
        TRY_ASSIGN(const auto seen, standing_at(to.handle->fd.get(), to.name));
        // A victim directory's own stripe too, so that nothing is made in it meanwhile.
        const NameLock lock(
            objects_, {from.parent->key(), to.parent->key(), seen ? seen->key : to.parent->key()});
        TRY_ASSIGN(to.standing, standing_at(to.handle->fd.get(), to.name));
        if (to.standing.has_value() != seen.has_value() || (seen && to.standing->key != seen->key))
            continue;
        // Either directory may have been removed before the lock was ours: what is moved into it
        // now would be lost with it.
        for (const Side* side : {&from, &to}) {
            if (is_removed(side->parent)) return Error(ENOENT);
        }
        TRY_ASSIGN(from.standing, standing_at(from.handle->fd.get(), from.name));
        return rename_locked(who, from, to, flags);
    }
}

}  // namespace unwrite::overlay
