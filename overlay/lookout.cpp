#include "overlay/lookout.h"

#include <cerrno>

#include "base/log.h"

namespace unwrite::overlay {

Result<std::unique_ptr<Lookout>> Lookout::start(Objects& objects, int scratch) {
    TRY_ASSIGN(auto watch, sys::ChangeWatch::start(scratch));
    return std::unique_ptr<Lookout>(new Lookout(objects, std::move(watch)));
}

bool Lookout::watch(const ObjectPtr& directory) {
    if (directory->is_watched()) return true;
    if (full_ || !directory->is_directory()) return false;
    const auto handle = objects_.open(directory, Access::kPath);
    if (!handle) return false;
    const std::lock_guard lock(watching_);
    const auto watched = watch_->watch((*handle)->fd.get(), directory->key());
    if (!watched) {
        if (watched.error().number() == ENOSPC && !full_.exchange(true)) {
            log::info(
                "mount: no more directories can be watched; what is in others is kept for a "
                "second");
        }
        return false;
    }
    directory->watched_.store(true, std::memory_order_release);
    return true;
}

bool Lookout::notices(const ObjectPtr& object) {
    if (object->is_directory()) return watch(object);
    const ObjectPtr parent = objects_.place(*object).parent;
    return parent && parent->is_watched();
}

// Another Object may stand for the same directory by now, which watch() made sure is watched. The
// watch of what was removed ends with it.
void Lookout::forget(const ObjectPtr& gone) {
    if (!gone->is_watched()) return;
    Result<HandlePtr> handle = Error(ENOENT);
    if (!gone->is_loose() && !objects_.attic().contains(gone->key()))
        handle = objects_.open(gone, Access::kPath);
    const std::lock_guard lock(watching_);
    if (objects_.find(gone->key())) return;
    if (handle) {
        watch_->unwatch((*handle)->fd.get(), gone->key());
    } else {
        watch_->forget(gone->key());
    }
}

ChangedBehind Lookout::take() {
    const sys::ChangeWatch::Changes changes = watch_->take();
    if (changes.lost) {
        log::info("mount: much was changed behind it; nothing that was known is kept");
        return {true, objects_.ids()};
    }
    ChangedBehind changed;
    for (const auto& change : changes.each)
        tell(change, changed);
    return changed;
}

void Lookout::tell(const sys::ChangeWatch::Change& change, ChangedBehind& changed) {
    const ObjectPtr directory = objects_.find(change.directory);
    if (!directory) return;  // the kernel knows nothing of it
    changed.names |= change.names;
    if (change.names || change.name == ".") changed.objects.push_back(directory->id());
    if (change.name == ".") return;
    const auto handle = objects_.open(directory, Access::kPath);
    if (!handle) return;
    const auto found = sys::statx_at((*handle)->fd.get(), change.name);
    if (!found) return;  // moved since: what is not told is kept for a short time only
    if (const ObjectPtr object = objects_.find(key_of(*found)))
        changed.objects.push_back(object->id());
}

}  // namespace unwrite::overlay
