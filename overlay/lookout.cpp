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
        if (!full_.exchange(true)) {
            log::info("mount: no more directories can be watched (" + watched.error().message() +
                      "); what is known of others is asked for again each second");
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
    ChangedBehind changed;
    changed.all = changes.lost;
    if (changes.lost) {
        log::info("mount: much was changed behind it; nothing that was known is kept");
        changed.objects = objects_.ids();
        return changed;
    }
    for (const auto& change : changes.each)
        tell(change, changed);
    return changed;
}

void Lookout::tell(const sys::ChangeWatch::Change& change, ChangedBehind& changed) {
    const ObjectPtr directory = objects_.find(change.directory);
    if (!directory) return;  // the kernel knows nothing of it
    if (change.names || change.name == ".") changed.objects.push_back(directory->id());
    if (change.names) changed.names.push_back({directory->id(), change.name});
    if (change.name == ".") return;
    const auto handle = objects_.open(directory, Access::kPath);
    const auto found = handle ? sys::statx_at((*handle)->fd.get(), change.name) : handle.error();
    if (!found) return;  // moved since: then it is looked up anew, or the kernel asks again
    if (const ObjectPtr object = objects_.find(key_of(*found)))
        changed.objects.push_back(object->id());
}

}  // namespace unwrite::overlay
