// Another filesystem inside the workspace: changed like any other, and nothing is recorded.
#include "overlay/live_side.h"

namespace unwrite::overlay {

// Whoever has it open goes on with it. There is no attic that could hold it.
void LiveTree::lost_inner(const ObjectPtr& object, HandlePtr kept, const ObjectPtr& parent,
                          const std::string& name) {
    if (kept) {
        objects_.loosen(object, std::move(kept));
    } else {
        objects_.lost_name(*object, parent->key(), name);
    }
}

Result<> LiveTree::remove_inner(const ObjectPtr& parent, const HandlePtr& directory,
                                const std::string& name, const Standing& standing) {
    const ObjectPtr object = objects_.find(standing.key);
    HandlePtr kept = object ? objects_.open_to_loosen(object) : nullptr;
    TRY(S_ISDIR(standing.type) ? sys::remove_directory(directory->fd.get(), name)
                               : sys::unlink(directory->fd.get(), name));
    if (object) lost_inner(object, std::move(kept), parent, name);
    return {};
}

Result<> LiveTree::rename_inner(const Side& from, const Side& to, unsigned flags) {
    const bool exchange = (flags & RENAME_EXCHANGE) != 0;
    const ObjectPtr victim = to.standing && !exchange ? objects_.find(to.standing->key) : nullptr;
    HandlePtr kept = victim ? objects_.open_to_loosen(victim) : nullptr;
    TRY(sys::rename(from.handle->fd.get(), from.name, to.handle->fd.get(), to.name, flags));
    const auto place = [&](const Standing& standing, const Side& side) {
        const ObjectPtr object =
            objects_.learn(standing.key, standing.type, side.parent, side.name, 1, true);
        forget(object->id(), 1);
    };
    place(*from.standing, to);
    if (exchange) place(*to.standing, from);
    if (victim) lost_inner(victim, std::move(kept), to.parent, to.name);
    return {};
}

void LiveTree::wrote(const ObjectPtr& object, int fd) {
    if (object->is_inner()) return;
    capture_.wrote(object->key(), fd);
    flusher_.wrote(object->key());
}

}  // namespace unwrite::overlay
